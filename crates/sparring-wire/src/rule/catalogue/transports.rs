//! HTTP and authorization.

macro_rules! transport_rules {
    ($next:ident, $($rest:tt)*) => {
        $next! {
            $($rest)*

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
        }
    };
}
