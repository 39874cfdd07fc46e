//! Puts the revision's metadata into the params of a request, and leaves
//! everything of the owner's as it was spelled.

use std::borrow::Cow;

use serde_json::json;
use sparring_wire::json::ObjectBuilder;
use sparring_wire::{Id, RawJson, Revision};

use super::Core;
use super::pending::{Owner, Pending};

/// The `_meta` that each request carries since 2026-07-28 (basic#_meta).
#[derive(Debug)]
pub(super) struct Meta {
    whole: RawJson,
}

impl<W> Core<W> {
    /// From now on requests carry what this revision wants them to carry.
    pub(super) fn speak(&mut self, revision: Revision) {
        self.speaking = Some(revision);
        self.meta = revision.is_modern().then(|| {
            let mut meta = json!({
                "io.modelcontextprotocol/protocolVersion": revision.name(),
                "io.modelcontextprotocol/clientInfo": self.options.info,
                "io.modelcontextprotocol/clientCapabilities": self.options.capabilities,
            });
            if let Some(level) = self.log_level {
                meta["io.modelcontextprotocol/logLevel"] = level.name().into();
            }
            Meta { whole: RawJson::from(meta) }
        });
    }

    pub(super) fn renew_meta(&mut self) {
        if let Some(session) = self.session.clone() {
            self.speak(session.revision);
        }
    }

    /// The params as they go out.
    pub(super) fn encode<'p>(&self, id: &Id, pending: &'p Pending<W>) -> Option<Cow<'p, RawJson>> {
        let given = pending.params.as_ref();
        let with_token;
        let meta = match (&self.meta, pending.progress) {
            // The handshake itself belongs to the older revisions.
            _ if matches!(pending.owner, Owner::Initialize) => return given.map(Cow::Borrowed),
            (None, false) => return given.map(Cow::Borrowed),
            (Some(meta), false) => &meta.whole,
            (meta, true) => {
                let token = RawJson::from(id);
                let base =
                    meta.as_ref().map_or_else(RawJson::empty_object, |meta| meta.whole.clone());
                with_token = base.with_member("progressToken", token.view());
                &with_token
            }
        };
        let Some(given) = given else {
            let params = ObjectBuilder::with_room_for(meta.text().len());
            return Some(Cow::Owned(params.json("_meta", meta.view()).build()));
        };
        Some(match given.view().get("_meta") {
            None => Cow::Owned(given.with_more([("_meta", meta.view())].into_iter())),
            // What the owner says there stands; only what is missing is added.
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
