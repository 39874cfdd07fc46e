//! The features of servers: tools, resources, prompts, completion, logging, pagination and
//! caching.

use super::requirements;

requirements! {
    "server/tools#capabilities", Must, ALL,
        "A server with tools declares the capability `tools`.",
        [Undeclared];
    "server/tools#capabilities", Must, ALL,
        "A server that declares tools answers `tools/list`.",
        [ListFails];
    "server/tools#capabilities", Must, MODERN,
        "The list of tools does not depend on the connection or on other requests.",
        [VaryingList];
    "server/tools#capabilities", Should, MODERN,
        "Tools are in the same order in every list.",
        [ToolOrder];
    "server/tools#list-changed-notification", Should, ALL,
        "A server that declares `listChanged` announces a changed list.",
        [MissingListChanged];
    "server/tools#calling-tools", Must, ALL,
        "A listed tool can be called, and only a listed one.",
        [ItemNotImplemented, UnlistedTool];
    "server/tools#tool", Must, SINCE_2025_11_25,
        "The input schema of a tool is a JSON Schema object.",
        [MissingField, WrongType, InvalidJsonSchema];
    "server/tools#tool-names", Should, SINCE_2025_11_25,
        "The name of a tool has 1 to 128 letters, digits and `_-.`.",
        [InvalidToolName];
    "server/tools#tool-names", Should, SINCE_2025_11_25,
        "The name of a tool is unique in its server.",
        [DuplicateToolName];
    "server/tools#x-mcp-header", Must, MODERN,
        "`x-mcp-header` is a unique field name of a parameter with a primitive type that every call can reach.",
        [MissingField, WrongType, WrongValue];
    "server/tools#x-mcp-header", Should, MODERN,
        "A sensitive parameter is not mirrored into a header.",
        [SensitiveHeader];
    "server/tools#embedded-resources", Should, SINCE_2025_06_18,
        "A server whose tools return embedded resources declares `resources`.",
        [UndeclaredResources];
    "server/tools#structured-content", Should, SINCE_2025_06_18,
        "A result with structured content also has a text block with its JSON.",
        [MissingStructuredText];
    "server/tools#output-schema", Must, SINCE_2025_06_18,
        "Structured content conforms to the tool's output schema.",
        [OutputSchema];
    "server/tools#error-handling", Should, ALL,
        "An unknown tool and malformed requests get a JSON-RPC error, an error of a tool a result with `isError`.",
        [UnknownToolAccepted, UnknownToolResult, MalformedCall, ToolErrorResponse];
    "server/tools#security-considerations", Must, ALL,
        "A server validates the arguments of tools.",
        [InvalidArgumentsAccepted, ArgumentsCrash];
    "server/tools#security-considerations", Must, ALL,
        "A server has access controls, limits the rate of calls, and sanitizes the output of tools.",
        ("Which access and which rate are right cannot be seen.");

    "server/resources#capabilities", Must, ALL,
        "A server with resources declares the capability `resources`.",
        [Undeclared];
    "server/resources#capabilities", Must, ALL,
        "A server that declares resources answers `resources/list`.",
        [ListFails];
    "server/resources#capabilities", Must, MODERN,
        "The list of resources does not depend on the connection or on other requests.",
        [VaryingList];
    "server/resources#list-changed-notification", Should, ALL,
        "A server that declares `listChanged` announces a changed list.",
        [MissingListChanged];
    "server/resources#subscriptions", Must, LEGACY,
        "A server that declares `subscribe` accepts subscriptions to a resource, and their end.",
        [RefusedSubscription, UnrequestedUpdate];
    "server/resources#common-uri-schemes", Should, ALL,
        "A server uses `https` only for resources that a client can load from the web itself.",
        ("A check does not use the web.");
    "server/resources#custom-uri-schemes", Must, SINCE_2025_06_18,
        "A URI of a resource is a valid URI.",
        [InvalidUri];
    "server/resources#error-handling", Must, MODERN,
        "An unknown resource gets the error -32602, never empty contents.",
        [ResourceNotFound, EmptyContents];
    "server/resources#error-handling", Should, LEGACY,
        "An unknown resource gets the error -32002.",
        [ResourceNotFoundCode];
    "server/resources#error-handling", Should, ALL,
        "An internal error has the code -32603.",
        ("A check cannot cause an internal error on purpose.");
    "server/resources#security-considerations", Must, ALL,
        "A server validates the URIs of requests.",
        [MalformedRead];
    "server/resources#security-considerations", Must, MODERN,
        "A server does not leave its folder through `..`.",
        [PathTraversal];
    "server/resources#security-considerations", Must, ALL,
        "Binary data are encoded properly.",
        [InvalidBase64];
    "server/resources#security-considerations", Should, ALL,
        "A server checks permissions, and protects sensitive resources.",
        ("Which access is right cannot be seen.");

    "server/prompts#capabilities", Must, ALL,
        "A server with prompts declares the capability `prompts`.",
        [Undeclared];
    "server/prompts#capabilities", Must, MODERN,
        "A server that declares prompts answers `prompts/list`, and the list does not depend on the connection.",
        [ListFails, VaryingList];
    "server/prompts#list-changed-notification", Should, ALL,
        "A server that declares `listChanged` announces a changed list.",
        [MissingListChanged];
    "server/prompts#image-content", Must, ALL,
        "Images and audio are base64 and have a valid MIME type.",
        [InvalidBase64, InvalidMediaType];
    "server/prompts#embedded-resources", Must, ALL,
        "An embedded resource has a URI, a MIME type, and text or a blob.",
        [MissingResourceMediaType, MissingField, InvalidUri];
    "server/prompts#error-handling", Should, ALL,
        "An unknown prompt and missing arguments get the error -32602.",
        [UnknownPrompt, MissingPromptArgument];
    "server/prompts#implementation-considerations", Should, ALL,
        "A server validates the arguments of prompts.",
        [MissingPromptArgument];
    "server/prompts#security", Must, ALL,
        "A server validates all inputs of prompts.",
        [UnvalidatedPrompt];

    "server/utilities/completion#capabilities", Must, SINCE_2025_03_26,
        "A server with completions declares `completions`, and implements them.",
        [CompletionNotImplemented, Undeclared];
    "server/utilities/completion#completion-results", Must, ALL,
        "A completion has at most 100 values, and `total` and `hasMore` fit them.",
        [CompletionTotal, WrongValue, WrongType];
    "server/utilities/completion#error-handling", Should, SINCE_2025_03_26,
        "A server without completions answers with -32601; an unknown prompt and a missing argument get -32602.",
        [CompletionUnsupported, CompletionErrorCode];
    "server/utilities/completion#security", Must, ALL,
        "A server validates the inputs of completions.",
        [UnvalidatedCompletion];
    "server/utilities/completion#security", Must, ALL,
        "A server limits the rate of completions, and controls access to sensitive suggestions.",
        ("Which access and which rate are right cannot be seen.");
    "server/utilities/completion#implementation-considerations", Should, ALL,
        "Suggestions are sorted by relevance, and fuzzy where it helps.",
        ("Only a person can judge the relevance.");

    "server/utilities/logging#capabilities", Must, ALL,
        "A server that sends log messages declares `logging`.",
        [Undeclared];
    "server/utilities/logging#setting-log-level", Must, LEGACY,
        "A server that declares `logging` accepts every level.",
        [RefusedLogLevel];
    "server/utilities/logging#setting-log-level", Should, LEGACY,
        "A server sends no messages below the level that the client has set.",
        [LogBelowSetLevel];
    "server/utilities/logging#per-request-log-level", Must, MODERN,
        "A server sends messages only for requests that name a level, from this level on, and not on subscriptions.",
        [LogBelowLevel, InvalidSubscription];
    "server/utilities/logging#error-handling", Should, ALL,
        "An invalid level gets the error -32602.",
        [InvalidLogLevel];
    "server/utilities/logging#implementation-considerations", Should, ALL,
        "A server limits the rate of messages, and uses consistent names of loggers.",
        ("The specification names no rate.");
    "server/utilities/logging#security", Must, ALL,
        "Log messages contain no credentials, no personal data and no internal details.",
        [SensitiveLog];

    "server/utilities/pagination#response-format", Must, ALL,
        "A missing cursor ends a list.",
        [EndlessList, RepeatedItem];
    "server/utilities/pagination#implementation-guidelines", Should, ALL,
        "Cursors are stable.",
        [UnstableCursor];
    "server/utilities/pagination#error-handling", Should, ALL,
        "An invalid cursor gets the error -32602.",
        [InvalidCursor];

    "server/utilities/caching#cacheable-results", Must, MODERN,
        "Lists, reads of resources and `server/discover` have caching hints.",
        [MissingField];
    "server/utilities/caching#cacheable-results", Must, MODERN,
        "A result that requires input has no caching hints.",
        [InterimCacheHints];
    "server/utilities/caching#time-to-live-ttl-field", Must, MODERN,
        "`ttlMs` is not negative.",
        [WrongValue, WrongType];
    "server/utilities/caching#interaction-with-pagination", Must, MODERN,
        "All pages of a list have the same `cacheScope`.",
        [CacheScopeChanged];
    "server/utilities/caching#security-considerations", Must, MODERN,
        "A result with the scope `public` is the same for all users.",
        ("A check has the credentials of one user only.");

    "schema#resourcetemplate", Must, ALL,
        "The template of a resource is a URI template.",
        [InvalidUriTemplate];
    "schema#resourcetemplate", Should, ALL,
        "The MIME type of a template is that of all its resources.",
        [TemplateMediaType];
    "schema#resource", Should, ALL,
        "The MIME type of a resource has a type and a subtype.",
        [InvalidResourceMediaType];
    "schema#annotations", Should, SINCE_2025_06_18,
        "`lastModified` is an ISO 8601 timestamp.",
        [InvalidLastModified];
    "schema#icon", Should, SINCE_2025_11_25,
        "The size of an icon is `any`, or a width and a height.",
        [InvalidIconSize];
}
