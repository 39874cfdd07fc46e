//! A call that is refused because of its headers is made once more, after a
//! look at what the tools ask for by now (2026-07-28,
//! basic/transports/streamable-http#client-behavior). All of it takes no longer
//! than the call may.

use std::time::Duration;

use serde_json::json;
use sparring_wire::{Frame, Id, Json, RawJson, code};

use super::pending::{Owner, Pending};
use super::{Core, Event, Request, Time};
use crate::client::response::Response;
use crate::link::{Envelope, LinkKind};

/// The most pages that are looked at.
const PAGES: u32 = 100;

/// An answer that is held back until it is known whether there is a better one.
pub(super) struct Refusal {
    frame: Frame,
    envelope: Option<Envelope>,
    /// Whether the tools are being listed, so that the call is on no stream.
    pub(super) listing: bool,
}

impl<W> Core<W> {
    /// Whether an answer may only mean that the tool's headers are not known.
    pub(super) fn lacks_headers(&self, pending: &Pending<W>, frame: &Frame) -> bool {
        let code = || frame.error_object().map(|error| error.code);
        self.link == LinkKind::Streams
            && pending.method == "tools/call"
            && !pending.raw
            && pending.refusal.is_none()
            && frame.error().is_some()
            && code() == Some(code::HEADER_MISMATCH)
    }

    /// Holds the answer back and lists the tools.
    pub(super) fn relist(
        &mut self,
        now: Time,
        id: Id,
        mut pending: Pending<W>,
        frame: Frame,
        envelope: Option<Envelope>,
    ) {
        pending.refusal = Some(Box::new(Refusal { frame, envelope, listing: true }));
        let within = pending.time_left(now);
        self.pending.insert(id.clone(), pending);
        self.list_page(now, id, None, PAGES, within);
    }

    fn list_page(
        &mut self,
        now: Time,
        call: Id,
        cursor: Option<RawJson>,
        pages: u32,
        within: Duration,
    ) {
        let params =
            cursor.map(|cursor| RawJson::from(json!({})).with_member("cursor", cursor.view()));
        let page = self.fresh_id();
        let owner = Owner::Relist { call, pages };
        self.launch(now, page, Pending::new(owner, Request::new("tools/list", params), within));
    }

    /// A page of tools came, or none will.
    pub(super) fn relisted(&mut self, now: Time, call: Id, pages: u32, page: Option<&Frame>) {
        let result = page.and_then(Frame::result);
        if let Some(result) = result {
            self.learn_tools(result);
        }
        let Some(pending) = self.pending.get(&call) else { return };
        let cursor = result.and_then(|result| result.get("nextCursor"));
        if let Some(cursor) = cursor.filter(|cursor| cursor.as_str().is_some() && pages > 1) {
            let within = pending.time_left(now);
            return self.list_page(now, call, Some(cursor.into()), pages - 1, within);
        }
        let Some(mut pending) = self.pending.remove(&call) else { return };
        let params = pending.params.as_ref().map(RawJson::view);
        let known = params.and_then(|params| params.get("name")).and_then(Json::as_str);
        let asks = known.is_some_and(|name| self.mirrored.contains_key(&*name));
        match result.is_some() && asks {
            true => {
                if let Some(refusal) = &mut pending.refusal {
                    refusal.listing = false;
                }
                let retry = self.fresh_id();
                self.launch(now, retry, pending);
            }
            // There is nothing that could be done better.
            false => self.refuse(call, pending),
        }
    }

    /// Gives the answer that was held back to whoever made the call.
    pub(super) fn refuse(&mut self, call: Id, mut pending: Pending<W>) {
        let refusal = pending.refusal.take();
        if let (Owner::Caller(waiter), method, Some(refusal)) =
            (pending.owner, pending.method, refusal)
        {
            let outcome = Ok(Response::new(method, refusal.frame, refusal.envelope));
            self.events.push_back(Event::Settled { id: call, waiter, outcome });
        }
    }
}
