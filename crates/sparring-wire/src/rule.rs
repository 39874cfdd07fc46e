//! The catalogue of rules: id, level, revisions, section and one sentence each.
//!
//! Every [`Violation`](crate::Violation) refers to an entry of this catalogue. The
//! checks themselves are in `check` and in the crates that see more than frames.

use crate::revision::Revision;
use crate::revision::Revision::{V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25, V2026_07_28};

/// The strength of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RuleLevel {
    /// The specification requires it, or a test relies on it. A violation fails a test.
    Must,
    /// The specification recommends it. A violation is a warning.
    Should,
}

impl RuleLevel {
    /// Returns `must` or `should`.
    pub fn name(self) -> &'static str {
        match self {
            RuleLevel::Must => "must",
            RuleLevel::Should => "should",
        }
    }
}

/// One entry of the catalogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct RuleEntry {
    /// The rule.
    pub rule: Rule,
    /// The stable id that suites and reports use, such as `wire/not-json`.
    pub id: &'static str,
    /// The strength of the rule.
    pub level: RuleLevel,
    /// The revisions that have the rule, oldest first.
    pub revisions: &'static [Revision],
    /// The page and section of the specification, such as
    /// `server/tools#output-schema`, in the newest of `revisions`; empty for rules
    /// that only Sparring has. A violation can name a more exact section.
    pub section: &'static str,
    /// The rule in one sentence.
    pub summary: &'static str,
}

const ALL: &[Revision] = &Revision::ALL;
/// The revisions in which both sides only should keep to the negotiated capabilities.
const UNTIL_2025_03_26: &[Revision] = &[V2024_11_05, V2025_03_26];
const LEGACY: &[Revision] = &[V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25];
const MODERN: &[Revision] = &[V2026_07_28];
const ONLY_2025_11_25: &[Revision] = &[V2025_11_25];
const SINCE_2025_06_18: &[Revision] = &[V2025_06_18, V2025_11_25, V2026_07_28];
const SINCE_2025_11_25: &[Revision] = &[V2025_11_25, V2026_07_28];
/// The revisions with Streamable HTTP.
const STREAMABLE: &[Revision] = &[V2025_03_26, V2025_06_18, V2025_11_25, V2026_07_28];
/// The revisions with sessions and resumable streams over HTTP.
const HTTP_SESSIONS: &[Revision] = &[V2025_03_26, V2025_06_18, V2025_11_25];

const MESSAGES: &str = "basic#messages";
/// The section of rules that the specification does not have.
const NONE: &str = "";

/// Declares the enum of rules and the catalogue in the same order.
macro_rules! rules {
    ($($variant:ident = $id:literal, $level:ident, $revisions:ident, $section:expr, $summary:literal;)*) => {
        /// A rule that a frame, a connection or a test can break.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Rule {
            $(#[doc = concat!("`", $id, "`: ", $summary)] $variant,)*
        }

        /// The catalogue: every rule once, in the order of [`Rule`].
        pub const RULES: &[RuleEntry] = &[$(RuleEntry {
            rule: Rule::$variant,
            id: $id,
            level: RuleLevel::$level,
            revisions: $revisions,
            section: $section,
            summary: $summary,
        },)*];
    };
}

rules! {
    // The text of a message.
    NotJson = "wire/not-json", Must, ALL, MESSAGES,
        "A message must be valid JSON.";
    InvalidUtf8 = "wire/invalid-utf8", Must, ALL, "basic/transports#messages",
        "A message must be valid UTF-8.";
    ByteOrderMark = "wire/byte-order-mark", Must, ALL, MESSAGES,
        "A message must not start with a byte order mark.";
    TooDeep = "wire/too-deep", Must, ALL, NONE,
        "A message must not nest deeper than the reader's limit.";
    TooLarge = "wire/too-large", Must, ALL, NONE,
        "A message must not be longer than the reader's limit.";
    NotAnObject = "wire/not-an-object", Must, ALL, MESSAGES,
        "A message must be a JSON object, or a batch where the revision has batches.";
    DuplicateKey = "wire/duplicate-key", Should, ALL, MESSAGES,
        "An object should have each key only once.";

    // The fields of JSON-RPC.
    WrongJsonrpc = "wire/wrong-jsonrpc", Must, ALL, MESSAGES,
        "`jsonrpc` must be \"2.0\".";
    IdMissing = "wire/id-missing", Must, ALL, MESSAGES,
        "A request and a response must have an id.";
    IdNull = "wire/id-null", Must, ALL, MESSAGES,
        "The id of a request or a result must not be null.";
    IdFractional = "wire/id-fractional", Must, ALL, MESSAGES,
        "A numeric id must be an integer, without fraction and exponent.";
    IdWrongType = "wire/id-wrong-type", Must, ALL, MESSAGES,
        "An id must be a string or an integer.";
    MethodWrongType = "wire/method-wrong-type", Must, ALL, MESSAGES,
        "`method` must be a string.";
    ParamsWrongType = "wire/params-wrong-type", Must, ALL, MESSAGES,
        "`params` must be an object.";
    ResultWrongType = "wire/result-wrong-type", Must, ALL, MESSAGES,
        "`result` must be an object.";
    ErrorMalformed = "wire/error-malformed", Must, ALL, "basic#error-responses",
        "`error` must be an object with an integer `code` and a string `message`.";
    ResultAndError = "wire/result-and-error", Must, ALL, MESSAGES,
        "A response must not have both `result` and `error`.";
    EmptyMessage = "wire/empty-message", Must, ALL, MESSAGES,
        "A message must have one of `method`, `result` and `error`.";
    RequestAndResponse = "wire/request-and-response", Must, ALL, MESSAGES,
        "A message with a `method` must not have `result` or `error`.";
    EmptyBatch = "wire/empty-batch", Must, ALL, MESSAGES,
        "A batch must hold at least one message.";
    BatchNotAllowed = "wire/batch-not-allowed", Must, ALL, MESSAGES,
        "Only revision 2025-03-26 has batches, and `initialize` must not be in one.";

    // The methods and types of a revision.
    WrongDirection = "methods/wrong-direction", Must, ALL, "basic/patterns",
        "A side must only send the methods that the revision gives to that side.";
    NotInRevision = "methods/not-in-revision", Must, ALL, MESSAGES,
        "A side must not send a method that only other revisions have.";
    NotImplemented = "methods/not-implemented", Must, ALL, "server/tools#capabilities",
        "A server must implement `ping` up to 2025-11-25, and since 2026-07-28 the lists of the features that it declares.";
    MissingField = "schema/missing-field", Must, ALL, "schema",
        "A required field must be present.";
    WrongType = "schema/wrong-type", Must, ALL, "schema",
        "A value must have the type that the schema gives it.";
    WrongValue = "schema/wrong-value", Must, ALL, "schema",
        "A value must be one of those that the schema allows.";
    WrongResultType = "schema/wrong-result-type", Must, MODERN, "basic#resulttype",
        "`resultType` must be a type that the revision has for the method.";
    WrongErrorCode = "errors/wrong-code", Must, MODERN, "basic#error-codes",
        "An error must not use a code that the revision reserves or forbids.";

    // The syntax of strings.
    InvalidBase64 = "format/base64", Must, ALL, "server/resources#security-considerations",
        "Images, audio and blobs must be base64 with the standard alphabet and padding.";
    InvalidUri = "format/uri", Must, ALL, "server/resources#common-uri-schemes",
        "The URI of a resource, and since 2025-11-25 that of an icon and the URL of an elicitation, must be a URI with a scheme (RFC 3986).";
    InvalidUriTemplate = "format/uri-template", Must, ALL, "server/resources#resource-templates",
        "The template of a resource must be a URI template (RFC 6570).";
    InvalidMediaType = "format/media-type", Must, ALL, "server/prompts#image-content",
        "The MIME type of images and audio must have a type and a subtype.";
    InvalidResourceMediaType = "format/resource-media-type", Should, ALL, "server/resources#resource",
        "The MIME type of a resource should have a type and a subtype.";
    InvalidTimestamp = "format/timestamp", Must, ONLY_2025_11_25, "basic/utilities/tasks#ttl-and-resource-management",
        "The times of a task must be ISO 8601 timestamps.";
    InvalidTraceContext = "format/trace-context", Must, MODERN, "basic#meta",
        "The values of `traceparent`, `tracestate` and `baggage` in `_meta` must follow W3C Trace Context and W3C Baggage.";
    InvalidMetaKey = "format/meta-key", Must, SINCE_2025_06_18, "basic#meta",
        "A key of `_meta` must be a name of letters, digits and `-_.` after an optional prefix of labels.";
    InvalidJsonSchema = "format/json-schema", Must, SINCE_2025_11_25, "basic#schema-validation",
        "The schemas of a tool must be valid JSON Schemas.";

    // Requests and their responses.
    UnknownResponse = "exchange/unknown-response", Must, ALL, MESSAGES,
        "A response must have the id of a pending request.";
    ResponseIdType = "exchange/response-id-type", Must, ALL, MESSAGES,
        "The id of a response must have the same type as the id of its request.";
    DuplicateResponse = "exchange/duplicate-response", Must, ALL, MESSAGES,
        "A request must get only one response.";
    UnidentifiedError = "exchange/unidentified-error", Must, ALL, MESSAGES,
        "An error without an id must only answer a message whose id could not be read.";
    IdReused = "exchange/id-reused", Must, ALL, "basic#requests",
        "A request must not reuse the id of a pending request or, up to 2025-11-25, of any request of the session.";

    // The connection as a whole.
    OutOfOrder = "lifecycle/out-of-order", Should, LEGACY, "basic/lifecycle#initialization",
        "Requests other than `ping` should wait until the session is initialized, and `initialize` should come once.";
    WrongVersion = "lifecycle/wrong-version", Must, ALL, "basic/versioning#protocol-version-negotiation",
        "A server must answer with a version that the client requested or that it supports.";
    EarlyMessage = "lifecycle/early-message", Must, LEGACY, "basic/lifecycle#initialization",
        "A server must answer `initialize` before it sends requests other than `ping` and notifications other than log messages.";
    IgnoredEndOfInput = "lifecycle/ignored-end-of-input", Should, MODERN, "basic/transports/stdio#shutdown",
        "A server process should exit promptly when its input ends.";
    Undeclared = "capabilities/undeclared", Must, ALL, "basic/patterns/mrtr#server-requirements-basic-workflow",
        "A side must only use features that the other side or itself has declared.";
    NotNegotiated = "capabilities/not-negotiated", Should, UNTIL_2025_03_26, "basic/lifecycle#operation",
        "A side should only send requests for features that the other side has declared.";
    InvalidExtension = "capabilities/extension-name", Must, MODERN, "basic/versioning#extension-negotiation",
        "The name of an extension must be a valid key of `_meta` with a prefix.";
    InvalidProgress = "progress/invalid", Must, ALL, "basic/patterns/progress#progress-flow",
        "Progress must increase and must name the unique token of a pending request.";
    InvalidSubscription = "subscriptions/invalid", Must, MODERN, "basic/patterns/subscriptions#acknowledgment",
        "A subscription must only bring notifications that it requested, after its acknowledgment.";
    NonEmptyPing = "ping/not-empty", Must, LEGACY, "basic/utilities/ping#behavior-requirements",
        "The result of `ping` must be empty.";
    UnknownCancellation = "cancellation/unknown-request", Must, ALL, "basic/patterns/cancellation#behavior-requirements",
        "A cancellation must name a request that was sent in the same direction, or a subscription since 2026-07-28.";
    MessageAfterCancellation = "cancellation/late-message", Must, MODERN, "basic/transports/stdio#cancellation",
        "A server must not send messages for a request after it has received the cancellation.";
    LogBelowLevel = "logging/below-level", Must, MODERN, "server/utilities/logging#per-request-log-level",
        "A log message must not be below the level that the request names.";
    LogBelowSetLevel = "logging/below-set-level", Should, LEGACY, "server/utilities/logging#setting-log-level",
        "A log message should not be below the level that the client set with `logging/setLevel`.";
    CacheScopeChanged = "caching/scope-changed", Must, MODERN, "server/utilities/caching#interaction-with-pagination",
        "All pages of a list must have the same `cacheScope`.";
    UnknownElicitation = "elicitation/unknown-id", Must, ONLY_2025_11_25, "client/elicitation#completion-notifications-for-url-mode-elicitation",
        "The notification of a complete elicitation must have the id of an elicitation that the server requested.";
    UnbalancedTools = "sampling/unbalanced-tools", Must, SINCE_2025_11_25, "client/sampling#tool-use-and-result-balance",
        "In a sampling request, the next message after tool uses must hold exactly their results.";

    // Tasks.
    WrongTaskStatus = "tasks/wrong-status", Must, ONLY_2025_11_25, "basic/utilities/tasks#task-status-lifecycle",
        "A task must begin as `working`, must be `cancelled` after its cancellation, and must keep a final status.";
    DuplicateTask = "tasks/duplicate-id", Must, ONLY_2025_11_25, "basic/utilities/tasks#task-id-requirements",
        "A new task must have a new id.";
    MissingRelatedTask = "tasks/related-task", Must, ONLY_2025_11_25, "basic/utilities/tasks#related-task-metadata",
        "The result of `tasks/result` must name its task in `_meta`.";
    TaskRequired = "tasks/required", Must, ONLY_2025_11_25, "basic/utilities/tasks#tool-level-negotiation",
        "A tool that requires tasks must not be run without one.";

    // HTTP.
    WrongStatus = "http/wrong-status", Must, STREAMABLE, "basic/transports/streamable-http#sending-messages",
        "The status of a response must be the one that the transport requires, such as 202 for a notification.";
    UnexpectedBody = "http/unexpected-body", Must, STREAMABLE, "basic/transports/streamable-http#sending-messages",
        "A response with status 202 must not have a body.";
    WrongContentType = "http/wrong-content-type", Must, HTTP_SESSIONS, "basic/transports#listening-for-messages-from-the-server",
        "A successful response to a GET request must be an event stream.";
    InvalidSessionId = "http/invalid-session-id", Must, HTTP_SESSIONS, "basic/transports#session-management",
        "A session id must only have visible ASCII characters.";
    DuplicateEventId = "http/duplicate-event-id", Must, HTTP_SESSIONS, "basic/transports#resumability-and-redelivery",
        "The id of an event must be unique in its session.";
    ResponseOnListeningStream = "http/response-on-listening-stream", Must, HTTP_SESSIONS, "basic/transports#listening-for-messages-from-the-server",
        "A server must not send responses on the stream of a GET request that does not resume another stream.";

    // Tools.
    UnlistedTool = "tools/unlisted", Must, ALL, NONE,
        "A called tool must be in the result of `tools/list`.";
    OutputSchema = "tools/output-schema", Must, SINCE_2025_06_18, "server/tools#output-schema",
        "The structured content of a result must conform to the tool's output schema.";

    InvalidToolName = "tools/name", Should, SINCE_2025_11_25, "server/tools#tool-names",
        "The name of a tool should have 1 to 128 ASCII letters, digits and `_-.`.";
    DuplicateToolName = "tools/duplicate-name", Should, SINCE_2025_11_25, "server/tools#tool-names",
        "The name of a tool should be unique within its server.";
    MissingStructuredText = "tools/structured-text", Should, SINCE_2025_06_18, "server/tools#structured-content",
        "A result with structured content should also have a text block with its JSON.";
    UndeclaredResources = "tools/embedded-resource", Should, SINCE_2025_06_18, "server/tools#embedded-resources",
        "A server whose tools return embedded resources should declare the capability `resources`.";

    // Prompts.
    MissingResourceMediaType = "prompts/resource-media-type", Must, ALL, "server/prompts#embedded-resources",
        "A resource in a message of a prompt must have a MIME type.";

    // Expectations of a suite and of a scripted LLM.
    Unanswered = "suite/unanswered", Must, ALL, NONE,
        "An `answer` of the step must cover every request of the server.";
    UnexpectedTurn = "llm/unexpected-turn", Must, ALL, NONE,
        "A request to a scripted LLM must be the next turn of its script.";
    InvalidLlmRequest = "llm/invalid-request", Must, ALL, NONE,
        "A request to a scripted LLM must be valid for its API.";
}

impl Rule {
    /// Returns the entry of the catalogue.
    pub fn entry(self) -> &'static RuleEntry {
        &RULES[self as usize]
    }

    /// Returns the stable id that suites and reports use, such as `wire/not-json`.
    pub fn id(self) -> &'static str {
        self.entry().id
    }

    /// Returns the strength of the rule.
    pub fn level(self) -> RuleLevel {
        self.entry().level
    }

    /// Returns true if the revision has the rule.
    pub fn applies_in(self, revision: Revision) -> bool {
        self.entry().revisions.contains(&revision)
    }

    /// Returns the rule with that id.
    pub fn from_id(id: &str) -> Option<Rule> {
        RULES.iter().find(|entry| entry.id == id).map(|entry| entry.rule)
    }
}

impl std::fmt::Display for Rule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.id())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::path::{Path, PathBuf};

    use super::*;

    #[test]
    fn every_rule_has_its_own_entry() {
        for entry in RULES {
            assert_eq!(entry.rule.entry(), entry);
            assert_eq!(Rule::from_id(entry.id), Some(entry.rule));
            assert_eq!(entry.rule.to_string(), entry.id);
        }
        assert_eq!(Rule::from_id("wire/no-such-rule"), None);
    }

    #[test]
    fn ids_are_unique_and_well_formed() {
        let is_word = |word: &str| {
            word.starts_with(|first: char| first.is_ascii_lowercase())
                && word.chars().all(|it| it.is_ascii_lowercase() || it.is_ascii_digit())
        };
        let mut seen = HashSet::new();
        for RuleEntry { id, .. } in RULES {
            let (area, name) = id.split_once('/').unwrap();
            assert!(is_word(area), "{id}");
            assert!(name.split('-').all(is_word), "{id}");
            assert!(seen.insert(id), "{id} is there twice");
        }
    }

    #[test]
    fn entries_are_complete() {
        for entry in RULES {
            let RuleEntry { id, revisions, section, summary, .. } = entry;
            assert!(!revisions.is_empty() && revisions.is_sorted(), "{id}");
            let word = format!(" {} ", entry.level.name());
            assert!(summary.ends_with('.') && !summary.contains(". "), "{id}: {summary}");
            assert!(summary.contains(&word) || id == &"wire/batch-not-allowed", "{id}: {summary}");
            assert!(!section.starts_with('/') && !section.contains(' '), "{id}: {section}");
        }
    }

    /// Reads the sources of all crates of the workspace.
    #[test]
    fn every_rule_is_used() {
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let mut sources = String::new();
        for folder in std::fs::read_dir(crates).unwrap() {
            read_sources(&folder.unwrap().path().join("src"), &mut sources);
        }
        let names: HashSet<&str> = sources
            .split("Rule::")
            .skip(1)
            .filter_map(|rest| rest.split(|it: char| !it.is_ascii_alphanumeric()).next())
            .collect();
        for entry in RULES {
            let name = format!("{:?}", entry.rule);
            assert!(names.contains(&*name), "{} ({name}) is never reported", entry.id);
        }
    }

    fn read_sources(folder: &Path, sources: &mut String) {
        let Ok(files) = std::fs::read_dir(folder) else { return };
        for path in files.map(|file| file.unwrap().path()) {
            let is_test = path.file_stem().is_some_and(|name| name == "tests");
            if path.is_dir() && !is_test {
                read_sources(&path, sources);
            } else if path.extension().is_some_and(|it| it == "rs")
                && !is_test
                && !is_catalogue(&path)
            {
                sources.push_str(&std::fs::read_to_string(&path).unwrap());
            }
        }
    }

    fn is_catalogue(path: &Path) -> bool {
        path == PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src/rule.rs")
    }
}
