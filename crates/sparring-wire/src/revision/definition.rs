//! The data types of a revision's file: methods, notifications, capabilities and error
//! codes.

use super::Side;

/// The prefixes of keys of `_meta` that belong to the protocol. Their names have a label
/// `modelcontextprotocol` or `mcp`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReservedPrefixes {
    /// No prefix.
    None,
    /// Those with the label before any other label.
    AnyLabelButLast,
    /// Those whose second label it is.
    SecondLabel,
}

/// The definition of one revision.
#[derive(Debug)]
pub struct RevisionDefinition {
    /// The protocol version.
    pub name: &'static str,
    /// True if each request carries metadata instead of a handshake.
    pub modern: bool,
    /// True if one array can hold several frames.
    pub batches: bool,
    /// True if the error for an unreadable request omits the id.
    pub error_without_id: bool,
    /// True if an HTTP stream starts with an event that has only an id, so that a client
    /// can resume the stream.
    pub primed_streams: bool,
    /// The error code for an unknown resource.
    pub resource_not_found: i64,
    /// True if the revision has rules for the keys of `_meta`.
    pub meta_key_rules: bool,
    /// The prefixes of keys of `_meta` that belong to the protocol.
    pub reserved_prefixes: ReservedPrefixes,
    /// True if the schemas of tools must be valid JSON Schemas.
    pub schema_rules: bool,
    /// True if a server reports invalid tool arguments in a result with `isError`, not in
    /// a JSON-RPC error.
    pub tools_refuse_arguments: bool,
    /// The first and last error code that only the specification can define.
    pub reserved_codes: Option<(i64, i64)>,
    /// The requests of the client.
    pub client_requests: &'static [RequestDefinition],
    /// The requests of the server.
    pub server_requests: &'static [RequestDefinition],
    /// The notifications of the client.
    pub client_notifications: &'static [NotificationDefinition],
    /// The notifications of the server.
    pub server_notifications: &'static [NotificationDefinition],
    /// The capabilities a client can declare.
    pub client_capabilities: &'static [&'static str],
    /// The capabilities a server can declare.
    pub server_capabilities: &'static [&'static str],
    /// The kinds of content in tool results and prompts.
    pub content_kinds: &'static [&'static str],
    /// The kinds of content in sampling.
    pub sampling_content_kinds: &'static [&'static str],
    /// The values of `resultType`; empty if results have no such field.
    pub result_types: &'static [&'static str],
    /// Prefixes of methods that moved from the protocol to an extension. They are allowed
    /// although the revision does not have them.
    pub extension_methods: &'static [&'static str],
    /// The error codes of the revision.
    pub errors: &'static [ErrorCodeDefinition],
    /// The section of the specification about messages.
    pub messages: &'static str,
    /// The shape of every type, in the notation of `check::shape_parser`.
    pub shapes: &'static str,
}

impl RevisionDefinition {
    /// Returns the capabilities that a side can declare.
    pub fn capabilities(&self, side: Side) -> &'static [&'static str] {
        match side {
            Side::Client => self.client_capabilities,
            Side::Server => self.server_capabilities,
        }
    }

    /// Returns the definition of an error code, if the revision has one.
    pub fn error(&self, code: i64) -> Option<&'static ErrorCodeDefinition> {
        self.errors.iter().find(|rule| rule.code == code)
    }
}

/// A request of a revision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestDefinition {
    /// The method.
    pub name: &'static str,
    /// The type of its params.
    pub params: &'static str,
    /// True if params are required.
    pub params_required: bool,
    /// The type of its result.
    pub result: &'static str,
    /// The capability that the receiver must declare, as a dotted name.
    pub capability: Option<&'static str>,
    /// True if the result can ask for input.
    pub input_required: bool,
    /// True if the result has caching hints.
    pub cacheable: bool,
    /// True if the request can run as a task. The task is then its result.
    pub task: bool,
    /// The page and section of the specification.
    pub section: &'static str,
}

impl RequestDefinition {
    pub(super) const fn new(
        name: &'static str,
        params: &'static str,
        result: &'static str,
        section: &'static str,
    ) -> Self {
        RequestDefinition {
            name,
            params,
            params_required: true,
            result,
            capability: None,
            input_required: false,
            cacheable: false,
            task: false,
            section,
        }
    }

    pub(super) const fn params_optional(mut self) -> Self {
        self.params_required = false;
        self
    }

    pub(super) const fn needs(mut self, capability: &'static str) -> Self {
        self.capability = Some(capability);
        self
    }

    pub(super) const fn may_require_input(mut self) -> Self {
        self.input_required = true;
        self
    }

    pub(super) const fn cacheable(mut self) -> Self {
        self.cacheable = true;
        self
    }

    pub(super) const fn may_become_task(mut self) -> Self {
        self.task = true;
        self
    }
}

/// A notification of a revision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotificationDefinition {
    /// The method.
    pub name: &'static str,
    /// The type of its params.
    pub params: &'static str,
    /// True if params are required.
    pub params_required: bool,
    /// The capability that the sender must declare, as a dotted name.
    pub capability: Option<&'static str>,
    /// The page and section of the specification.
    pub section: &'static str,
}

impl NotificationDefinition {
    pub(super) const fn new(
        name: &'static str,
        params: &'static str,
        section: &'static str,
    ) -> Self {
        NotificationDefinition { name, params, params_required: true, capability: None, section }
    }

    pub(super) const fn params_optional(mut self) -> Self {
        self.params_required = false;
        self
    }

    pub(super) const fn needs(mut self, capability: &'static str) -> Self {
        self.capability = Some(capability);
        self
    }
}

/// An error code of a revision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ErrorCodeDefinition {
    /// The code.
    pub code: i64,
    /// The meaning of the code.
    pub meaning: &'static str,
    /// True if the revision forbids the code.
    pub forbidden: bool,
    /// The type of the error object, if it has more than code and message.
    pub shape: Option<&'static str>,
}

impl ErrorCodeDefinition {
    pub(super) const fn standard(code: i64, meaning: &'static str) -> Self {
        ErrorCodeDefinition { code, meaning, forbidden: false, shape: None }
    }

    pub(super) const fn forbidden(code: i64, meaning: &'static str) -> Self {
        ErrorCodeDefinition { forbidden: true, ..Self::standard(code, meaning) }
    }

    pub(super) const fn shaped(mut self, shape: &'static str) -> Self {
        self.shape = Some(shape);
        self
    }
}
