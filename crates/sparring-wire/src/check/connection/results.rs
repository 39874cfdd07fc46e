//! Checks results against earlier messages: features that the server did not declare, pages
//! of one list, contradictions in errors and discovery, and the HTTP status of errors.

use super::request_tracker::PendingRequest;
use super::{ConnectionChecker, MESSAGES_SECTION, can_keep, capabilities, violation};
use crate::error::code;
use crate::frame::{Frame, FrameKind};
use crate::json::{Json, RawJson};
use crate::revision::Revision;
use crate::rule::Rule;
use crate::violation::Violation;

/// The maximum number of pages that are remembered.
const MAX_PAGES: usize = 1024;

/// The fields of results that hold a list.
const LISTS: [&str; 5] = ["tools", "prompts", "resources", "resourceTemplates", "tasks"];

impl ConnectionChecker {
    /// Reports a result for a feature that the server supports and did not declare.
    pub(super) fn check_declared(
        &self,
        revision: Revision,
        frame: &Frame,
        request: &PendingRequest,
        out: &mut Vec<Violation>,
    ) {
        let declared = self.server_capabilities(revision);
        let capability = request.definition.and_then(|it| it.capability);
        let (Some(declared), Some(capability), Some(result)) =
            (declared, capability, frame.result())
        else {
            return;
        };
        let feature = capability.split('.').next().unwrap_or(capability);
        // A server that only accepts the level of log messages emits none.
        if feature == "logging" || capabilities::declares(declared.view(), feature) {
            return;
        }
        // A server without a feature can have an empty list, or refuse in the result.
        let is_empty = |list: Json<'_>| list.items().next().is_none();
        let lists = LISTS.iter().filter_map(|name| result.get(name));
        let values = result.get_path(&["completion", "values"]);
        let is_refusal = result.get("isError").and_then(Json::as_bool) == Some(true);
        if is_refusal || lists.chain(values).any(is_empty) {
            return;
        }
        let message = format!("the server supports {feature} and must declare this capability");
        let section = match feature {
            "completions" => "server/utilities/completion#capabilities".to_owned(),
            "tasks" => "basic/utilities/tasks#capabilities".to_owned(),
            other => format!("server/{other}#capabilities"),
        };
        out.push(violation(revision, Rule::Undeclared, "$.result", message, &section));
    }

    /// Reports embedded resources of a tool if the server did not declare `resources`
    /// (2025-06-18 and later, server/tools#embedded-resources).
    pub(super) fn check_embedded_resources(
        &self,
        revision: Revision,
        frame: &Frame,
        request: &PendingRequest,
        out: &mut Vec<Violation>,
    ) {
        let rule = Rule::UndeclaredResources;
        let is_call = request.definition.is_some_and(|it| it.name == "tools/call");
        let (Some(declared), Some(result)) = (self.server_capabilities(revision), frame.result())
        else {
            return;
        };
        let is_resource =
            |it: Json<'_>| it.get("type").and_then(Json::as_str).as_deref() == Some("resource");
        let content = result.get("content").unwrap_or(Json::EMPTY_OBJECT);
        if is_call
            && rule.applies_in(revision)
            && !capabilities::declares(declared.view(), "resources")
            && content.items().any(is_resource)
        {
            let message = "the server did not declare resources";
            let section = rule.entry().section;
            out.push(violation(revision, rule, "$.result.content", message, section));
        }
    }

    /// The capabilities that the server has declared, if they are known.
    fn server_capabilities(&self, revision: Revision) -> Option<&RawJson> {
        match revision.is_modern() {
            true => self.discovered_capabilities.as_ref(),
            false => self.session.as_ref().and_then(|it| it.server_capabilities.as_ref()),
        }
    }

    /// Checks that all pages of a list have the same `cacheScope`.
    pub(super) fn check_cache_scope(
        &mut self,
        revision: Revision,
        frame: &Frame,
        request: &PendingRequest,
        out: &mut Vec<Violation>,
    ) {
        let (Some(definition), Some(result)) = (request.definition, frame.result()) else {
            return;
        };
        let text = |name| result.get(name).and_then(Json::as_str);
        let Some(scope) = text("cacheScope") else { return };
        if let Some(cursor) = &request.subject
            && let Some(before) = self.page_scopes.get(&(definition.name, cursor.clone()))
            && **before != *scope
        {
            let message = format!("the previous page has the scope {before:?}, not {scope:?}");
            let (rule, path) = (Rule::CacheScopeChanged, "$.result.cacheScope");
            out.push(violation(revision, rule, path, message, rule.entry().section));
        }
        let has_room = self.page_scopes.len() < MAX_PAGES && can_keep(&scope);
        if let Some(next) = text("nextCursor").filter(|next| has_room && can_keep(next)) {
            let key = (definition.name, next.into_owned().into_boxed_str());
            self.page_scopes.insert(key, scope.into_owned().into_boxed_str());
        }
    }

    /// Reports that a server does not implement a method that it must implement: `ping` up to
    /// 2025-11-25, and the lists of declared features since 2026-07-28.
    pub(super) fn check_implemented(
        &self,
        revision: Revision,
        frame: &Frame,
        request: &PendingRequest,
        out: &mut Vec<Violation>,
    ) {
        let code = frame.error().and_then(|it| it.get("code")).and_then(Json::as_i64);
        let Some(definition) = request.definition.filter(|_| code == Some(code::METHOD_NOT_FOUND))
        else {
            return;
        };
        let is_declared = |name: &str| {
            let declared = self.server_capabilities(revision);
            declared.is_some_and(|it| capabilities::declares(it.view(), name))
        };
        let section = match (definition.name, revision.is_modern()) {
            ("ping", false) => "basic/utilities/ping#behavior-requirements".to_owned(),
            ("tools/list" | "prompts/list" | "resources/list", true) => {
                let Some(feature) = definition.capability.filter(|it| is_declared(it)) else {
                    return;
                };
                format!("server/{feature}#capabilities")
            }
            _ => return,
        };
        let message = format!("a server must implement {}", definition.name);
        out.push(violation(revision, Rule::NotImplemented, "$.error.code", message, &section));
    }

    /// Reports an error without an id if all messages of the client had readable ids. Over
    /// HTTP, the body of a refused message can be such an error.
    pub(crate) fn check_error_id(
        &self,
        frame: &Frame,
        status: Option<u16>,
        out: &mut Vec<Violation>,
    ) {
        let is_refusal = status.is_some_and(|it| !(200..=299).contains(&it));
        let is_error = frame.kind() == FrameKind::Error && frame.id().is_none();
        let is_possible = self.client_frame_was_malformed || !self.malformed_requests.is_empty();
        if !is_error || is_refusal || is_possible {
            return;
        }
        // A server of the other era can have problems with the id of a probe.
        let certain = |it: &Revision| match it.is_modern() {
            true => self.server_is_modern,
            false => self.session.is_some(),
        };
        let Some(revision) = self.revision().filter(certain) else { return };
        let message = "the error names no request, but all messages of the client had readable ids";
        out.push(violation(revision, Rule::UnidentifiedError, "$.id", message, MESSAGES_SECTION));
    }

    /// Reports that a server process did not exit when its input ended, if the revision
    /// recommends it.
    pub(crate) fn check_ignored_end_of_input(&self) -> Option<Violation> {
        let rule = Rule::IgnoredEndOfInput;
        let revision = self.revision().filter(|it| rule.applies_in(*it))?;
        let message = "the server did not exit when its input ended, until it got a signal";
        Some(violation(revision, rule, "$", message, rule.entry().section))
    }

    /// Checks the HTTP status of a result, and of a modern server's error (2026-07-28).
    pub(crate) fn check_status_code(&self, frame: &Frame, status: u16, out: &mut Vec<Violation>) {
        if let Some(revision) = self.revision().filter(|it| Rule::WrongStatus.applies_in(*it))
            && frame.kind() == FrameKind::Result
            && status >= 400
        {
            let message =
                format!("the status {status} refuses a request, but the body is its result");
            let section = match revision.is_modern() {
                true => "basic/transports/streamable-http#sending-messages",
                false => "basic/transports#sending-messages-to-the-server",
            };
            out.push(violation(revision, Rule::WrongStatus, "$.result", message, section));
        }
        let certain = |it: &Revision| it.is_modern() && self.server_is_modern;
        let Some(revision) = self.revision().filter(certain) else { return };
        let error = frame.error().filter(|_| frame.id().is_some());
        let Some(code) = error.and_then(|it| it.get("code")).and_then(Json::as_i64) else {
            return;
        };
        let (expected, section) = match code {
            code::METHOD_NOT_FOUND => {
                (404, "basic/transports/streamable-http#protocol-version-header")
            }
            code::UNSUPPORTED_PROTOCOL_VERSION => {
                (400, "basic/transports/streamable-http#protocol-version-header")
            }
            code::HEADER_MISMATCH => (400, "basic/transports/streamable-http#server-validation"),
            code::MISSING_REQUIRED_CLIENT_CAPABILITY => (400, "basic#meta"),
            _ => return,
        };
        if status != expected {
            let message =
                format!("error {code} must have the HTTP status {expected}, not {status}");
            out.push(violation(revision, Rule::WrongStatus, "$.error.code", message, section));
        }
    }
}

/// Reports an error about missing capabilities that the request declares.
pub(super) fn check_required_capabilities(
    revision: Revision,
    frame: &Frame,
    request: &PendingRequest,
    out: &mut Vec<Violation>,
) {
    let error = frame.error();
    let code = error.and_then(|it| it.get("code")).and_then(Json::as_i64);
    if code != Some(code::MISSING_REQUIRED_CLIENT_CAPABILITY) {
        return;
    }
    let required = error.and_then(|it| it.get_path(&["data", "requiredCapabilities"]));
    let (Some(required), Some(declared)) = (required, &request.capabilities) else { return };
    let is_declared = |name: &str, value: Json<'_>| {
        // A required part of a capability can be missing although its parent is declared.
        declared.view().get(name).is_some() && value.members().next().is_none()
    };
    if !required.members().all(|(name, value)| is_declared(&name.name(), value)) {
        return;
    }
    let message = match required.members().next() {
        Some(_) => "the request declares all these capabilities",
        None if required.is_object() => "the error names no missing capability",
        None => return,
    };
    let path = "$.error.data.requiredCapabilities";
    out.push(violation(revision, Rule::WrongErrorCode, path, message, "basic#meta"));
}

/// Reports a discovery that answers a version and does not list it.
pub(super) fn check_supported_versions(
    revision: Revision,
    frame: &Frame,
    request: &PendingRequest,
    out: &mut Vec<Violation>,
) {
    let is_discovery = request.definition.is_some_and(|it| it.name == "server/discover");
    let listed = frame.result().filter(|_| is_discovery).and_then(|it| it.get("supportedVersions"));
    let (Some(listed), Some(requested)) = (listed, request.version.as_deref()) else { return };
    if !listed.items().any(|it| it.as_str().as_deref() == Some(requested)) {
        let message = format!(
            "the server answers a request of version {requested} but does not list it as supported"
        );
        let section = "basic/versioning#protocol-version-negotiation";
        let path = "$.result.supportedVersions";
        out.push(violation(revision, Rule::WrongVersion, path, message, section));
    }
}
