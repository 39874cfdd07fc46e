//! What a target did that the protocol forbids: data, never an error of ours.

use std::borrow::Cow;

/// One breach of the protocol, found in a frame or in a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Which rule was broken.
    pub rule: Rule,
    /// Where in the frame, as `$.params.name`; `$` is the whole frame.
    pub path: String,
    /// What was found and what should be there.
    pub message: String,
    /// The page and section of the specification, as
    /// `2025-11-25/basic/lifecycle#initialization`; without the revision where
    /// that is not known.
    pub section: Cow<'static, str>,
}

impl Violation {
    /// A violation of `rule` at `path`.
    pub fn new(
        rule: Rule,
        path: impl Into<String>,
        message: impl Into<String>,
        section: impl Into<Cow<'static, str>>,
    ) -> Self {
        Violation { rule, path: path.into(), message: message.into(), section: section.into() }
    }
}

impl std::fmt::Display for Violation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} at {}: {}", self.rule, self.path, self.message)?;
        if !self.section.is_empty() {
            write!(f, " ({})", self.section)?;
        }
        Ok(())
    }
}

/// Declares the rules with the names that users see.
macro_rules! rules {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)*) => {
        /// The rules a frame or a conversation can break.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Rule { $($(#[$doc])* $variant,)* }

        impl Rule {
            /// Every rule there is.
            pub const ALL: &'static [Rule] = &[$(Rule::$variant,)*];

            /// The rule's stable name, as suites and reports spell it.
            pub fn name(self) -> &'static str {
                match self { $(Rule::$variant => $name,)* }
            }
        }
    };
}

rules! {
    // The text of a frame.
    /// The text is not JSON.
    NotJson = "not-json",
    /// The bytes are not UTF-8.
    InvalidUtf8 = "invalid-utf8",
    /// A byte order mark before the text.
    ByteOrderMark = "byte-order-mark",
    /// More nesting than the limit.
    TooDeep = "too-deep",
    /// More bytes than the limit.
    TooLarge = "too-large",
    /// The value is neither an object nor a batch.
    NotAnObject = "not-an-object",
    /// The same key twice in one object.
    DuplicateKey = "duplicate-key",

    // JSON-RPC.
    /// `jsonrpc` is absent or not `"2.0"`.
    WrongJsonrpc = "wrong-jsonrpc",
    /// An id is required and absent.
    IdMissing = "id-missing",
    /// The id is `null`.
    IdNull = "id-null",
    /// The id is a number with a fraction or an exponent.
    IdFractional = "id-fractional",
    /// The id is neither a string nor an integer.
    IdWrongType = "id-wrong-type",
    /// `method` is not a string.
    MethodWrongType = "method-wrong-type",
    /// `params` is not an object.
    ParamsWrongType = "params-wrong-type",
    /// `result` is not an object.
    ResultWrongType = "result-wrong-type",
    /// `error` is not an object with an integer `code` and a string `message`.
    ErrorMalformed = "error-malformed",
    /// A response has both `result` and `error`.
    ResultAndError = "result-and-error",
    /// A frame has none of `method`, `result` and `error`.
    NothingInside = "nothing-inside",
    /// A frame is a request and a response at once.
    RequestAndResponse = "request-and-response",
    /// A batch without any frame in it.
    EmptyBatch = "empty-batch",

    // A revision's rules about one frame.
    /// A batch where the revision has none.
    BatchNotAllowed = "batch-not-allowed",
    /// A method that this side does not send in this revision.
    WrongDirection = "wrong-direction",
    /// A method that another revision has, but not this one.
    NotInRevision = "not-in-revision",
    /// A required field is absent.
    MissingField = "missing-field",
    /// A value of a wrong type.
    WrongType = "wrong-type",
    /// A value outside of what is allowed.
    WrongValue = "wrong-value",
    /// A result type the revision does not know, or not for this method.
    WrongResultType = "wrong-result-type",
    /// An error code the revision reserves or forbids.
    WrongErrorCode = "wrong-error-code",

    // Rules about a conversation.
    /// A reply whose id belongs to no request in flight.
    UnknownReply = "unknown-reply",
    /// A reply whose id has another type than the request's.
    ReplyIdType = "reply-id-type",
    /// A second reply to one request.
    DuplicateReply = "duplicate-reply",
    /// An id used again while its request is in flight, or, where there are
    /// sessions, in the same session.
    IdReused = "id-reused",
    /// A request or notification before the lifecycle allows it.
    OutOfOrder = "out-of-order",
    /// A feature used that its side has not declared or the other side lacks.
    Undeclared = "undeclared",
    /// Progress that does not increase, or for a token of no request in flight.
    WrongProgress = "wrong-progress",
    /// A notification on a subscription that did not ask for it or is not acknowledged.
    WrongSubscription = "wrong-subscription",
    /// A version neither asked for nor known.
    WrongVersion = "wrong-version",
}

impl std::fmt::Display for Rule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
