//! Messages of JSON-RPC, metadata and schemas: the page `basic`.

use super::requirements;

requirements! {
    "basic#messages", Must, ALL,
        "Every message is a JSON-RPC 2.0 message.",
        [NotJson, NotAnObject, WrongJsonrpc, EmptyMessage, RequestAndResponse, MethodWrongType,
         ParamsWrongType, ByteOrderMark];
    "basic#messages", Must, ALL,
        "Every message conforms to the schema of the revision.",
        [MissingField, WrongType, WrongValue, NotInRevision, WrongDirection];
    "basic#requests", Must, ALL,
        "A request has a string or an integer as its id, never null.",
        [IdNull, IdMissing, IdWrongType, IdFractional];
    "basic#requests", Must, ALL,
        "A side does not use the id of one of its earlier requests again.",
        [IdReused];
    "basic#result-responses", Must, ALL,
        "A result has the id of its request.",
        [UnknownResponse, ResponseIdType, DuplicateResponse, NoAnswer];
    "basic#result-responses", Must, ALL,
        "A response has either a result or an error, and a result is an object.",
        [ResultAndError, EmptyMessage, ResultWrongType];
    "basic#result-responses", Must, MODERN,
        "A result has a `resultType`.",
        [MissingField];
    "basic#resulttype", Must, MODERN,
        "`resultType` is one of the protocol's types, or one of an extension that both sides declare.",
        [WrongResultType];
    "basic#error-responses", Must, ALL,
        "An error has the id of its request, unless the id could not be read.",
        [UnidentifiedError, UnknownResponse];
    "basic#error-responses", Must, ALL,
        "An error has a message and an integer code.",
        [ErrorMalformed];
    "basic#error-codes", Must, MODERN,
        "A server does not use codes that the protocol reserves, has removed, or has given another meaning.",
        [WrongErrorCode];
    "basic#error-codes", Should, MODERN,
        "New codes of an implementation are outside of the ranges of JSON-RPC and of the protocol.",
        [WrongErrorCode];
    "basic#error-codes", Must, ALL,
        "A request with an unknown method gets the error -32601.",
        [UnknownMethod];
    "basic#error-codes", Should, ALL,
        "A method of a capability that the server does not declare gets the error -32601.",
        [UndeclaredMethod];
    "basic#error-codes", Must, ALL,
        "A message that is not JSON, and one that is not a valid request, get an error, and the connection survives them.",
        [ParseError, InvalidRequest, BrokenMessage];
    "basic#error-codes", Must, ALL,
        "A request with invalid params gets an error.",
        [InvalidParams, InvalidParamsCode];
    "basic#notifications", Must, ALL,
        "A notification gets no response.",
        [AnsweredNotification];
    "basic#notifications", Must, ALL,
        "A notification has no id.",
        [WrongValue];
    "basic#batching", Must, ONLY_2025_03_26,
        "A server accepts batches.",
        [Batch, UnansweredBatch];
    "basic#batching", Must, ONLY_2025_03_26,
        "A batch has at least one message.",
        [EmptyBatch];
    "basic#statelessness", Must, MODERN,
        "A server does not rely on earlier requests of the same connection.",
        [Stateful];
    "basic#statelessness", Must, MODERN,
        "State that requests share is named by an explicit identifier in these requests.",
        [Stateful];
    "basic#statelessness", Should, MODERN,
        "A server does not need the client to use the same connection or process again.",
        [Stateful, VaryingList];
    "basic#auth", Should, SINCE_2025_03_26,
        "A server over HTTP follows the authorization of the specification; one over stdio takes credentials from its environment.",
        ("Whether a server needs authorization is its own choice; the pages of authorization have their rules.");
    "basic#schema-dialect", Must, SINCE_2025_11_25,
        "A server supports JSON Schema 2020-12.",
        [InvalidJsonSchema];
    "basic#implementation-requirements", Must, SINCE_2025_11_25,
        "A server validates schemas in their dialect, and returns an error for a dialect that it does not support.",
        ("A client sends no schemas that a server must validate, besides in sampling.");
    "basic#schema-validation", Must, SINCE_2025_11_25,
        "A schema is valid in its dialect.",
        [InvalidJsonSchema];
    "basic#ref-resolution", Must, MODERN,
        "An implementation does not fetch a `$ref` to another document by default.",
        ("The schemas of a server are its own. A schema that needs another document is reported as `definitions/external-reference`.");
    "basic#composition-keyword-resource-use", Should, MODERN,
        "An implementation limits the work of validation.",
        ("A client sends no schemas that a server must validate.");
    "basic#meta", Must, SINCE_2025_06_18,
        "A key of `_meta` has a valid prefix and a valid name, and reserved prefixes are only for the protocol.",
        [InvalidMetaKey, ReservedMetaKey];
    "basic#meta", Must, SINCE_2025_06_18,
        "An implementation makes no assumptions about the values of reserved keys.",
        [UnknownField];
    "basic#meta", Must, MODERN,
        "A request without a required field of `_meta` gets the error -32602, over HTTP with the status 400.",
        [MissingMeta, InvalidMetadataStatus];
    "basic#meta", Must, MODERN,
        "A server accepts a request without `clientInfo`.",
        [RequiredClientInfo];
    "basic#meta", Must, MODERN,
        "A server does not use capabilities that the client has not declared in the request.",
        [Undeclared];
    "basic#meta", Must, MODERN,
        "A request that cannot be processed without a capability of the client gets the error -32021, over HTTP with the status 400.",
        [Undeclared, WrongErrorCode, WrongStatus];
    "basic#meta", Should, MODERN,
        "Every result has `serverInfo` in its `_meta`.",
        [MissingServerInfo];
    "basic#meta", Must, MODERN,
        "Every notification of a subscription has the id of the subscription in its `_meta`.",
        [InvalidSubscription];
    "basic#meta", Must, MODERN,
        "The values of `traceparent`, `tracestate` and `baggage` follow the formats of the W3C.",
        [InvalidTraceContext];
    "basic#icons", Must, SINCE_2025_11_25,
        "The source of an icon is an HTTP or HTTPS URL, or a `data:` URI.",
        [InvalidIconSource, InvalidUri];
}
