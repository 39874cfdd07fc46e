//! Adds the revision's metadata to the params of a request, and leaves the
//! caller's params as written.

use std::borrow::Cow;

use serde_json::json;
use sparring_wire::json::ObjectBuilder;
use sparring_wire::{Id, RawJson, Revision};

use super::Core;
use super::pending::{PendingRequest, Recipient};

/// The `_meta` that each request carries since 2026-07-28 (basic#_meta).
#[derive(Debug)]
pub(super) struct RequestMeta {
    json: RawJson,
}

impl<W> Core<W> {
    /// Sets the revision whose metadata requests carry.
    pub(super) fn set_revision(&mut self, revision: Revision) {
        self.revision = Some(revision);
        self.meta = revision.is_modern().then(|| {
            let mut meta = json!({
                "io.modelcontextprotocol/protocolVersion": revision.name(),
                "io.modelcontextprotocol/clientInfo": self.options.info,
                "io.modelcontextprotocol/clientCapabilities": self.options.capabilities_in(revision),
            });
            // Only a server with the capability sends log messages
            // (server/utilities/logging#capabilities).
            let session = self.session.as_ref();
            let logs = session.is_some_and(|session| session.capabilities.has("logging"));
            if let Some(level) = self.log_level.filter(|_| logs) {
                meta["io.modelcontextprotocol/logLevel"] = level.name().into();
            }
            RequestMeta { json: RawJson::from(meta) }
        });
    }

    pub(super) fn rebuild_meta(&mut self) {
        if let Some(session) = self.session.clone() {
            self.set_revision(session.revision);
        }
    }

    /// Returns the params to send.
    pub(super) fn encode_params<'p>(
        &self,
        id: &Id,
        pending: &'p PendingRequest<W>,
    ) -> Option<Cow<'p, RawJson>> {
        let given = pending.params.as_ref();
        let with_token;
        let meta = match (&self.meta, pending.progress) {
            // The handshake belongs to the legacy revisions.
            _ if matches!(pending.recipient, Recipient::Initialize) => {
                return given.map(Cow::Borrowed);
            }
            (None, false) => return given.map(Cow::Borrowed),
            (Some(meta), false) => &meta.json,
            (meta, true) => {
                let token = RawJson::from(id);
                let base =
                    meta.as_ref().map_or_else(RawJson::empty_object, |meta| meta.json.clone());
                with_token = base.with_member("progressToken", token.view());
                &with_token
            }
        };
        let Some(given) = given else {
            let params = ObjectBuilder::with_capacity(meta.text().len());
            return Some(Cow::Owned(params.json("_meta", meta.view()).build()));
        };
        Some(match given.view().get("_meta") {
            None => Cow::Owned(given.with_members([("_meta", meta.view())].into_iter())),
            // Members that the caller has set stay; only missing ones are added.
            Some(own) if own.is_object() => {
                let names: Vec<_> =
                    meta.view().members().map(|(key, value)| (key.name(), value)).collect();
                let members: Vec<_> = names.iter().map(|(name, value)| (&**name, *value)).collect();
                let merged = RawJson::from(own).with_defaults(&members);
                Cow::Owned(given.with_member("_meta", merged.view()))
            }
            Some(_) => Cow::Borrowed(given),
        })
    }
}
