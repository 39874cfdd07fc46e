//! Admits or rejects a request, and determines its revision: by the handshake of the
//! legacy revisions, or by the request's own metadata.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::json;
use sparring_wire::json::parse_implementation;
use sparring_wire::types::LogLevel;
use sparring_wire::{ErrorObject, Frame, Json, RawJson, Revision, Side, code, mirrored_headers};

use crate::link::Envelope;

use super::{ClientDescription, Core, HandshakeSession, SeenLists};

const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES_KEY: &str = "io.modelcontextprotocol/clientCapabilities";
const LOG_LEVEL_KEY: &str = "io.modelcontextprotocol/logLevel";

/// The properties of an admitted request.
#[derive(Debug, Clone, Copy)]
pub(super) struct Admission {
    pub(super) revision: Revision,
    /// The level of log messages that the request or its session has set.
    pub(super) log_level: Option<LogLevel>,
    pub(super) wants_progress: bool,
    pub(super) in_batch: bool,
}

/// The metadata of a request, found in one pass.
#[derive(Default)]
struct RequestMeta<'a> {
    version: Option<Json<'a>>,
    capabilities: Option<Json<'a>>,
    log_level: Option<Json<'a>>,
    wants_progress: bool,
}

impl<'a> RequestMeta<'a> {
    fn from_frame(frame: &'a Frame) -> Self {
        let mut meta = RequestMeta::default();
        let found = frame.params().and_then(|params| params.get("_meta"));
        for (key, value) in found.unwrap_or(Json::EMPTY_OBJECT).members() {
            if key.is(VERSION_KEY) {
                meta.version = Some(value);
            } else if key.is(CAPABILITIES_KEY) {
                meta.capabilities = Some(value);
            } else if key.is(LOG_LEVEL_KEY) {
                meta.log_level = Some(value);
            } else if key.is("progressToken") {
                meta.wants_progress = true;
            }
        }
        meta
    }
}

impl<A> Core<A> {
    /// Admits a request, or returns the error to reject it with.
    pub(super) fn admit(
        &self,
        frame: &Frame,
        in_batch: bool,
        envelope: Option<&Envelope>,
    ) -> Result<Admission, ErrorObject> {
        let meta = RequestMeta::from_frame(frame);
        let revision = self.resolve_revision(frame, &meta, in_batch, envelope)?;
        let log_level = match revision.is_modern() {
            true => {
                meta.log_level.and_then(Json::as_str).and_then(|name| LogLevel::from_name(&name))
            }
            false => self.session.as_ref().and_then(|session| session.log_level),
        };
        Ok(Admission { revision, log_level, wants_progress: meta.wants_progress, in_batch })
    }

    fn resolve_revision(
        &self,
        frame: &Frame,
        meta: &RequestMeta<'_>,
        in_batch: bool,
        envelope: Option<&Envelope>,
    ) -> Result<Revision, ErrorObject> {
        let method = frame.method().unwrap_or_default();
        // Over HTTP, a request that names its revision has that revision. Such revisions
        // have no handshake.
        let states_revision = envelope.is_some() && meta.version.is_some() && self.has_modern();
        if method == "initialize" && !states_revision {
            return self.admit_initialize(frame, in_batch);
        }
        if in_batch && meta.version.is_some() {
            let message = "a request that names its revision in _meta is not allowed in a batch";
            return Err(ErrorObject::invalid_request(message));
        }
        let revision = match meta.version.filter(|_| self.has_modern()) {
            Some(version) => {
                // Headers must match the body even for an unsupported version,
                // because intermediaries read only the headers (2026-07-28,
                // basic/transports/streamable-http#server-validation).
                if let Some(envelope) = envelope {
                    let checked = mirrored_headers::check_headers(
                        &envelope.headers,
                        frame,
                        &mirrored_headers::MirroredArguments::default(),
                    );
                    checked.map_err(|reason| ErrorObject::new(code::HEADER_MISMATCH, reason))?;
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
            None if Self::exists_in_any_revision(method) => {
                Err(ErrorObject::method_not_found(method))
            }
            None => Ok(revision),
        }
    }

    /// Admits a request that carries its own metadata (2026-07-28, basic#_meta).
    fn admit_modern(
        &self,
        version: Json<'_>,
        meta: &RequestMeta<'_>,
    ) -> Result<Revision, ErrorObject> {
        let Some(name) = version.as_str() else {
            return Err(ErrorObject::invalid_params(format!(
                "_meta: {VERSION_KEY} is not a string"
            )));
        };
        let known = Revision::from_name(&name).filter(|revision| revision.is_modern());
        let Some(revision) = known.filter(|revision| self.profile.revisions.contains(revision))
        else {
            // A legacy revision cannot be requested in this way.
            let mut supported = self.version_names();
            supported.retain(|supported| *supported != name);
            return Err(unsupported_version_error(&name, &supported));
        };
        if !meta.capabilities.is_some_and(Json::is_object) {
            return Err(ErrorObject::invalid_params(format!(
                "_meta: {CAPABILITIES_KEY} must be an object"
            )));
        }
        if let Some(level) = meta.log_level
            && level.as_str().and_then(|name| LogLevel::from_name(&name)).is_none()
        {
            return Err(ErrorObject::invalid_params(format!(
                "_meta: {LOG_LEVEL_KEY}: unknown level {level}"
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
            Some(_) if !self.has_modern() => Err(ErrorObject::invalid_request(format!(
                "{method} is not allowed before initialize"
            ))),
            Some(_) => Err(ErrorObject::invalid_request(format!(
                "{method} is not allowed before initialize, unless its _meta has {VERSION_KEY}"
            ))),
            None => Err(ErrorObject::invalid_params(format!("_meta: {VERSION_KEY} is missing"))),
        }
    }

    fn admit_initialize(&self, frame: &Frame, in_batch: bool) -> Result<Revision, ErrorObject> {
        let requested = frame.params().and_then(|params| params.get("protocolVersion"));
        let requested = requested.and_then(Json::as_str);
        let Some(latest) = self.latest_legacy() else {
            return Err(unsupported_version_error(
                &requested.unwrap_or_default(),
                &self.version_names(),
            ));
        };
        if self.session.is_some() {
            return Err(ErrorObject::invalid_request("the session is already initialized"));
        }
        if in_batch {
            return Err(ErrorObject::invalid_request("initialize is not allowed in a batch"));
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

    /// Returns the requested version if the server has it, otherwise its newest
    /// legacy one.
    fn handshake_revision(&self, requested: Option<&str>) -> Option<Revision> {
        let same = requested.and_then(Revision::from_name);
        let spoken = |revision: &Revision| {
            !revision.is_modern() && self.profile.revisions.contains(revision)
        };
        same.filter(spoken).or_else(|| self.latest_legacy())
    }

    /// Performs the handshake (2025-11-25, basic/lifecycle#initialization). The
    /// version is the requested one if the server has it, otherwise its newest
    /// legacy one.
    pub(super) fn handle_initialize(
        &mut self,
        params: Option<Json<'_>>,
    ) -> Result<RawJson, ErrorObject> {
        let field = |name| params.and_then(|params| params.get(name));
        let requested = field("protocolVersion").and_then(Json::as_str);
        let Some(revision) = self.handshake_revision(requested.as_deref()) else {
            return Err(ErrorObject::internal("the server has no revision with a handshake"));
        };
        let capabilities = field("capabilities").filter(|found| found.is_object());
        self.wants_changes = true;
        self.session = Some(HandshakeSession {
            revision,
            ready: false,
            client: Arc::new(ClientDescription {
                info: field("clientInfo").and_then(parse_implementation),
                raw_info: field("clientInfo").map(RawJson::from),
                capabilities: capabilities.map_or_else(RawJson::empty_object, RawJson::from),
            }),
            log_level: None,
            subscribed: HashSet::new(),
            seen_lists: SeenLists::default(),
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

    /// Builds the result of `server/discover` (2026-07-28, server/discover).
    pub(super) fn discover_result(&self) -> RawJson {
        let mut result = json!({
            "supportedVersions": self.version_names(),
            "capabilities": self.profile.capabilities,
        });
        if let Some(instructions) = &self.profile.instructions {
            result["instructions"] = instructions.clone().into();
        }
        result.into()
    }

    /// Returns true if the server has a modern revision. A server without one
    /// ignores the version in requests: a modern error would make it look like a
    /// modern server (2026-07-28, basic/transports/stdio#backward-compatibility).
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

fn unsupported_version_error(requested: &str, supported: &[&str]) -> ErrorObject {
    let message =
        format!("unsupported protocol version {requested:?}; supported: {}", supported.join(", "));
    ErrorObject::new(code::UNSUPPORTED_PROTOCOL_VERSION, message)
        .with_data(json!({"supported": supported, "requested": requested}))
}
