//! Messages, the lifecycle, and what a server declares: the areas `wire` to `stdio`.

macro_rules! message_rules {
    ($next:ident, $($rest:tt)*) => {
        $next! {
            $($rest)*

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
                "A server must accept unknown fields in params, unknown keys of `_meta`, unknown capabilities of the client, and requests with and without optional fields.",
                "Ignore the fields that you do not know, and require only those that the schema requires.";

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
                "A side should only use features that the other side or itself has declared.",
                "Declare the capability, or do not use the feature.";
            InvalidExtension = "capabilities/extension-name", Traffic, Must, MODERN, "basic/versioning#extension-negotiation",
                "The name of an extension must be a valid key of `_meta` with a prefix.",
                "Name the extension with a prefix, such as `com.example/feature`.";
            LongLine = "stdio/long-line", Check, Should, ALL, NONE,
                "A server should read messages of any common length.",
                "Read lines without a fixed limit, or with one of several megabytes.";
        }
    };
}
