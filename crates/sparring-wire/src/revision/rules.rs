//! What a revision's file is made of: plain data about methods,
//! notifications, capabilities and error codes.

use super::Side;

/// Everything one revision says, apart from prose.
#[derive(Debug)]
pub struct RevisionRules {
    /// The name on the wire.
    pub name: &'static str,
    /// Whether each request carries its metadata and there is no handshake.
    pub modern: bool,
    /// Whether several frames may come in one array.
    pub batches: bool,
    /// Whether the error for an unreadable request leaves out the id.
    pub error_without_id: bool,
    /// Whether a stream over HTTP begins by an event that only says where it
    /// is, so that a client can come back there.
    pub primed_streams: bool,
    /// The error code for a resource that is not there.
    pub resource_not_found: i64,
    /// Whether arguments that break a tool's schema are told in a result that
    /// is an error of the tool's, and not by a JSON-RPC error.
    pub tools_refuse_arguments: bool,
    /// Lowest and highest error code that only the specification may define.
    pub reserved_codes: Option<(i64, i64)>,
    /// What the client may ask.
    pub client_requests: &'static [MethodRule],
    /// What the server may ask.
    pub server_requests: &'static [MethodRule],
    /// What the client may notify.
    pub client_notifications: &'static [NotificationRule],
    /// What the server may notify.
    pub server_notifications: &'static [NotificationRule],
    /// The capabilities a client can declare.
    pub client_capabilities: &'static [&'static str],
    /// The capabilities a server can declare.
    pub server_capabilities: &'static [&'static str],
    /// The kinds of content in tool results and prompts.
    pub content_kinds: &'static [&'static str],
    /// The kinds of content in sampling.
    pub sampling_content_kinds: &'static [&'static str],
    /// The values of `resultType`; none where results have no such field.
    pub result_types: &'static [&'static str],
    /// Beginnings of methods that left the protocol for an extension, and so
    /// may appear although the revision does not have them.
    pub extension_methods: &'static [&'static str],
    /// The error codes with a meaning.
    pub errors: &'static [ErrorRule],
    /// Where the specification speaks of what any message must look like.
    pub messages: &'static str,
    /// The shape of every type, in the notation that `check` reads.
    pub shapes: &'static str,
}

impl RevisionRules {
    /// The capabilities that a side can declare.
    pub fn capabilities(&self, of: Side) -> &'static [&'static str] {
        match of {
            Side::Client => self.client_capabilities,
            Side::Server => self.server_capabilities,
        }
    }

    /// What the revision says of an error code, if anything.
    pub fn error(&self, code: i64) -> Option<&'static ErrorRule> {
        self.errors.iter().find(|rule| rule.code == code)
    }
}

/// A request of a revision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MethodRule {
    /// The method.
    pub name: &'static str,
    /// The type of its params.
    pub params: &'static str,
    /// Whether there must be params.
    pub params_required: bool,
    /// The type of its result.
    pub result: &'static str,
    /// The capability, with dots between its levels, that the receiving side
    /// must have declared.
    pub capability: Option<&'static str>,
    /// Whether the answer may ask for input.
    pub input_required: bool,
    /// Whether the result says how long it may be kept.
    pub cacheable: bool,
    /// Whether the request may be run as a task, and be answered by one.
    pub task: bool,
    /// The page and section of the specification.
    pub section: &'static str,
}

impl MethodRule {
    pub(super) const fn new(
        name: &'static str,
        params: &'static str,
        result: &'static str,
        section: &'static str,
    ) -> Self {
        MethodRule {
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
pub struct NotificationRule {
    /// The method.
    pub name: &'static str,
    /// The type of its params.
    pub params: &'static str,
    /// Whether there must be params.
    pub params_required: bool,
    /// The capability, with dots between its levels, that the sending side
    /// must have declared.
    pub capability: Option<&'static str>,
    /// The page and section of the specification.
    pub section: &'static str,
}

impl NotificationRule {
    pub(super) const fn new(
        name: &'static str,
        params: &'static str,
        section: &'static str,
    ) -> Self {
        NotificationRule { name, params, params_required: true, capability: None, section }
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

/// An error code that a revision speaks of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ErrorRule {
    /// The code.
    pub code: i64,
    /// What it means.
    pub meaning: &'static str,
    /// Whether it must not be sent.
    pub forbidden: bool,
    /// The type of the error object, where it is more than code and message.
    pub shape: Option<&'static str>,
}

impl ErrorRule {
    pub(super) const fn standard(code: i64, meaning: &'static str) -> Self {
        ErrorRule { code, meaning, forbidden: false, shape: None }
    }

    pub(super) const fn forbidden(code: i64, meaning: &'static str) -> Self {
        ErrorRule { forbidden: true, ..Self::standard(code, meaning) }
    }

    pub(super) const fn shaped(mut self, shape: &'static str) -> Self {
        self.shape = Some(shape);
        self
    }
}
