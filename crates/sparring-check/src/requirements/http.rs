//! Streamable HTTP and HTTP+SSE.

use super::requirements;

requirements! {
    "basic/transports/streamable-http#sending-messages", Must, SINCE_2025_03_26,
        "A server has one path for all messages.",
        [WrongStatus];
    "basic/transports/streamable-http#security-endpoint", Must, ALL,
        "A server checks `Origin`, so that a web page cannot reach it by DNS rebinding.",
        [ForeignOrigin, ReboundHost];
    "basic/transports/streamable-http#security-endpoint", Must, SINCE_2025_11_25,
        "A request with an invalid `Origin` gets the status 403.",
        [ForeignOrigin];
    "basic/transports/streamable-http#security-endpoint", Should, ALL,
        "A local server listens only on the loopback interface.",
        [AllInterfaces];
    "basic/transports/streamable-http#security-endpoint", Should, ALL,
        "A server authenticates its clients.",
        ("Whether a server needs authorization is its own choice; the pages of authorization have their rules.");
    "basic/transports/streamable-http#sending-messages", Must, SINCE_2025_03_26,
        "An accepted notification or response gets the status 202 without a body.",
        [WrongStatus, UnexpectedBody];
    "basic/transports/streamable-http#sending-messages", Must, SINCE_2025_03_26,
        "A message that a server does not accept gets an error status.",
        [AcceptedGarbage, WrongStatus];
    "basic/transports/streamable-http#sending-messages", Must, SINCE_2025_03_26,
        "A request gets JSON or an event stream.",
        [WrongContentType];
    "basic/transports#sending-messages-to-the-server", Must, ONLY_2025_03_26,
        "A batch with requests gets JSON or an event stream, and one without requests the status 202.",
        [UnansweredBatch];
    "basic/transports#sending-messages-to-the-server", Should, ONLY_2025_11_25,
        "A stream that can be resumed begins with an event that has an id and empty data.",
        [MissingPriming];
    "basic/transports#sending-messages-to-the-server", Should, ONLY_2025_11_25,
        "A server sends `retry` before it closes a connection but not its stream.",
        ("A check cannot make a server close a connection before its response.");
    "basic/transports/streamable-http#receiving-messages", Should, SINCE_2025_03_26,
        "The stream of a request has its response before it ends.",
        [StreamWithoutResponse];
    "basic/transports#sending-messages-to-the-server", Should, FROM_2025_03_26_TO_2025_11_25,
        "The messages before the response belong to the request.",
        [RelatedOnListening];
    "basic/transports/streamable-http#receiving-messages", Must, MODERN,
        "The notifications before the response belong to the request.",
        [InvalidSubscription, InvalidProgress];
    "basic/transports/streamable-http#receiving-messages", Must, MODERN,
        "A server sends no requests on a stream.",
        [WrongDirection];
    "basic/transports/streamable-http#receiving-messages", Should, SINCE_2025_03_26,
        "The response ends the stream.",
        [OpenStream];
    "basic/transports/streamable-http#receiving-messages", Should, MODERN,
        "A response with an event stream has `X-Accel-Buffering: no`.",
        [BufferedStream];
    "basic/transports/streamable-http#cancellation", Must, MODERN,
        "The end of a stream by the client cancels its request, and no more messages are sent for it.",
        ("A closed stream shows no messages, and the work of a server cannot be seen.");
    "basic/transports/streamable-http#protocol-version-header", Must, MODERN,
        "A request whose `MCP-Protocol-Version` differs from its body gets the status 400.",
        [HeaderMismatch];
    "basic/transports/streamable-http#protocol-version-header", Must, MODERN,
        "A request of an unsupported version gets the status 400 and the error -32022.",
        [UnsupportedVersionStatus, UnsupportedVersion];
    "basic/transports/streamable-http#protocol-version-header", Must, MODERN,
        "A request with an unknown method gets the status 404 and the error -32601.",
        [WrongStatus, UnknownMethod];
    "basic/transports/streamable-http#protocol-version-header", Must, MODERN,
        "A server without earlier revisions refuses a request without `MCP-Protocol-Version`.",
        [MissingHeader];
    "basic/transports/streamable-http#standard-request-headers", Must, MODERN,
        "A server refuses a request without `Mcp-Method`, or without `Mcp-Name` where it is required.",
        [MissingHeader];
    "basic/transports/streamable-http#schema-extension", Must, MODERN,
        "`x-mcp-header` is a unique field name of a parameter with a primitive type that every call can reach.",
        [MissingField, WrongType, WrongValue];
    "basic/transports/streamable-http#value-encoding", Must, MODERN,
        "A server decodes header values in the Base64 form.",
        [EncodedHeader, ParameterHeader];
    "basic/transports/streamable-http#server-behavior-for-custom-headers", Must, MODERN,
        "A server refuses a call whose `Mcp-Param` headers are invalid, missing, or differ from its arguments.",
        [ParameterHeader];
    "basic/transports/streamable-http#case-sensitivity", Must, MODERN,
        "The names of headers are compared without regard to case, and their values with regard to it.",
        [HeaderNameCase, HeaderMismatch];
    "basic/transports/streamable-http#server-validation", Must, MODERN,
        "A server refuses a request whose headers differ from its body, with the status 400 and the error -32020.",
        [HeaderMismatch, MissingHeader];
    "basic/transports/streamable-http#server-validation", Should, MODERN,
        "The headers of integers are compared as numbers.",
        [NumericHeader];
    "basic/transports/streamable-http#earlier-streamable-http-revisions", Should, MODERN,
        "A server without earlier revisions answers GET and DELETE with the status 405, and ignores session ids and `Last-Event-ID`.",
        [LegacyMethods, LegacyHeaders];
    "basic/transports#listening-for-messages-from-the-server", Must, FROM_2025_03_26_TO_2025_11_25,
        "A GET request gets an event stream or the status 405.",
        [WrongContentType, WrongStatus];
    "basic/transports#listening-for-messages-from-the-server", Should, FROM_2025_03_26_TO_2025_11_25,
        "The messages on the stream of a GET request belong to no running request.",
        [RelatedOnListening];
    "basic/transports#listening-for-messages-from-the-server", Must, FROM_2025_03_26_TO_2025_11_25,
        "The stream of a GET request has no responses, unless it resumes another stream.",
        [ResponseOnListeningStream];
    "basic/transports#multiple-connections", Must, FROM_2025_03_26_TO_2025_11_25,
        "A message is sent on only one stream.",
        [Broadcast];
    "basic/transports#resumability-and-redelivery", Must, FROM_2025_03_26_TO_2025_11_25,
        "The id of an event is unique in its session.",
        [DuplicateEventId];
    "basic/transports#resumability-and-redelivery", Should, ONLY_2025_11_25,
        "The id of an event identifies its stream.",
        [ForeignReplay, DuplicateEventId];
    "basic/transports#resumability-and-redelivery", Must, FROM_2025_03_26_TO_2025_11_25,
        "A resumed stream has no messages of another stream.",
        [ForeignReplay];
    "basic/transports#session-management", Should, FROM_2025_03_26_TO_2025_11_25,
        "The id of a session is unique and cryptographically secure.",
        [GuessableSession];
    "basic/transports#session-management", Must, FROM_2025_03_26_TO_2025_11_25,
        "The id of a session has only visible ASCII characters.",
        [InvalidSessionId];
    "basic/transports#session-management", Should, FROM_2025_03_26_TO_2025_11_25,
        "A server that requires sessions answers a request without a session id with the status 400.",
        [MissingSession];
    "basic/transports#session-management", Must, FROM_2025_03_26_TO_2025_11_25,
        "A request with the id of a session that has ended gets the status 404.",
        [DeletedSession, UnknownSession];
    "basic/transports#session-management", Must, FROM_2025_03_26_TO_2025_11_25,
        "A DELETE request ends the session, or gets the status 405.",
        [WrongStatus, DeletedSession];
    "basic/transports#protocol-version-header", Should, FROM_2025_06_18_TO_2025_11_25,
        "A request without `MCP-Protocol-Version` is one of the session's version or of 2025-03-26.",
        [MissingVersionHeader];
    "basic/transports#protocol-version-header", Must, FROM_2025_06_18_TO_2025_11_25,
        "A request with an invalid or unsupported `MCP-Protocol-Version` gets the status 400.",
        [VersionHeader];
    "basic/transports#http-with-sse", Must, ONLY_2024_11_05,
        "A server has an endpoint for its events and one for the messages of the client.",
        [MissingEndpointEvent];
    "basic/transports#http-with-sse", Must, ONLY_2024_11_05,
        "A connection begins with an `endpoint` event that has the URI for messages.",
        [MissingEndpointEvent];
    "basic/transports#http-with-sse", Must, ONLY_2024_11_05,
        "A message of the server is the data of a `message` event.",
        [WrongEventType];
}
