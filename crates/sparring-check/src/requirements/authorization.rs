//! Authorization, as far as it concerns the MCP server. Requirements of authorization servers
//! and of clients are left out.

use super::requirements;

requirements! {
    "basic/authorization#overview", Must, SINCE_2025_06_18,
        "A protected server implements the metadata of protected resources (RFC 9728).",
        [MissingResourceMetadata];
    "basic/authorization/authorization-server-discovery#authorization-server-location", Must, SINCE_2025_06_18,
        "The metadata name at least one authorization server.",
        [MissingAuthorizationServers];
    "basic/authorization/authorization-server-discovery#protected-resource-metadata-discovery-requirements", Must, SINCE_2025_11_25,
        "The metadata are at the URL of the challenge or at the well-known path.",
        [MissingResourceMetadata];
    "basic/authorization#authorization-server-location", Must, ONLY_2025_06_18,
        "The challenge of a response with the status 401 has the URL of the metadata.",
        [MissingMetadataUrl];
    "basic/authorization#canonical-server-uri", Must, SINCE_2025_06_18,
        "The resource of the metadata is an absolute URI without a fragment.",
        [InvalidResource];
    "basic/authorization#scope-selection-strategy", Should, SINCE_2025_11_25,
        "The challenge names the required scopes.",
        [MissingScope];
    "basic/authorization#scope-selection-strategy", Should, SINCE_2025_11_25,
        "A server asks for as few scopes as needed.",
        ("The scopes that a server needs cannot be seen.");
    "basic/authorization#token-requirements", Must, SINCE_2025_03_26,
        "A token in the query of the URL does not authorize a request.",
        [TokenInQuery];
    "basic/authorization#token-handling", Must, SINCE_2025_03_26,
        "A server validates tokens, and answers an invalid or expired one with the status 401.",
        [InvalidToken, MissingChallenge];
    "basic/authorization#token-handling", Must, SINCE_2025_06_18,
        "A server accepts only tokens that were issued for it.",
        ("A check has no tokens for other servers.");
    "basic/authorization#token-handling", Must, SINCE_2025_06_18,
        "A server does not pass tokens of its clients on.",
        ("The requests of a server to others cannot be seen.");
    "basic/authorization#refresh-tokens", Should, MODERN,
        "The challenge and the metadata do not have the scope `offline_access`.",
        [OfflineAccess];
    "basic/authorization#error-handling", Must, SINCE_2025_03_26,
        "A request without a token gets the status 401, one with too few scopes 403, and a malformed one 400.",
        [Unauthorized, InvalidToken];
    "basic/authorization#runtime-insufficient-scope-errors", Should, SINCE_2025_11_25,
        "A request that needs more scopes gets the status 403 and a challenge with `insufficient_scope`, the scopes and the URL of the metadata.",
        [ScopeChallenge];
    "basic/authorization#runtime-insufficient-scope-errors", Must, MODERN,
        "A server knows that a broader scope includes narrower ones.",
        ("The hierarchy of a server's scopes cannot be seen.");
    "basic/authorization/security-considerations#communication-security", Must, SINCE_2025_03_26,
        "The endpoints of the authorization server use HTTPS.",
        [InsecureAuthorization];
    "basic/authorization/security-considerations#token-audience-binding-and-validation", Must, SINCE_2025_06_18,
        "A server checks that a token was issued for it.",
        ("A check has no tokens for other servers.");
    "basic/authorization#server-metadata-discovery", Must, ONLY_2025_03_26,
        "A server without metadata has the default endpoints.",
        [MissingServerMetadata];
    "basic/authorization#third-party-authorization-flow", Must, ONLY_2025_03_26,
        "A server that uses another authorization server binds its tokens to those of that server, and validates them.",
        ("The tokens between a server and others cannot be seen.");
}
