//! Names of headers, variables and members that suggest a secret. Every crate that masks by
//! name asks here.

/// The endings of such names, without separators.
const SECRET_SUFFIXES: [&str; 20] = [
    "accesskey",
    "apikey",
    "auth",
    "authorization",
    "bearer",
    "cookie",
    "cookies",
    "credential",
    "credentials",
    "jwt",
    "passphrase",
    "passwd",
    "password",
    "privatekey",
    "pwd",
    "secret",
    "secretkey",
    "sig",
    "signingkey",
    "token",
];

/// Endings of tokens that are not secrets.
const PUBLIC_SUFFIXES: [&str; 5] =
    ["cancellationtoken", "continuationtoken", "pagetoken", "progresstoken", "synctoken"];

/// Parts of the names of secret headers, without separators.
const SECRET_HEADER_PARTS: [&str; 11] = [
    "apikey",
    "authorization",
    "cookie",
    "credential",
    "jwt",
    "passw",
    "secret",
    "sessionid",
    "signature",
    "token",
    "xauth",
];

/// Headers of most requests, which are never secrets. The journal asks about every header, so
/// they are recognized without an allocation.
const USUAL_HEADERS: [&str; 8] = [
    "accept",
    "connection",
    "content-length",
    "content-type",
    "host",
    "mcp-method",
    "mcp-protocol-version",
    "user-agent",
];

/// Returns true if a name suggests a secret, in any spelling: `api_key`, `apiKey`, `X-Api-Key`.
pub fn is_secret_name(name: &str) -> bool {
    let name = without_separators(name);
    let ends = |known: &[&str]| known.iter().any(|end| name.ends_with(end));
    ends(&SECRET_SUFFIXES) && !ends(&PUBLIC_SUFFIXES)
}

/// Returns true if the name of a variable, a flag or a part of a query suggests a secret.
/// Names that end in `key` do too.
pub fn is_secret_setting(name: &str) -> bool {
    let last = name.rsplit(['_', '-', '.']).next().unwrap_or_default();
    is_secret_name(name) || last.eq_ignore_ascii_case("key")
}

/// Returns true if the value of a header is a secret: `Authorization`, `Cookie`,
/// `Mcp-Session-Id`, `X-Amz-Security-Token`, `X-Goog-Api-Key` and the like.
pub fn is_secret_header(name: &str) -> bool {
    if USUAL_HEADERS.iter().any(|usual| usual.eq_ignore_ascii_case(name)) {
        return false;
    }
    let plain = without_separators(name);
    let ends = ["auth", "key"].iter().any(|end| plain.ends_with(end));
    ends || SECRET_HEADER_PARTS.iter().any(|part| plain.contains(part))
}

fn without_separators(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recognizes_secret_names_in_any_spelling() {
        for name in ["password", "DB_PASSWORD", "apiKey", "X-Api-Key", "access_token", "token"] {
            assert!(is_secret_name(name), "{name}");
        }
        for name in ["progressToken", "nextPageToken", "maxTokens", "key", "name", "tokenizer"] {
            assert!(!is_secret_name(name), "{name}");
        }
        assert!(is_secret_setting("OPENAI_KEY") && !is_secret_setting("MONKEY"));
    }

    #[test]
    fn recognizes_secret_headers() {
        for name in [
            "Authorization",
            "Proxy-Authorization",
            "cookie",
            "Set-Cookie",
            "Mcp-Session-Id",
            "X-Auth-Token",
            "X-Amz-Security-Token",
            "X-Goog-Api-Key",
            "api-key",
            "X-Hub-Signature-256",
            "X-Vault-Token",
        ] {
            assert!(is_secret_header(name), "{name}");
        }
        for name in
            ["Accept", "Host", "Content-Type", "Mcp-Protocol-Version", "WWW-Authenticate", "X-Org"]
        {
            assert!(!is_secret_header(name), "{name}");
        }
    }
}
