//! Retries a call that the server refused because of its headers, after listing
//! the tools again (2026-07-28,
//! basic/transports/streamable-http#client-behavior). All of it happens within
//! the timeout of the call.

use std::time::Duration;

use serde_json::json;
use sparring_wire::{Frame, Id, Json, RawJson, code};

use super::pending::{PendingRequest, Recipient};
use super::{Core, Event, Request, Time};
use crate::client::response::Response;
use crate::link::{Envelope, LinkKind};

/// The maximum number of pages to list.
const MAX_PAGES: u32 = 100;

/// A response that is held back until the outcome of the retry is known.
pub(super) struct HeldResponse {
    frame: Frame,
    envelope: Option<Envelope>,
    /// True if the tools are being listed, so that the call has no stream.
    pub(super) listing: bool,
}

impl<W> Core<W> {
    /// Returns true if an error may only mean that the tool's mirrored arguments
    /// are unknown.
    pub(super) fn is_header_mismatch(&self, pending: &PendingRequest<W>, frame: &Frame) -> bool {
        let code = || frame.error_object().map(|error| error.code);
        self.link == LinkKind::Streams
            && pending.method == "tools/call"
            && !pending.raw
            && pending.held_response.is_none()
            && frame.error().is_some()
            && code() == Some(code::HEADER_MISMATCH)
    }

    /// Holds the response back and lists the tools.
    pub(super) fn list_tools_and_retry(
        &mut self,
        now: Time,
        id: Id,
        mut pending: PendingRequest<W>,
        frame: Frame,
        envelope: Option<Envelope>,
    ) {
        pending.held_response = Some(Box::new(HeldResponse { frame, envelope, listing: true }));
        let within = pending.time_left(now);
        self.pending.insert(id.clone(), pending);
        self.request_tools_page(now, id, None, MAX_PAGES, within);
    }

    fn request_tools_page(
        &mut self,
        now: Time,
        call: Id,
        cursor: Option<RawJson>,
        pages: u32,
        within: Duration,
    ) {
        let params =
            cursor.map(|cursor| RawJson::from(json!({})).with_member("cursor", cursor.view()));
        let page = self.generate_id();
        let recipient = Recipient::ToolsPage { call, pages };
        self.send_request(
            now,
            page,
            PendingRequest::new(recipient, Request::new("tools/list", params), within),
        );
    }

    /// Handles a page of tools, or that none will arrive.
    pub(super) fn handle_tools_page(
        &mut self,
        now: Time,
        call: Id,
        pages: u32,
        page: Option<&Frame>,
    ) {
        let result = page.and_then(Frame::result);
        if let Some(result) = result {
            self.store_mirrored_arguments(result);
        }
        let Some(pending) = self.pending.get(&call) else { return };
        let cursor = result.and_then(|result| result.get("nextCursor"));
        if let Some(cursor) = cursor.filter(|cursor| cursor.as_str().is_some() && pages > 1) {
            let within = pending.time_left(now);
            return self.request_tools_page(now, call, Some(cursor.into()), pages - 1, within);
        }
        let Some(mut pending) = self.pending.remove(&call) else { return };
        let params = pending.params.as_ref().map(RawJson::view);
        let name = params.and_then(|params| params.get("name")).and_then(Json::as_str);
        let has_mirrored_arguments = name.is_some_and(|name| self.mirrored.contains_key(&*name));
        match result.is_some() && has_mirrored_arguments {
            true => {
                if let Some(held_response) = &mut pending.held_response {
                    held_response.listing = false;
                }
                let retry = self.generate_id();
                self.send_request(now, retry, pending);
            }
            // The tool mirrors no arguments, so a retry would fail again.
            false => self.deliver_held_response(call, pending),
        }
    }

    /// Delivers the response that was held back to the caller.
    pub(super) fn deliver_held_response(&mut self, call: Id, mut pending: PendingRequest<W>) {
        let held_response = pending.held_response.take();
        if let (Recipient::Caller(waiter), method, Some(held_response)) =
            (pending.recipient, pending.method, held_response)
        {
            let outcome = Ok(Response::new(method, held_response.frame, held_response.envelope));
            self.events.push_back(Event::Completed { id: call, waiter, outcome });
        }
    }
}
