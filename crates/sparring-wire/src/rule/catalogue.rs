//! The list of all rules. The rules of an area, such as `tools`, are together.

use super::{RuleEntry, RuleLevel, RuleSource};
use crate::revision::Revision;
use crate::revision::Revision::{V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25, V2026_07_28};

const ALL: &[Revision] = &Revision::ALL;
/// The revisions in which both sides only should keep to the negotiated capabilities.
const UNTIL_2025_03_26: &[Revision] = &[V2024_11_05, V2025_03_26];
const LEGACY: &[Revision] = &[V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25];
const MODERN: &[Revision] = &[V2026_07_28];
const ONLY_2025_03_26: &[Revision] = &[V2025_03_26];
const ONLY_2025_11_25: &[Revision] = &[V2025_11_25];
const UNTIL_2025_06_18: &[Revision] = &[V2024_11_05, V2025_03_26, V2025_06_18];
const SINCE_2025_03_26: &[Revision] = &[V2025_03_26, V2025_06_18, V2025_11_25, V2026_07_28];
const SINCE_2025_06_18: &[Revision] = &[V2025_06_18, V2025_11_25, V2026_07_28];
const SINCE_2025_11_25: &[Revision] = &[V2025_11_25, V2026_07_28];
/// The revisions with Streamable HTTP.
const STREAMABLE: &[Revision] = &[V2025_03_26, V2025_06_18, V2025_11_25, V2026_07_28];
/// The revisions with sessions and the header of the protocol version.
const VERSION_HEADER: &[Revision] = &[V2025_06_18, V2025_11_25];
const ONLY_2024_11_05: &[Revision] = &[V2024_11_05];
const ONLY_2025_06_18: &[Revision] = &[V2025_06_18];
/// The revisions with sessions and resumable streams over HTTP.
const HTTP_SESSIONS: &[Revision] = &[V2025_03_26, V2025_06_18, V2025_11_25];

const MESSAGES: &str = "basic#messages";
/// The section of rules that the specification does not have.
const NONE: &str = "";

/// Declares the enum of rules and the catalogue in the same order.
macro_rules! rules {
    ($($variant:ident = $id:literal, $source:ident, $level:ident, $revisions:ident, $section:expr, $summary:literal, $advice:literal;)*) => {
        /// A rule that a server, a client or a test can break.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Rule {
            $(#[doc = concat!("`", $id, "`: ", $summary)] $variant,)*
        }

        /// The catalogue: every rule once, in the order of [`Rule`].
        pub const RULES: &[RuleEntry] = &[$(RuleEntry {
            rule: Rule::$variant,
            id: $id,
            source: RuleSource::$source,
            level: RuleLevel::$level,
            revisions: $revisions,
            section: $section,
            summary: $summary,
            advice: $advice,
        },)*];
    };
}

rules! {
    // The text of a message.
    NotJson = "wire/not-json", Traffic, Must, ALL, MESSAGES,
        "A message must be valid JSON.",
        "Serialize every message with a JSON library, and write logs to stderr.";
    InvalidUtf8 = "wire/invalid-utf8", Traffic, Must, ALL, "basic/transports#messages",
        "A message must be valid UTF-8.",
        "Encode every message as UTF-8.";
    ByteOrderMark = "wire/byte-order-mark", Traffic, Must, ALL, MESSAGES,
        "A message must not start with a byte order mark.",
        "Write UTF-8 without a byte order mark.";
    TooDeep = "wire/too-deep", Traffic, Must, ALL, NONE,
        "A message must not nest deeper than the reader's limit.",
        "Flatten the value, or return a link to it.";
    TooLarge = "wire/too-large", Traffic, Must, ALL, NONE,
        "A message must not be longer than the reader's limit.",
        "Return less at once: use pagination, or return a link to the data.";
    NotAnObject = "wire/not-an-object", Traffic, Must, ALL, MESSAGES,
        "A message must be a JSON object, or a batch where the revision has batches.",
        "Send one JSON object for each message.";
    DuplicateKey = "wire/duplicate-key", Traffic, Should, ALL, MESSAGES,
        "An object should have each key only once.",
        "Write each key of an object only once.";

    // The fields of JSON-RPC.
    WrongJsonrpc = "wire/wrong-jsonrpc", Traffic, Must, ALL, MESSAGES,
        "`jsonrpc` must be \"2.0\".",
        "Set `jsonrpc` to the string \"2.0\".";
    IdMissing = "wire/id-missing", Traffic, Must, ALL, MESSAGES,
        "A request and a response must have an id.",
        "Copy the id of the request into its response, and give every request an id.";
    IdNull = "wire/id-null", Traffic, Must, ALL, MESSAGES,
        "The id of a request or a result must not be null.",
        "Copy the id of the request into its response unchanged.";
    IdFractional = "wire/id-fractional", Traffic, Must, ALL, MESSAGES,
        "A numeric id must be an integer, without fraction and exponent.",
        "Write numeric ids as integers.";
    IdWrongType = "wire/id-wrong-type", Traffic, Must, ALL, MESSAGES,
        "An id must be a string or an integer.",
        "Use strings or integers as ids.";
    MethodWrongType = "wire/method-wrong-type", Traffic, Must, ALL, MESSAGES,
        "`method` must be a string.",
        "Send the name of the method as a string.";
    ParamsWrongType = "wire/params-wrong-type", Traffic, Must, ALL, MESSAGES,
        "`params` must be an object.",
        "Send the params as an object, or leave them out.";
    ResultWrongType = "wire/result-wrong-type", Traffic, Must, ALL, MESSAGES,
        "`result` must be an object.",
        "Send the result as an object; `{}` if it is empty.";
    ErrorMalformed = "wire/error-malformed", Traffic, Must, ALL, "basic#error-responses",
        "`error` must be an object with an integer `code` and a string `message`.",
        "Send errors as an object with an integer `code` and a string `message`.";
    ResultAndError = "wire/result-and-error", Traffic, Must, ALL, MESSAGES,
        "A response must not have both `result` and `error`.",
        "Send either `result` or `error`.";
    EmptyMessage = "wire/empty-message", Traffic, Must, ALL, MESSAGES,
        "A message must have one of `method`, `result` and `error`.",
        "Send `method` for requests and notifications, and `result` or `error` for responses.";
    RequestAndResponse = "wire/request-and-response", Traffic, Must, ALL, MESSAGES,
        "A message with a `method` must not have `result` or `error`.",
        "Send requests and responses as separate messages.";
    EmptyBatch = "wire/empty-batch", Traffic, Must, ALL, MESSAGES,
        "A batch must hold at least one message.",
        "Send no batch if there is nothing to send.";
    BatchNotAllowed = "wire/batch-not-allowed", Traffic, Must, ALL, MESSAGES,
        "Only revision 2025-03-26 has batches, and `initialize` must not be in one.",
        "Send each message on its own.";

    // The methods and types of a revision.
    WrongDirection = "methods/wrong-direction", Traffic, Must, ALL, "basic/patterns",
        "A side must only send the methods that the revision gives to that side.",
        "Send only the requests and notifications that the specification gives to your side.";
    NotInRevision = "methods/not-in-revision", Traffic, Must, ALL, MESSAGES,
        "A side must not send a method that only other revisions have.",
        "Send only methods of the negotiated revision.";
    NotImplemented = "methods/not-implemented", Traffic, Must, ALL, "server/tools#capabilities",
        "A server must implement `ping` up to 2025-11-25, and since 2026-07-28 the lists of the features that it declares.",
        "Implement the method, or do not declare the capability.";
    MissingField = "schema/missing-field", Traffic, Must, ALL, "schema",
        "A required field must be present.",
        "Add the field; the schema of the revision lists what is required.";
    WrongType = "schema/wrong-type", Traffic, Must, ALL, "schema",
        "A value must have the type that the schema gives it.",
        "Send the type that the schema of the revision gives.";
    WrongValue = "schema/wrong-value", Traffic, Must, ALL, "schema",
        "A value must be one of those that the schema allows.",
        "Send one of the values that the schema of the revision allows.";
    WrongResultType = "schema/wrong-result-type", Traffic, Must, MODERN, "basic#resulttype",
        "`resultType` must be a type that the revision has for the method.",
        "Set `resultType` to a type that the method has, such as `complete`.";
    WrongErrorCode = "errors/wrong-code", Traffic, Must, MODERN, "basic#error-codes",
        "An error must not use a code that the revision reserves or forbids.",
        "Use the standard JSON-RPC codes, and for your own errors codes outside the reserved range.";

    // The syntax of strings.
    InvalidBase64 = "format/base64", Traffic, Must, ALL, "server/resources#security-considerations",
        "Images, audio and blobs must be base64 with the standard alphabet and padding.",
        "Encode binary data with standard base64, with padding and without line breaks.";
    InvalidUri = "format/uri", Traffic, Must, ALL, "server/resources#common-uri-schemes",
        "The URI of a resource, and since 2025-11-25 that of an icon and the URL of an elicitation, must be a URI with a scheme (RFC 3986).",
        "Write a complete URI with a scheme, and percent-encode other characters.";
    InvalidUriTemplate = "format/uri-template", Traffic, Must, ALL, "server/resources#resource-templates",
        "The template of a resource must be a URI template (RFC 6570).",
        "Write the template by RFC 6570, with balanced braces.";
    InvalidMediaType = "format/media-type", Traffic, Must, ALL, "server/prompts#image-content",
        "The MIME type of images and audio must have a type and a subtype.",
        "Write a MIME type such as `image/png`.";
    InvalidResourceMediaType = "format/resource-media-type", Traffic, Should, ALL, "server/resources#resource",
        "The MIME type of a resource should have a type and a subtype.",
        "Write a MIME type such as `text/plain`, or leave it out.";
    InvalidTimestamp = "format/timestamp", Traffic, Must, ONLY_2025_11_25, "basic/utilities/tasks#ttl-and-resource-management",
        "The times of a task must be ISO 8601 timestamps.",
        "Write times such as `2025-11-25T10:30:00Z`.";
    InvalidTraceContext = "format/trace-context", Traffic, Must, MODERN, "basic#meta",
        "The values of `traceparent`, `tracestate` and `baggage` in `_meta` must follow W3C Trace Context and W3C Baggage.",
        "Copy the values from your tracing library unchanged.";
    InvalidMetaKey = "format/meta-key", Traffic, Must, SINCE_2025_06_18, "basic#meta",
        "A key of `_meta` must be a name of letters, digits and `-_.` after an optional prefix of labels.",
        "Rename the key, for example to `com.example/name`.";
    InvalidJsonSchema = "format/json-schema", Traffic, Must, SINCE_2025_11_25, "basic#schema-validation",
        "The schemas of a tool must be valid JSON Schemas.",
        "Correct the schema; a validator of its draft shows where it is wrong.";

    // Requests and their responses.
    UnknownResponse = "exchange/unknown-response", Traffic, Must, ALL, MESSAGES,
        "A response must have the id of a pending request.",
        "Answer only pending requests, with their ids.";
    ResponseIdType = "exchange/response-id-type", Traffic, Must, ALL, MESSAGES,
        "The id of a response must have the same type as the id of its request.",
        "Copy the id unchanged: a number stays a number, and a string a string.";
    DuplicateResponse = "exchange/duplicate-response", Traffic, Must, ALL, MESSAGES,
        "A request must get only one response.",
        "Send one response for each request.";
    UnidentifiedError = "exchange/unidentified-error", Traffic, Must, ALL, MESSAGES,
        "An error without an id must only answer a message whose id could not be read.",
        "Copy the id of the request into the error.";
    IdReused = "exchange/id-reused", Traffic, Must, ALL, "basic#requests",
        "A request must not reuse the id of a pending request or, up to 2025-11-25, of any request of the session.",
        "Count up the ids of your requests.";

    NoAnswer = "exchange/no-answer", Check, Must, ALL, MESSAGES,
        "A request must get a response in time.",
        "Answer every request, with an error if it fails.";
    UnknownMethod = "exchange/unknown-method", Check, Must, ALL, "basic#error-responses",
        "A request with an unknown method must get the error -32601.",
        "Answer unknown methods with the error -32601 (method not found).";
    AnsweredNotification = "exchange/answered-notification", Check, Must, ALL, "basic#notifications",
        "A notification must not get a response.",
        "Answer only messages that have an id.";

    InvalidRequest = "exchange/invalid-request", Check, Must, ALL, "basic#error-codes",
        "A message that is not a valid request must get an error such as -32600, or no answer.",
        "Validate every message, and answer those without a method with the error -32600 (invalid request).";
    ParseError = "exchange/parse-error", Check, Must, ALL, "basic#error-codes",
        "A message that is not JSON must get the error -32700, or no answer.",
        "Answer messages that cannot be parsed with the error -32700 (parse error).";
    BrokenMessage = "exchange/broken-message", Check, Must, ALL, MESSAGES,
        "A server must answer valid requests after a message that is not valid.",
        "Catch errors of reading and parsing for each message, and go on with the next one.";
    Batch = "exchange/batch", Check, Must, ONLY_2025_03_26, "basic#batching",
        "A server must accept batches, and must answer each request in them.",
        "Handle an array of messages: answer each request in it, and no notification.";
    InvalidParams = "exchange/invalid-params", Check, Must, ALL, "basic#error-codes",
        "A request whose params lack a required field or have a wrong type must get an error.",
        "Validate the params of each method, and answer invalid ones with the error -32602.";
    InvalidParamsCode = "exchange/invalid-params-code", Check, Should, ALL, "basic#error-codes",
        "The error for invalid params should have the code -32602.",
        "Answer invalid params with the error -32602 (invalid params).";
    UnknownField = "exchange/unknown-field", Check, Must, ALL, "basic#meta",
        "A server must accept unknown fields in params, unknown keys of `_meta` and unknown capabilities of the client.",
        "Ignore the fields that you do not know.";

    // The connection as a whole.
    Handshake = "lifecycle/handshake", Check, Must, ALL, "basic/versioning#protocol-version-negotiation",
        "A server must answer `initialize` or `server/discover` with its versions and capabilities.",
        "Answer with all fields that the schema of the result requires.";
    VersionNegotiation = "lifecycle/version-negotiation", Check, Must, LEGACY, "basic/lifecycle#version-negotiation",
        "A server must answer a request for an unknown version with a version that it supports.",
        "Answer `initialize` with your newest version if you do not know the requested one.";
    OlderVersion = "lifecycle/older-version", Check, Should, LEGACY, "basic/lifecycle#version-negotiation",
        "A server should answer a request for an unknown version with its newest version.",
        "Answer `initialize` with your newest version if you do not know the requested one.";
    UnsupportedVersion = "lifecycle/unsupported-version", Check, Must, MODERN, "basic/versioning#protocol-version-negotiation",
        "A request of an unknown version must get the error -32022, which lists the supported versions.",
        "Check the version of every request, and answer with the error -32022 and `data.supported`.";
    InitializeRefusal = "lifecycle/initialize-refusal", Check, Should, MODERN, "basic/versioning#backward-compatibility-with-initialization-based-versions",
        "A server without `initialize` should name its versions in the error that it answers.",
        "List your versions in the message or the `data.supported` of the error.";
    Stateful = "lifecycle/stateful", Check, Must, MODERN, "basic#statelessness",
        "A request must not depend on earlier requests of the connection.",
        "Take everything that a request needs from the request itself.";
    OutOfOrder = "lifecycle/out-of-order", Traffic, Should, LEGACY, "basic/lifecycle#initialization",
        "Requests other than `ping` should wait until the session is initialized, and `initialize` should come once.",
        "Wait until the session is initialized before you send requests.";
    WrongVersion = "lifecycle/wrong-version", Traffic, Must, ALL, "basic/versioning#protocol-version-negotiation",
        "A server must answer with a version that the client requested or that it supports.",
        "Answer with the requested version if you support it, otherwise with your newest.";
    EarlyMessage = "lifecycle/early-message", Traffic, Must, LEGACY, "basic/lifecycle#initialization",
        "A server must answer `initialize` before it sends requests other than `ping` and notifications other than log messages.",
        "Wait for `notifications/initialized` before you send anything else.";
    IgnoredEndOfInput = "lifecycle/ignored-end-of-input", Traffic, Should, MODERN, "basic/transports/stdio#shutdown",
        "A server process should exit promptly when its input ends.",
        "End the process when its stdin ends.";
    Crash = "lifecycle/crash", Check, Must, ALL, NONE,
        "A server must not end before its client does.",
        "Catch the failure, and answer the request with an error.";
    MissingDiscover = "discover/not-implemented", Check, Must, MODERN, "server/discover",
        "A server must implement `server/discover`.",
        "Answer `server/discover` with your versions and capabilities.";
    UnspokenVersion = "discover/unspoken-version", Check, Must, MODERN, "server/discover#discoverresult",
        "A server must speak each version that it lists as supported.",
        "List only the versions that the server really speaks.";
    MissingMeta = "meta/missing-field", Check, Must, MODERN, "basic#meta",
        "A request without a required field of `_meta` must get the error -32602.",
        "Check that every request has the version and the client's capabilities in its `_meta`.";
    RequiredClientInfo = "meta/client-info", Check, Must, MODERN, "basic#meta",
        "A server must accept requests without the client's name and version.",
        "Do not require `io.modelcontextprotocol/clientInfo`.";
    MissingServerInfo = "meta/server-info", Check, Should, MODERN, "basic#meta",
        "Every result should have the server's name and version in its `_meta`.",
        "Add `io.modelcontextprotocol/serverInfo` to the `_meta` of each result.";
    ReservedMetaKey = "meta/reserved-key", Traffic, Must, SINCE_2025_06_18, "basic#meta",
        "A key of `_meta` must not use a prefix that is reserved for the protocol.",
        "Use a prefix of your own, such as `com.example/`.";
    UndeclaredMethod = "capabilities/undeclared-method", Check, Should, ALL, "basic#error-codes",
        "A method of a capability that the server does not declare should get the error -32601, if any.",
        "Answer the methods of features that you do not have with the error -32601 (method not found).";
    RequiredCapability = "capabilities/required-capability", Check, Must, MODERN, "basic#meta",
        "A request that needs a capability that the client lacks must get the error -32021, which lists it.",
        "Answer such requests with the error -32021 and `data.requiredCapabilities`.";
    Undeclared = "capabilities/undeclared", Traffic, Must, ALL, "basic/patterns/mrtr#server-requirements-basic-workflow",
        "A side must only use features that the other side or itself has declared.",
        "Declare the capability, or do not use the feature.";
    NotNegotiated = "capabilities/not-negotiated", Traffic, Should, UNTIL_2025_03_26, "basic/lifecycle#operation",
        "A side should only send requests for features that the other side has declared.",
        "Look at the declared capabilities of the other side before you send the request.";
    InvalidExtension = "capabilities/extension-name", Traffic, Must, MODERN, "basic/versioning#extension-negotiation",
        "The name of an extension must be a valid key of `_meta` with a prefix.",
        "Name the extension with a prefix, such as `com.example/feature`.";
    LongLine = "stdio/long-line", Check, Should, ALL, NONE,
        "A server should read messages of any common length.",
        "Read lines without a fixed limit, or with one of several megabytes.";
    InvalidProgress = "progress/invalid", Traffic, Must, ALL, "basic/patterns/progress#progress-flow",
        "Progress must increase and must name the unique token of a pending request.",
        "Send progress only with the token of a running request, and with growing values.";
    InvalidSubscription = "subscriptions/invalid", Traffic, Must, MODERN, "basic/patterns/subscriptions#acknowledgment",
        "A subscription must only bring notifications that it requested, after its acknowledgment.",
        "Send the acknowledgment first, and after it only what was subscribed.";
    RefusedSubscription = "subscriptions/refused", Check, Must, LEGACY, "server/resources#subscriptions",
        "A server that declares `resources.subscribe` must accept subscriptions to a listed resource, and their end.",
        "Implement `resources/subscribe` and `resources/unsubscribe`, or do not declare `subscribe`.";
    UnrequestedUpdate = "subscriptions/unrequested-update", Traffic, Should, LEGACY, "server/resources#subscriptions",
        "A server should announce changes only of resources that the client has subscribed to.",
        "Send `notifications/resources/updated` only for subscribed resources.";
    MissingAcknowledgment = "subscriptions/not-acknowledged", Check, Must, MODERN, "basic/patterns/subscriptions#acknowledgment",
        "A subscription must begin with its acknowledgment.",
        "Send `notifications/subscriptions/acknowledged` before anything else of the subscription.";
    WrongAcknowledgment = "subscriptions/wrong-acknowledgment", Traffic, Must, MODERN, "basic/patterns/subscriptions#acknowledgment",
        "The acknowledgment of a subscription must only name what was requested.",
        "Return the subset of the requested filter that you support.";
    UndeclaredSubscription = "subscriptions/undeclared-kind", Traffic, Should, MODERN, "basic/patterns/subscriptions#acknowledgment",
        "The acknowledgment of a subscription should omit what the server does not declare.",
        "Declare `listChanged` or `subscribe`, or leave the kind out of the acknowledgment.";
    IncompleteAcknowledgment = "subscriptions/declared-kind-omitted", Check, Should, MODERN, "basic/patterns/subscriptions#acknowledgment",
        "The acknowledgment of a subscription should name each requested kind that the server declares.",
        "Support the kinds of notifications that your capabilities declare.";
    ClosedSubscription = "subscriptions/closed", Check, Must, MODERN, "basic/patterns/subscriptions#opening-a-stream",
        "A subscription must stay open until the client cancels it or the server shuts down.",
        "Respond to `subscriptions/listen` only at the end of the subscription.";
    MissingListChanged = "notifications/missing-list-changed", Check, Should, ALL, "server/tools#list-changed-notification",
        "A server that declares `listChanged` should announce a changed list.",
        "Send the notification `list_changed` whenever the list changes.";
    NonEmptyPing = "ping/not-empty", Traffic, Must, LEGACY, "basic/utilities/ping#behavior-requirements",
        "The result of `ping` must be empty.",
        "Answer `ping` with `{}`.";
    SlowPing = "ping/slow", Check, Must, LEGACY, "basic/utilities/ping#behavior-requirements",
        "A server must answer `ping` promptly.",
        "Answer pings at once, also while other requests run.";
    UnknownCancellation = "cancellation/unknown-request", Traffic, Must, ALL, "basic/patterns/cancellation#behavior-requirements",
        "A cancellation must name a request that was sent in the same direction, or a subscription since 2026-07-28.",
        "Cancel only requests that you have sent and that are pending.";
    MessageAfterCancellation = "cancellation/late-message", Traffic, Must, MODERN, "basic/transports/stdio#cancellation",
        "A server must not send messages for a request after it has received the cancellation.",
        "Stop all messages for a request when its cancellation arrives.";
    FinishedCancellation = "cancellation/finished-request", Traffic, Must, ALL, "basic/patterns/cancellation#behavior-requirements",
        "A cancellation must not name a request whose response its sender has received.",
        "Cancel a request only while it is pending.";
    LateCancellation = "cancellation/race", Check, Must, ALL, "basic/patterns/cancellation#timing-considerations",
        "A server must handle the cancellation of a request that it has already answered.",
        "Ignore cancellations of requests that are finished.";
    InvalidCancellation = "cancellation/not-ignored", Check, Should, ALL, "basic/patterns/cancellation#error-handling",
        "A server should ignore malformed cancellations and those of unknown requests.",
        "Ignore cancellations that name no pending request.";
    AnsweredCancellation = "cancellation/answered", Check, Should, ALL, "basic/patterns/cancellation#behavior-requirements",
        "A server should not respond to a request after its cancellation.",
        "Stop the work of a cancelled request, and send no response for it.";
    LogBelowLevel = "logging/below-level", Traffic, Must, MODERN, "server/utilities/logging#per-request-log-level",
        "A log message must not be below the level that the request names.",
        "Compare the level of each log message with the level in the request.";
    LogBelowSetLevel = "logging/below-set-level", Traffic, Should, LEGACY, "server/utilities/logging#setting-log-level",
        "A log message should not be below the level that the client set with `logging/setLevel`.",
        "Compare the level of each log message with the level that the client has set.";
    RefusedLogLevel = "logging/level-refused", Check, Must, LEGACY, "server/utilities/logging#setting-log-level",
        "A server that declares `logging` must accept every level of the specification.",
        "Accept the eight levels from `debug` to `emergency`.";
    InvalidLogLevel = "logging/invalid-level", Check, Should, ALL, "server/utilities/logging#error-handling",
        "A request with an invalid log level should get the error -32602.",
        "Refuse unknown levels with the error -32602 (invalid params).";
    SensitiveLog = "logging/sensitive", Traffic, Must, ALL, "server/utilities/logging#security",
        "A log message must not contain credentials or stack traces.",
        "Remove secrets and internal details from log messages.";
    CacheScopeChanged = "caching/scope-changed", Traffic, Must, MODERN, "server/utilities/caching#interaction-with-pagination",
        "All pages of a list must have the same `cacheScope`.",
        "Send the same `cacheScope` on every page.";
    InterimCacheHints = "caching/interim-hints", Traffic, Must, MODERN, "server/utilities/caching#cacheable-results",
        "A result that requires input must not have caching hints.",
        "Leave out `ttlMs` and `cacheScope` unless the result is complete.";
    UnknownElicitation = "elicitation/unknown-id", Traffic, Must, ONLY_2025_11_25, "client/elicitation#completion-notifications-for-url-mode-elicitation",
        "The notification of a complete elicitation must have the id of an elicitation that the server requested.",
        "Send the notification only with the id of an elicitation that you requested.";
    ComplexElicitation = "elicitation/schema", Traffic, Must, SINCE_2025_06_18, "client/elicitation#requested-schema",
        "The schema of an elicitation must be a flat object of primitive properties.",
        "Ask for strings, numbers, booleans and enums at the top level only.";
    SensitiveElicitation = "elicitation/sensitive", Traffic, Must, SINCE_2025_06_18, "client/elicitation#form-mode-security",
        "An elicitation with a form must not ask for passwords, keys or other secrets.",
        "Use an elicitation with a URL for secrets.";
    SensitiveUrl = "elicitation/url-secrets", Traffic, Must, SINCE_2025_11_25, "client/elicitation#safe-url-handling",
        "The URL of an elicitation must not contain credentials or personal data.",
        "Send an opaque id in the URL, and identify the user on your page.";
    InsecureUrl = "elicitation/insecure-url", Traffic, Should, SINCE_2025_11_25, "client/elicitation#safe-url-handling",
        "The URL of an elicitation should use HTTPS, except on the own machine.",
        "Serve the page over HTTPS.";
    ClickableUrl = "elicitation/clickable-url", Traffic, Should, SINCE_2025_11_25, "client/elicitation#safe-url-handling",
        "An elicitation with a form should not contain URLs.",
        "Use an elicitation with a URL, or describe the page in words.";
    NoRequiredElicitation = "elicitation/none-required", Traffic, Must, ONLY_2025_11_25, "client/elicitation#url-elicitation-required-error",
        "The error -32042 must name at least one elicitation.",
        "List the elicitations that the client must complete, or use another error.";
    UnhandledRefusal = "elicitation/refused", Check, Must, SINCE_2025_06_18, "client/elicitation#error-handling",
        "A server must handle a user who declines or cancels an elicitation, and a client that fails to ask.",
        "Answer the request with a result or an error if the user does not answer.";
    UnbalancedTools = "sampling/unbalanced-tools", Traffic, Must, SINCE_2025_11_25, "client/sampling#tool-use-and-result-balance",
        "In a sampling request, the next message after tool uses must hold exactly their results.",
        "Follow each tool use with its result in the next message.";
    UndeclaredContext = "sampling/undeclared-context", Traffic, Should, SINCE_2025_11_25, "client/sampling#capabilities",
        "A sampling request should not include context unless the client declares `sampling.context`.",
        "Leave out `includeContext`.";
    UnhandledRootsChange = "roots/change-not-handled", Check, Should, LEGACY, "client/roots#implementation-guidelines",
        "A server should handle changes of the list of roots.",
        "Ignore the notification, or ask for the roots again.";

    // Input that a modern server requires.
    DuplicateInput = "input/duplicate-key", Traffic, Must, MODERN, "basic/patterns/mrtr#server-requirements-basic-workflow",
        "The keys of `inputRequests` must be unique.",
        "Give each requested input its own key.";
    EmptyInput = "input/empty", Traffic, Must, MODERN, "basic/patterns/mrtr#server-requirements-basic-workflow",
        "A result that requires input must have an input request or a `requestState`.",
        "Name the input that you need, or return a complete result.";
    ForgedState = "input/forged-state", Check, Must, MODERN, "basic/patterns/mrtr#server-requirements-basic-workflow",
        "A server must reject a `requestState` that fails verification.",
        "Verify a signature of the state before you use it.";
    MissingInput = "input/missing-response", Check, Should, MODERN, "basic/patterns/mrtr#error-handling",
        "A server should ask again for input that a retry lacks, and not answer with an error.",
        "Return `input_required` again with the missing requests.";
    UnexpectedInput = "input/unexpected-response", Check, Should, MODERN, "basic/patterns/mrtr#error-handling",
        "A server should ignore input responses that it did not request.",
        "Read only the responses that you need.";
    MalformedInput = "input/malformed-response", Check, Should, MODERN, "basic/patterns/mrtr#error-handling",
        "A retry whose `inputResponses` is malformed should get an error.",
        "Validate the responses, and answer with the error -32602.";

    // Tasks.
    WrongTaskStatus = "tasks/wrong-status", Traffic, Must, ONLY_2025_11_25, "basic/utilities/tasks#task-status-lifecycle",
        "A task must begin as `working`, must be `cancelled` after its cancellation, and must keep a final status.",
        "Begin with `working`, and never change a final status.";
    DuplicateTask = "tasks/duplicate-id", Traffic, Must, ONLY_2025_11_25, "basic/utilities/tasks#task-id-requirements",
        "A new task must have a new id.",
        "Make a random id for each task.";
    MissingRelatedTask = "tasks/related-task", Traffic, Must, ONLY_2025_11_25, "basic/utilities/tasks#related-task-metadata",
        "The result of `tasks/result` must name its task in `_meta`.",
        "Add `io.modelcontextprotocol/related-task` to `_meta` of the result.";
    TaskRequired = "tasks/required", Traffic, Must, ONLY_2025_11_25, "basic/utilities/tasks#tool-level-negotiation",
        "A tool that requires tasks must not be run without one.",
        "Refuse a call without a task with the error -32601.";
    TaskNotCreated = "tasks/not-created", Check, Must, ONLY_2025_11_25, "basic/utilities/tasks#result-retrieval",
        "A server that accepts a call as a task must answer with the new task.",
        "Answer with a `CreateTaskResult`, and keep the result for `tasks/result`.";
    TaskNotIgnored = "tasks/not-ignored", Check, Must, ONLY_2025_11_25, "basic/utilities/tasks#task-support-and-handling",
        "A server without tasks must process a call with `task` like any other.",
        "Ignore `task` in the params unless you declare tasks.";
    TaskForbidden = "tasks/forbidden", Check, Should, ONLY_2025_11_25, "basic/utilities/tasks#tool-level-negotiation",
        "A call as a task of a tool without task support should get the error -32601.",
        "Refuse the call with the error -32601 (method not found).";
    UnknownTask = "tasks/unknown-id", Check, Must, ONLY_2025_11_25, "basic/utilities/tasks#protocol-errors",
        "A request about an unknown task must get the error -32602.",
        "Answer with the error -32602 (invalid params).";
    InvalidTaskCursor = "tasks/invalid-cursor", Check, Must, ONLY_2025_11_25, "basic/utilities/tasks#protocol-errors",
        "A request for the list of tasks with an invalid cursor must get the error -32602.",
        "Answer with the error -32602 (invalid params).";
    FinalTaskCancelled = "tasks/final-cancelled", Check, Must, ONLY_2025_11_25, "basic/utilities/tasks#task-cancellation",
        "The cancellation of a final task must get the error -32602.",
        "Refuse to cancel a task that is completed, failed or cancelled.";
    TaskResult = "tasks/result", Check, Must, ONLY_2025_11_25, "basic/utilities/tasks#result-retrieval",
        "The result of a task must be that of its request, and must come when the task is final.",
        "Let `tasks/result` wait for the end of the task, and return the result of the tool.";
    UnlistedTask = "tasks/unlisted", Check, Must, ONLY_2025_11_25, "basic/utilities/tasks#task-listing",
        "A task that `tasks/get` finds must be in the list of tasks.",
        "List every task of the client.";
    GuessableTask = "tasks/guessable-id", Check, Must, ONLY_2025_11_25, "basic/utilities/tasks#task-isolation-and-access-control",
        "Without authorization, the id of a task must have enough entropy to prevent guessing.",
        "Make a random id, such as a UUID of version 4, for each task.";
    SuperfluousRelatedTask = "tasks/superfluous-related-task", Traffic, Should, ONLY_2025_11_25, "basic/utilities/tasks#associating-task-related-messages",
        "A result of `tasks/get`, `tasks/list` or `tasks/cancel`, and a status notification, should not name a related task in its metadata.",
        "Add the metadata only to other messages of the task.";
    MissingStatusMessage = "tasks/status-message", Traffic, Should, ONLY_2025_11_25, "basic/utilities/tasks#task-execution-errors",
        "A failed task should have a `statusMessage`.",
        "Describe the failure in `statusMessage`.";

    // HTTP.
    WrongStatus = "http/wrong-status", Traffic, Must, STREAMABLE, "basic/transports/streamable-http#sending-messages",
        "The status of a response must be the one that the transport requires, such as 202 for a notification.",
        "Answer with the status that the section names.";
    UnexpectedBody = "http/unexpected-body", Traffic, Must, STREAMABLE, "basic/transports/streamable-http#sending-messages",
        "A response with status 202 must not have a body.",
        "Send status 202 without a body.";
    WrongContentType = "http/wrong-content-type", Traffic, Must, STREAMABLE, "basic/transports/streamable-http#sending-messages",
        "A successful response to a request must be JSON or an event stream, and one to a GET request an event stream.",
        "Set `Content-Type` to `application/json` or `text/event-stream`; answer GET requests with status 405 if there is no stream.";
    InvalidSessionId = "http/invalid-session-id", Traffic, Must, HTTP_SESSIONS, "basic/transports#session-management",
        "A session id must only have visible ASCII characters.",
        "Use only visible ASCII characters, for example a UUID.";
    DuplicateEventId = "http/duplicate-event-id", Traffic, Must, HTTP_SESSIONS, "basic/transports#resumability-and-redelivery",
        "The id of an event must be unique in its session.",
        "Count up the event ids over all streams of a session.";
    ResponseOnListeningStream = "http/response-on-listening-stream", Traffic, Must, HTTP_SESSIONS, "basic/transports#listening-for-messages-from-the-server",
        "A server must not send responses on the stream of a GET request that does not resume another stream.",
        "Send each response on the stream of its own request.";

    ForeignOrigin = "http/foreign-origin", Check, Must, ALL, "basic/transports/streamable-http#security-endpoint",
        "A request with the `Origin` of a foreign page must be refused, since 2025-11-25 with the status 403.",
        "Compare `Origin` with a list of allowed origins before anything else, and answer with status 403.";
    ReboundHost = "http/rebound-host", Check, Should, ALL, "basic/transports/streamable-http#security-endpoint",
        "A local server should refuse a page whose foreign name resolves to it, also if `Host` and `Origin` are equal.",
        "Compare `Origin` and `Host` with a list of allowed names, not with each other.";
    AllInterfaces = "http/all-interfaces", Check, Should, ALL, "basic/transports/streamable-http#security-endpoint",
        "A local server should listen only on the loopback interface.",
        "Bind to 127.0.0.1 instead of 0.0.0.0.";
    AcceptedGarbage = "http/accepted-garbage", Check, Must, STREAMABLE, "basic/transports/streamable-http#sending-messages",
        "A body that is not a message must be refused with an error status or a JSON-RPC error.",
        "Answer bodies that cannot be read with status 400 and the error -32700.";
    UnansweredBatch = "http/unanswered-batch", Check, Must, ONLY_2025_03_26, "basic/transports#sending-messages-to-the-server",
        "A batch must get the responses of all of its requests, and a batch without requests the status 202.",
        "Handle each message of a batch, and send one response for each request.";
    GuessableSession = "http/guessable-session-id", Check, Should, HTTP_SESSIONS, "basic/transports#session-management",
        "The id of a session should be globally unique and cryptographically secure.",
        "Make a random UUID for each session.";
    MissingSession = "http/missing-session-id", Check, Should, HTTP_SESSIONS, "basic/transports#session-management",
        "A server that requires a session id should refuse a request without one with the status 400.",
        "Answer requests without a session id with status 400.";
    UnknownSession = "http/unknown-session-id", Check, Should, HTTP_SESSIONS, "basic/transports#session-management",
        "A request with the id of a session that does not exist should be refused with the status 404.",
        "Answer requests with an unknown session id with status 404.";
    DeletedSession = "http/deleted-session", Check, Must, HTTP_SESSIONS, "basic/transports#session-management",
        "A request with the id of a session that has ended must be refused with the status 404.",
        "Forget a session when it ends, and answer requests with its id with status 404.";
    VersionHeader = "http/version-header", Check, Must, VERSION_HEADER, "basic/transports#protocol-version-header",
        "A request with an invalid or unsupported `MCP-Protocol-Version` must be refused with the status 400.",
        "Compare the header with the supported versions, and answer others with status 400.";
    MissingVersionHeader = "http/missing-version-header", Check, Should, VERSION_HEADER, "basic/transports#protocol-version-header",
        "A request without `MCP-Protocol-Version` should be treated as one of the session's version or of 2025-03-26.",
        "Accept requests without the header.";
    OpenStream = "http/open-stream", Check, Should, STREAMABLE, "basic/transports/streamable-http#receiving-messages",
        "The stream of a request should end after the response.",
        "Close the event stream after the response.";
    StreamWithoutResponse = "http/stream-without-response", Check, Should, STREAMABLE, "basic/transports/streamable-http#receiving-messages",
        "The stream of a request should have the response to this request before it ends.",
        "Send the response on the stream of its request before you close the stream.";
    Broadcast = "http/broadcast", Check, Must, HTTP_SESSIONS, "basic/transports#multiple-connections",
        "A message must be sent on only one of the connected streams.",
        "Choose one stream for each message.";
    ForeignReplay = "http/foreign-replay", Check, Must, HTTP_SESSIONS, "basic/transports#resumability-and-redelivery",
        "A resumed stream must not have messages that belong to a different stream.",
        "Remember the stream of each event, and replay only the events of the stream of `Last-Event-ID`.";
    MissingPriming = "http/missing-priming-event", Check, Should, ONLY_2025_11_25, "basic/transports#sending-messages-to-the-server",
        "A stream that has event ids should start with an event that has an id and empty data.",
        "Send an event with an id and empty data when a stream starts.";
    RelatedOnListening = "http/related-message", Check, Should, HTTP_SESSIONS, "basic/transports#listening-for-messages-from-the-server",
        "The stream of a GET request should not have messages that belong to a running request.",
        "Send the messages that belong to a request on the stream of this request.";
    HeaderMismatch = "http/header-mismatch", Check, Must, MODERN, "basic/transports/streamable-http#server-validation",
        "A request whose headers differ from its body must be refused with the status 400 and the error -32020.",
        "Compare each mirrored header with the body before you handle the request.";
    MissingHeader = "http/missing-header", Check, Must, MODERN, "basic/transports/streamable-http#server-validation",
        "A request without a required header must be refused with the status 400 and the error -32020.",
        "Require `MCP-Protocol-Version` and `Mcp-Method`, and `Mcp-Name` where the method needs it.";
    EncodedHeader = "http/encoded-header", Check, Must, MODERN, "basic/transports/streamable-http#value-encoding",
        "A header in the Base64 form must be decoded before it is compared with the body.",
        "Decode values between `=?base64?` and `?=` before you compare them.";
    HeaderNameCase = "http/header-name-case", Check, Must, MODERN, "basic/transports/streamable-http#case-sensitivity",
        "The names of headers must be compared without regard to case.",
        "Look headers up without regard to case.";
    ParameterHeader = "http/parameter-header", Check, Must, MODERN, "basic/transports/streamable-http#server-behavior-for-custom-headers",
        "A call whose `Mcp-Param` headers differ from its arguments must be refused with the status 400 and the error -32020, and one whose headers equal them must be accepted.",
        "Compare the header of each argument with `x-mcp-header` with the argument.";
    NumericHeader = "http/numeric-header", Check, Should, MODERN, "basic/transports/streamable-http#server-validation",
        "The header of an integer should be compared with the argument as a number.",
        "Parse the header as a number before you compare it.";
    UnsupportedVersionStatus = "http/unsupported-version", Check, Must, MODERN, "basic/transports/streamable-http#protocol-version-header",
        "A request of an unsupported version must be refused with the status 400 and the error -32022.",
        "Answer unsupported versions with status 400 and the error -32022 with the supported versions.";
    InvalidMetadataStatus = "http/invalid-metadata-status", Check, Must, MODERN, "basic#meta",
        "A request without a required field of `_meta` must be refused with the status 400.",
        "Answer requests without the required fields of `_meta` with status 400 and the error -32602.";
    LegacyMethods = "http/legacy-methods", Check, Should, MODERN, "basic/transports/streamable-http#earlier-streamable-http-revisions",
        "A server without earlier revisions should answer GET and DELETE requests with the status 405.",
        "Answer GET and DELETE with status 405.";
    LegacyHeaders = "http/legacy-headers", Check, Should, MODERN, "basic/transports/streamable-http#earlier-streamable-http-revisions",
        "A server without earlier revisions should ignore session ids and `Last-Event-ID`, and should not assign session ids.",
        "Ignore the headers of earlier revisions, and send no `Mcp-Session-Id`.";
    BufferedStream = "http/buffered-stream", Check, Should, MODERN, "basic/transports/streamable-http#receiving-messages",
        "The response with an event stream should have the header `X-Accel-Buffering: no`.",
        "Add `X-Accel-Buffering: no` to event streams.";

    // HTTP+SSE.
    MissingEndpointEvent = "sse/endpoint-event", Check, Must, ONLY_2024_11_05, "basic/transports#http-with-sse",
        "An SSE connection must begin with an `endpoint` event with the URI for messages.",
        "Send the `endpoint` event first on every SSE connection.";
    WrongEventType = "sse/message-event", Check, Must, ONLY_2024_11_05, "basic/transports#http-with-sse",
        "A message of the server must be the data of a `message` event.",
        "Send each message as the data of an event of the type `message`.";

    // Authorization.
    Unauthorized = "authorization/missing-token", Check, Must, STREAMABLE, "basic/authorization#error-handling",
        "A request without a token must be refused with the status 401 if authorization is required.",
        "Check the token of every request, and answer with status 401 without one.";
    InvalidToken = "authorization/invalid-token", Check, Must, STREAMABLE, "basic/authorization#token-handling",
        "A request with an invalid token must be refused with the status 401.",
        "Verify the signature, the expiry and the audience of each token, and answer with status 401.";
    TokenInQuery = "authorization/token-in-query", Check, Must, STREAMABLE, "basic/authorization#token-requirements",
        "A token in the query of the URL must not authorize a request.",
        "Read the token only from the header `Authorization`.";
    MissingChallenge = "authorization/challenge", Check, Must, STREAMABLE, "basic/authorization#token-handling",
        "A response with the status 401 must have the header `WWW-Authenticate` with the scheme `Bearer`.",
        "Add `WWW-Authenticate: Bearer` to responses with status 401.";
    MissingMetadataUrl = "authorization/metadata-url", Check, Must, ONLY_2025_06_18, "basic/authorization#authorization-server-location",
        "The header `WWW-Authenticate` of a response with the status 401 must have the URL of the protected-resource metadata.",
        "Add `resource_metadata=\"…\"` to the header `WWW-Authenticate`.";
    MissingResourceMetadata = "authorization/resource-metadata", Check, Must, SINCE_2025_06_18, "basic/authorization/authorization-server-discovery#protected-resource-metadata-discovery-requirements",
        "A protected server must publish protected-resource metadata, at the URL of its challenge or at the well-known path.",
        "Serve the metadata (RFC 9728) as JSON at `/.well-known/oauth-protected-resource`.";
    MissingAuthorizationServers = "authorization/authorization-servers", Check, Must, SINCE_2025_06_18, "basic/authorization/authorization-server-discovery#authorization-server-location",
        "The protected-resource metadata must name at least one authorization server.",
        "Add `authorization_servers` with the URL of the issuer.";
    InvalidResource = "authorization/resource", Check, Must, SINCE_2025_06_18, "basic/authorization#canonical-server-uri",
        "The protected-resource metadata must name the server by an absolute URI without a fragment.",
        "Set `resource` to the URL of the MCP endpoint.";
    InsecureAuthorization = "authorization/insecure-url", Check, Must, STREAMABLE, "basic/authorization/security-considerations#communication-security",
        "The endpoints of an authorization server must use HTTPS, except on the loopback interface.",
        "Serve the authorization server over HTTPS.";
    MissingScope = "authorization/challenge-scope", Check, Should, SINCE_2025_11_25, "basic/authorization#scope-selection-strategy",
        "The header `WWW-Authenticate` of a response with the status 401 should name the required scopes.",
        "Add `scope=\"…\"` to the header `WWW-Authenticate`.";
    OfflineAccess = "authorization/offline-access", Check, Should, MODERN, "basic/authorization#refresh-tokens",
        "The challenge and the protected-resource metadata should not have the scope `offline_access`.",
        "Remove `offline_access`; a client asks the authorization server for it.";
    ScopeChallenge = "authorization/insufficient-scope", Check, Should, SINCE_2025_11_25, "basic/authorization#runtime-insufficient-scope-errors",
        "A request that needs more scopes should be refused with the status 403 and a challenge with `insufficient_scope`, the scopes and the metadata URL.",
        "Add `WWW-Authenticate: Bearer error=\"insufficient_scope\", scope=\"…\", resource_metadata=\"…\"`.";
    MissingServerMetadata = "authorization/server-metadata", Check, Must, STREAMABLE, "basic/authorization/authorization-server-discovery#authorization-server-metadata-discovery",
        "The authorization server must publish its metadata; in 2025-03-26 it may have the default endpoints `/authorize` and `/token` instead.",
        "Serve the metadata (RFC 8414) at `/.well-known/oauth-authorization-server`.";
    MissingPkce = "authorization/pkce", Check, Must, SINCE_2025_11_25, "basic/authorization/security-considerations#authorization-code-protection",
        "The metadata of the authorization server must say that it supports PKCE.",
        "Add `code_challenge_methods_supported` with `S256` to the metadata.";

    // Lists of tools, resources and prompts.
    ListFails = "lists/error", Check, Must, ALL, "server/tools#capabilities",
        "A server that declares tools, resources or prompts must answer the request for their list with a result.",
        "Answer the request with the list, which can be empty, or do not declare the capability.";
    ItemNotImplemented = "lists/unusable-item", Check, Must, ALL, "server/tools#calling-tools",
        "A server that lists a tool, a resource or a prompt must implement the method that uses it.",
        "Implement `tools/call`, `resources/read` and `prompts/get` for the items that you list.";
    VaryingList = "lists/varies", Check, Must, MODERN, "server/tools#capabilities",
        "The list of tools, resources or prompts must not depend on the connection or on other requests.",
        "Return the same list on every connection.";
    EndlessList = "pagination/endless", Check, Must, ALL, "server/utilities/pagination#response-format",
        "A list must end: no page must have the cursor of an earlier page.",
        "Leave out `nextCursor` on the last page, and return the results after the cursor.";
    RepeatedItem = "pagination/repeated-item", Check, Should, ALL, "server/utilities/pagination#request-format",
        "A page should only have results after its cursor, none of an earlier page.",
        "Start each page after the last result of the page before.";
    UnstableCursor = "pagination/unstable-cursor", Check, Should, ALL, "server/utilities/pagination#implementation-guidelines",
        "A cursor should be stable: it should give the same page again.",
        "Encode the position in the cursor, and keep cursors valid.";
    InvalidCursor = "pagination/invalid-cursor", Check, Should, ALL, "server/utilities/pagination#error-handling",
        "A request with an invalid cursor should get the error -32602.",
        "Refuse cursors that you did not send with the error -32602 (invalid params).";

    // Tools.
    UnlistedTool = "tools/unlisted", Traffic, Must, ALL, NONE,
        "A called tool must be in the result of `tools/list`.",
        "List every tool that can be called.";
    OutputSchema = "tools/output-schema", Traffic, Must, SINCE_2025_06_18, "server/tools#output-schema",
        "The structured content of a result must conform to the tool's output schema.",
        "Return what the output schema declares, or correct the schema.";

    InvalidToolName = "tools/name", Traffic, Should, SINCE_2025_11_25, "server/tools#tool-names",
        "The name of a tool should have 1 to 128 ASCII letters, digits and `_-.`.",
        "Rename the tool with ASCII letters, digits and `_-.`.";
    DuplicateToolName = "tools/duplicate-name", Traffic, Should, SINCE_2025_11_25, "server/tools#tool-names",
        "The name of a tool should be unique within its server.",
        "Give each tool its own name.";
    MissingStructuredText = "tools/structured-text", Traffic, Should, SINCE_2025_06_18, "server/tools#structured-content",
        "A result with structured content should also have a text block with its JSON.",
        "Add a text block with the JSON of the structured content.";
    UndeclaredResources = "tools/embedded-resource", Traffic, Should, SINCE_2025_06_18, "server/tools#embedded-resources",
        "A server whose tools return embedded resources should declare the capability `resources`.",
        "Declare the capability `resources`.";
    ToolOrder = "tools/order", Check, Should, MODERN, "server/tools#capabilities",
        "The tools should be in the same order in every list.",
        "Sort the tools, or keep them in the order of their definition.";
    UnknownToolAccepted = "tools/unknown-tool", Check, Must, ALL, "server/tools#error-handling",
        "A call of an unknown tool must not succeed.",
        "Answer with the error -32602 (invalid params).";
    UnknownToolResult = "tools/unknown-tool-result", Check, Should, ALL, "server/tools#error-handling",
        "A call of an unknown tool should get a JSON-RPC error, not a result.",
        "Answer with the error -32602 (invalid params), and keep `isError` for errors of a tool.";
    MalformedCall = "tools/malformed-call", Check, Must, ALL, "server/tools#error-handling",
        "A call whose params are malformed must get an error.",
        "Validate `name` and `arguments`, and answer with the error -32602 (invalid params).";
    ToolErrorResponse = "tools/error-response", Check, Should, ALL, "server/tools#error-handling",
        "An error of a tool should be a result with `isError`, not a JSON-RPC error.",
        "Catch errors in the tool, and return them as a result with `isError`.";
    UnknownToolCode = "tools/unknown-tool-code", Check, Should, MODERN, "schema#invalidparamserror",
        "A call of an unknown tool should get the error -32602.",
        "Answer with the error -32602 (invalid params).";
    CaseInsensitiveToolName = "tools/name-case", Check, Should, SINCE_2025_11_25, "server/tools#tool-names",
        "The names of tools should be case-sensitive.",
        "Compare the name of a call with the names of the tools exactly.";
    SensitiveHeader = "tools/sensitive-header", Check, Should, MODERN, "server/tools#x-mcp-header",
        "A sensitive parameter should not be mirrored into a header.",
        "Remove `x-mcp-header` from parameters with passwords, keys or tokens.";

    // Content, and the metadata of items.
    InvalidLastModified = "content/last-modified", Traffic, Should, SINCE_2025_06_18, "server/resources#annotations",
        "The annotation `lastModified` should be an ISO 8601 timestamp.",
        "Write a timestamp such as `2025-01-12T15:00:58Z`.";
    InvalidIconSource = "content/icon-source", Traffic, Should, SINCE_2025_11_25, "basic#icons",
        "The source of an icon should be an HTTP or HTTPS URL, or a `data:` URI.",
        "Serve the icon over HTTPS, or write its data into the URI.";
    InvalidIconSize = "content/icon-size", Traffic, Should, SINCE_2025_11_25, "basic#icons",
        "The size of an icon should be `any` or a width and a height such as `48x48`.",
        "Write each size as width, `x` and height.";

    // Resources.
    ResourceNotFound = "resources/not-found", Check, Must, MODERN, "server/resources#error-handling",
        "A request to read an unknown resource must get the error -32602.",
        "Answer with the error -32602 (invalid params).";
    EmptyContents = "resources/empty-contents", Check, Must, MODERN, "server/resources#error-handling",
        "A server must not return empty contents for an unknown resource.",
        "Answer with the error -32602 (invalid params).";
    ResourceNotFoundCode = "resources/not-found-code", Check, Should, LEGACY, "server/resources#error-handling",
        "A request to read an unknown resource should get the error -32002.",
        "Answer with the error -32002 (resource not found).";
    MalformedRead = "resources/malformed-read", Check, Must, ALL, "server/resources#security-considerations",
        "A request to read without a valid URI must get an error.",
        "Validate the URI, and answer with the error -32602 (invalid params).";
    PathTraversal = "resources/path-traversal", Check, Must, ALL, "server/resources#security-considerations",
        "A server must not serve a `file://` URI that leaves its folder through `..`.",
        "Resolve the path, and refuse it if it is outside of the folders that you serve.";
    UnreadableResource = "resources/unreadable", Check, Lint, ALL, NONE,
        "A listed resource should be found when it is read.",
        "List only resources that can be read.";
    BinaryText = "resources/binary-text", Check, Must, ALL, "schema#textresourcecontents",
        "A resource must only have `text` if it can be represented as text.",
        "Send images, audio, video and other binary data as a base64 `blob`.";
    TemplateMediaType = "resources/template-media-type", Check, Should, ALL, "schema#resourcetemplate",
        "The MIME type of a template should be that of all its resources.",
        "Correct the MIME type of the template, or leave it out.";


    // Prompts.
    MissingResourceMediaType = "prompts/resource-media-type", Traffic, Must, ALL, "server/prompts#embedded-resources",
        "A resource in a message of a prompt must have a MIME type.",
        "Add `mimeType` to the resource.";
    UnvalidatedPrompt = "prompts/unvalidated", Check, Must, ALL, "server/prompts#security",
        "A request for an unknown prompt, or with malformed params, must not succeed.",
        "Validate `name` and `arguments`, and answer with the error -32602 (invalid params).";
    UnknownPrompt = "prompts/unknown-prompt", Check, Should, ALL, "server/prompts#error-handling",
        "A request for an unknown prompt should get the error -32602.",
        "Answer with the error -32602 (invalid params).";
    MissingPromptArgument = "prompts/missing-argument", Check, Should, ALL, "server/prompts#error-handling",
        "A request for a prompt without a required argument should get the error -32602.",
        "Validate the arguments, and answer with the error -32602 (invalid params).";

    // Completion.
    CompletionNotImplemented = "completion/not-implemented", Check, Must, SINCE_2025_03_26, "server/utilities/completion#capabilities",
        "A server that declares completions must implement `completion/complete`.",
        "Implement the method, or do not declare the capability.";
    CompletionUnsupported = "completion/undeclared-code", Check, Should, SINCE_2025_03_26, "server/utilities/completion#error-handling",
        "A server without completions should answer `completion/complete` with the error -32601.",
        "Answer with the error -32601 (method not found).";
    CompletionTotal = "completion/total", Traffic, Must, ALL, "server/utilities/completion#completion-results",
        "`total` and `hasMore` of a completion must not contradict the number of its values.",
        "Count all matches in `total`, and set `hasMore` if there are more than you send.";
    UnvalidatedCompletion = "completion/unvalidated", Check, Must, ALL, "server/utilities/completion#security",
        "A malformed request for completions must not succeed.",
        "Validate `ref` and `argument`, and answer with the error -32602 (invalid params).";
    CompletionErrorCode = "completion/error-code", Check, Should, SINCE_2025_03_26, "server/utilities/completion#error-handling",
        "A completion for an unknown prompt or without an argument should get the error -32602.",
        "Answer with the error -32602 (invalid params).";

    // Definitions, as hosts, models and users read them.
    InvalidSchema = "definitions/invalid-schema", Check, Lint, UNTIL_2025_06_18, NONE,
        "The schemas of a tool should be valid JSON Schemas of their draft.",
        "Correct the schema; JSON Schema has the types array, boolean, integer, null, number, object and string.";
    InvalidPattern = "definitions/pattern", Check, Lint, ALL, NONE,
        "The patterns of a schema should be regular expressions.",
        "Correct the regular expression, and escape its backslashes in JSON.";
    UnresolvedReference = "definitions/unresolved-reference", Check, Lint, ALL, NONE,
        "A `$ref` of a schema should name a part of the same schema.",
        "Add the missing definition below `$defs`, or write the schema in the place of the `$ref`.";
    ExternalReference = "definitions/external-reference", Check, Lint, ALL, NONE,
        "A `$ref` of a schema should not name another document.",
        "Copy the definition below `$defs`: clients do not fetch other documents.";
    UndeclaredRequired = "definitions/required", Check, Lint, ALL, NONE,
        "A required property should be one of the properties of its schema.",
        "Declare the property below `properties`, or remove it from `required`.";
    WrongEnum = "definitions/enum", Check, Lint, ALL, NONE,
        "The values of an `enum` should be different, and at least one.",
        "List each allowed value once.";
    ImpossibleSchema = "definitions/impossible", Check, Lint, ALL, NONE,
        "A schema should allow at least one value.",
        "Correct the limits: the smallest must not be above the largest.";
    WrongDefault = "definitions/default", Check, Lint, ALL, NONE,
        "The `default` of a schema should conform to this schema.",
        "Correct the default, or allow its type in the schema.";
    WrongExample = "definitions/example", Check, Lint, ALL, NONE,
        "The `examples` of a schema should conform to this schema.",
        "Correct the example, or the schema.";
    ToolNameCharacters = "definitions/tool-name", Check, Lint, UNTIL_2025_06_18, NONE,
        "The name of a tool should only have ASCII letters, digits and `_-.`.",
        "Rename the tool with ASCII letters, digits and `_-.`: many models accept no others.";
    LongToolName = "definitions/tool-name-length", Check, Lint, ALL, NONE,
        "The name of a tool should have at most 64 characters with the prefix that hosts add.",
        "Shorten the name of the tool: many models accept at most 64 characters.";
    CollidingToolNames = "definitions/tool-name-collision", Check, Lint, ALL, NONE,
        "The names of tools should differ in more than upper case and punctuation.",
        "Rename one of the tools: hosts replace characters that models do not accept.";
    MissingToolDescription = "definitions/tool-description", Check, Lint, ALL, NONE,
        "A tool should have a description.",
        "Describe what the tool does and when to use it.";
    MissingParameterDescription = "definitions/parameter-description", Check, Lint, ALL, NONE,
        "A parameter of a tool should have a description.",
        "Describe the parameter in its schema.";
    MissingPromptDescription = "definitions/prompt-description", Check, Lint, ALL, NONE,
        "A prompt should have a description.",
        "Describe the purpose of the prompt.";
    MissingArgumentDescription = "definitions/prompt-argument-description", Check, Lint, ALL, NONE,
        "An argument of a prompt should have a description.",
        "Describe the argument of the prompt.";
    MissingResourceDescription = "definitions/resource-description", Check, Lint, ALL, NONE,
        "A resource should have a description if most resources of the server have one.",
        "Describe the contents of the resource.";
    ContradictingAnnotations = "definitions/annotations", Check, Lint, SINCE_2025_03_26, NONE,
        "The annotations of a tool should not contradict each other or its name.",
        "Set `destructiveHint` only on tools that change something, and `readOnlyHint` only on tools that do not.";
    DuplicateDefinition = "definitions/duplicate", Check, Lint, ALL, NONE,
        "A list should have each prompt, argument of a prompt, resource and template once.",
        "List each item once, with its own name or URI.";

    // The cost of definitions.
    TooManyTokens = "cost/tokens", Check, Must, ALL, NONE,
        "The definitions of all tools together must not have more tokens than the given limit.",
        "Shorten the largest descriptions and schemas, or offer fewer tools.";
    LargeDefinition = "cost/large-definition", Check, Lint, ALL, NONE,
        "The definition of one tool should not have more than 8000 tokens.",
        "Shorten the description and the schema of the tool, or split the tool.";

    // The safety of definitions.
    HiddenCharacters = "safety/hidden-characters", Check, Lint, ALL, NONE,
        "The texts of definitions should not have characters that a user cannot see.",
        "Remove the invisible characters.";
    DirectionCharacters = "safety/direction-characters", Check, Lint, ALL, NONE,
        "The texts of definitions should not have characters that change the direction of text.",
        "Remove the characters that change the direction.";
    ControlCharacters = "safety/control-characters", Check, Lint, ALL, NONE,
        "The texts of definitions should not have control characters besides tabs and line breaks.",
        "Remove the control characters.";
    SuspiciousInstruction = "safety/instruction", Check, Lint, ALL, NONE,
        "The texts of definitions should not instruct the model to hide, read or send things.",
        "Describe the tool, and leave the model's other actions to the user.";
    LookalikeName = "safety/lookalike-name", Check, Lint, ALL, NONE,
        "A name should not mix alphabets, and should not look like another name.",
        "Write names in one alphabet, best in ASCII.";
    DataLink = "safety/data-link", Check, Lint, ALL, NONE,
        "The texts of definitions should not have links or images that carry data out.",
        "Remove the link, or its placeholders.";
    SecretInDefinition = "safety/secret", Check, Lint, ALL, NONE,
        "The texts of definitions should not have secrets.",
        "Remove the secret, and revoke it.";
    ChangedDefinition = "safety/changed-definition", Check, Lint, ALL, NONE,
        "The definitions of a server should not change without a notification.",
        "Keep the definitions, or send `notifications/tools/list_changed` or `notifications/prompts/list_changed`.";

    // Generated arguments.
    ArgumentsCrash = "arguments/crash", Check, Must, ALL, NONE,
        "A server must not end because of the arguments of a call.",
        "Catch errors in the tool, and return them as a result with `isError`.";
    ArgumentsHang = "arguments/hang", Check, Must, ALL, NONE,
        "A server must answer calls with valid arguments in time, also with unusual ones.",
        "Limit the work of the tool, and return a result with `isError` if it takes too long.";
    ArgumentsInternalError = "arguments/internal-error", Check, Lint, ALL, NONE,
        "A call with valid arguments should not get the error -32603, if other calls of the tool succeed.",
        "Catch errors in the tool, and return them as a result with `isError`.";
    InvalidArgumentsAccepted = "arguments/invalid-accepted", Check, Must, ALL, "server/tools#security-considerations",
        "A server must validate the arguments of a call against the input schema.",
        "Validate the arguments before the tool uses them, and answer with the error -32602 or a result with `isError`.";
    ArgumentLimitIgnored = "arguments/limit-ignored", Check, Should, ALL, "server/tools#security-considerations",
        "A server should validate the lengths, ranges and patterns of arguments that the input schema declares.",
        "Validate the limits too, or remove from the input schema what the tool does not need.";
    ExtraArgumentAccepted = "arguments/extra-accepted", Check, Lint, ALL, NONE,
        "A call with an argument that the input schema forbids should fail.",
        "Reject unknown arguments, or allow them with `additionalProperties: true`.";

    // Expectations of a suite and of a scripted LLM.
    Unanswered = "suite/unanswered", Traffic, Must, ALL, NONE,
        "An `answer` of the step must cover every request of the server.",
        "Add an `answer` to the step.";
    UnexpectedTurn = "llm/unexpected-turn", Traffic, Must, ALL, NONE,
        "A request to a scripted LLM must be the next turn of its script.",
        "Correct the script, or the request of the agent.";
    InvalidLlmRequest = "llm/invalid-request", Traffic, Must, ALL, NONE,
        "A request to a scripted LLM must be valid for its API.",
        "Correct the request of the agent.";
}
