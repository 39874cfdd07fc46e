//! Whether a request may be served, and in which revision: by the handshake of
//! the older revisions, or by what the request says of itself.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::json;
use sparring_wire::json::implementation;
use sparring_wire::types::LogLevel;
use sparring_wire::{ErrorObject, Frame, Json, RawJson, Revision, Side, code, mirror};

use crate::link::Envelope;

use super::{ClientFacts, Core, Session};

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";

/// How a request is to be served.
#[derive(Debug, Clone, Copy)]
pub(super) struct Admitted {
    pub(super) revision: Revision,
    /// The level of log messages that the request asks for, or its session.
    pub(super) log_level: Option<LogLevel>,
    pub(super) wants_progress: bool,
}

/// What a request says of itself, found in one pass.
#[derive(Default)]
struct Meta<'a> {
    version: Option<Json<'a>>,
    capabilities: Option<Json<'a>>,
    log_level: Option<Json<'a>>,
    wants_progress: bool,
}

impl<'a> Meta<'a> {
    fn of(frame: &'a Frame) -> Self {
        let mut meta = Meta::default();
        let found = frame.params().and_then(|params| params.get("_meta"));
        for (key, value) in found.unwrap_or(Json::EMPTY_OBJECT).members() {
            if key.is(VERSION) {
                meta.version = Some(value);
            } else if key.is(CAPABILITIES) {
                meta.capabilities = Some(value);
            } else if key.is(LOG_LEVEL) {
                meta.log_level = Some(value);
            } else if key.is("progressToken") {
                meta.wants_progress = true;
            }
        }
        meta
    }
}

impl<A> Core<A> {
    /// How to serve a request, or why not to.
    pub(super) fn admit(
        &self,
        frame: &Frame,
        in_batch: bool,
        envelope: Option<&Envelope>,
    ) -> Result<Admitted, ErrorObject> {
        let meta = Meta::of(frame);
        let revision = self.revision_of(frame, &meta, in_batch, envelope)?;
        let log_level = match revision.is_modern() {
            true => {
                meta.log_level.and_then(Json::as_str).and_then(|name| LogLevel::from_name(&name))
            }
            false => self.session.as_ref().and_then(|session| session.log_level),
        };
        Ok(Admitted { revision, log_level, wants_progress: meta.wants_progress })
    }

    fn revision_of(
        &self,
        frame: &Frame,
        meta: &Meta<'_>,
        in_batch: bool,
        envelope: Option<&Envelope>,
    ) -> Result<Revision, ErrorObject> {
        let method = frame.method().unwrap_or_default();
        // Over HTTP a request that says which revision it is of, is of that
        // one, and those have no handshake.
        let by_itself = envelope.is_some() && meta.version.is_some() && self.has_modern();
        if method == "initialize" && !by_itself {
            return self.admit_initialize(frame, in_batch);
        }
        if in_batch && meta.version.is_some() {
            let message =
                "a request with metadata of its own belongs to a revision without batches";
            return Err(ErrorObject::invalid_request(message));
        }
        let revision = match meta.version.filter(|_| self.has_modern()) {
            Some(version) => {
                // Whoever only sees the headers must not be misled, not even
                // about a version that is not spoken here (2026-07-28,
                // basic/transports/streamable-http#server-validation).
                if let Some(envelope) = envelope {
                    let checked =
                        mirror::check(&envelope.headers, frame, &mirror::Mirrored::default());
                    checked.map_err(|why| ErrorObject::new(code::HEADER_MISMATCH, why))?;
                }
                self.admit_modern(version, meta)?
            }
            None => self.admit_legacy(method)?,
        };
        match revision.request(Side::Client, method) {
            Some(rule) => match rule.capability {
                Some(needed) if !self.profile.capabilities.has(needed) => {
                    Err(ErrorObject::method_not_found(method))
                }
                _ => Ok(revision),
            },
            None if Self::elsewhere(method) => Err(ErrorObject::method_not_found(method)),
            None => Ok(revision),
        }
    }

    /// A request that carries its own metadata (2026-07-28, basic#_meta).
    fn admit_modern(&self, version: Json<'_>, meta: &Meta<'_>) -> Result<Revision, ErrorObject> {
        let Some(name) = version.as_str() else {
            return Err(ErrorObject::invalid_params(format!("_meta: {VERSION} is not a string")));
        };
        let known = Revision::from_name(&name).filter(|revision| revision.is_modern());
        let Some(revision) = known.filter(|revision| self.profile.revisions.contains(revision))
        else {
            // A revision that begins with a handshake cannot be had in this way.
            let mut supported = self.version_names();
            supported.retain(|supported| *supported != name);
            return Err(unsupported(&name, &supported));
        };
        if !meta.capabilities.is_some_and(Json::is_object) {
            return Err(ErrorObject::invalid_params(format!(
                "_meta: {CAPABILITIES} must be an object"
            )));
        }
        if let Some(level) = meta.log_level
            && level.as_str().and_then(|name| LogLevel::from_name(&name)).is_none()
        {
            return Err(ErrorObject::invalid_params(format!(
                "_meta: {LOG_LEVEL}: unknown level {level}"
            )));
        }
        Ok(revision)
    }

    fn admit_legacy(&self, method: &str) -> Result<Revision, ErrorObject> {
        if let Some(session) = &self.session {
            return Ok(session.revision);
        }
        match self.latest_legacy() {
            // Pings are allowed at any time (2025-11-25, basic/lifecycle#initialization).
            Some(revision) if method == "ping" => Ok(revision),
            Some(_) if !self.has_modern() => {
                Err(ErrorObject::invalid_request(format!("{method} before initialize")))
            }
            Some(_) => Err(ErrorObject::invalid_request(format!(
                "{method} before initialize; only a request with {VERSION} in its _meta needs none"
            ))),
            None => Err(ErrorObject::invalid_params(format!("_meta: {VERSION} is missing"))),
        }
    }

    fn admit_initialize(&self, frame: &Frame, in_batch: bool) -> Result<Revision, ErrorObject> {
        let requested = frame.params().and_then(|params| params.get("protocolVersion"));
        let requested = requested.and_then(Json::as_str);
        let Some(latest) = self.latest_legacy() else {
            return Err(unsupported(&requested.unwrap_or_default(), &self.version_names()));
        };
        if self.session.is_some() {
            return Err(ErrorObject::invalid_request("initialize a second time"));
        }
        if in_batch {
            return Err(ErrorObject::invalid_request("initialize in a batch"));
        }
        let Some(requested) = requested else {
            return Err(ErrorObject::invalid_params("protocolVersion: expected a string"));
        };
        for name in ["capabilities", "clientInfo"] {
            let found = frame.params().and_then(|params| params.get(name));
            if !found.is_some_and(Json::is_object) {
                return Err(ErrorObject::invalid_params(format!("{name}: expected an object")));
            }
        }
        Ok(self.handshake_revision(Some(&requested)).unwrap_or(latest))
    }

    /// The version asked for where it is spoken, else the newest.
    fn handshake_revision(&self, requested: Option<&str>) -> Option<Revision> {
        let same = requested.and_then(Revision::from_name);
        let spoken = |revision: &Revision| {
            !revision.is_modern() && self.profile.revisions.contains(revision)
        };
        same.filter(spoken).or_else(|| self.latest_legacy())
    }

    /// The handshake (2025-11-25, basic/lifecycle#initialization): the version
    /// asked for where it is spoken, else the newest.
    pub(super) fn initialize(&mut self, params: Option<Json<'_>>) -> Result<RawJson, ErrorObject> {
        let field = |name| params.and_then(|params| params.get(name));
        let requested = field("protocolVersion").and_then(Json::as_str);
        let Some(revision) = self.handshake_revision(requested.as_deref()) else {
            return Err(ErrorObject::internal("no revision with a handshake"));
        };
        let capabilities = field("capabilities").filter(|found| found.is_object());
        self.heeds_changes = true;
        self.session = Some(Session {
            revision,
            ready: false,
            client: Arc::new(ClientFacts {
                info: field("clientInfo").and_then(implementation),
                capabilities: capabilities.map_or_else(RawJson::empty_object, RawJson::from),
            }),
            log_level: None,
            subscribed: HashSet::new(),
        });
        let mut result = json!({
            "protocolVersion": revision.name(),
            "capabilities": self.profile.capabilities,
            "serverInfo": self.profile.info,
        });
        if let Some(instructions) = &self.profile.instructions {
            result["instructions"] = instructions.clone().into();
        }
        Ok(result.into())
    }

    /// What `server/discover` gives (2026-07-28, server/discover).
    pub(super) fn discover(&self) -> RawJson {
        let mut result = json!({
            "supportedVersions": self.version_names(),
            "capabilities": self.profile.capabilities,
        });
        if let Some(instructions) = &self.profile.instructions {
            result["instructions"] = instructions.clone().into();
        }
        result.into()
    }

    /// A server without any modern revision knows nothing of requests that
    /// carry their own version: by a modern error it would pass for a modern
    /// one (2026-07-28, basic/transports/stdio#backward-compatibility).
    fn has_modern(&self) -> bool {
        self.profile.revisions.iter().any(|revision| revision.is_modern())
    }

    fn version_names(&self) -> Vec<&'static str> {
        let mut revisions = self.profile.revisions.clone();
        revisions.sort_unstable_by(|one, other| other.cmp(one));
        revisions.into_iter().map(Revision::name).collect()
    }

    fn latest_legacy(&self) -> Option<Revision> {
        self.profile.revisions.iter().copied().filter(|revision| !revision.is_modern()).max()
    }
}

fn unsupported(requested: &str, supported: &[&str]) -> ErrorObject {
    let message =
        format!("unsupported protocol version {requested:?}; supported: {}", supported.join(", "));
    ErrorObject::new(code::UNSUPPORTED_PROTOCOL_VERSION, message)
        .with_data(json!({"supported": supported, "requested": requested}))
}
