//! Names that suggest a secret.

/// The endings of such names, without separators.
const SECRET_SUFFIXES: [&str; 17] = [
    "accesskey",
    "apikey",
    "auth",
    "authorization",
    "bearer",
    "cookie",
    "credential",
    "credentials",
    "jwt",
    "passphrase",
    "passwd",
    "password",
    "privatekey",
    "secret",
    "secretkey",
    "signingkey",
    "token",
];

/// Endings of tokens that are not secrets.
const PUBLIC_SUFFIXES: [&str; 5] =
    ["cancellationtoken", "continuationtoken", "pagetoken", "progresstoken", "synctoken"];

/// Returns true if a name suggests a secret, in any spelling: `api_key`, `apiKey`, `X-Api-Key`.
pub(super) fn is_secret(name: &str) -> bool {
    let name: String =
        name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
    let ends = |known: &[&str]| known.iter().any(|end| name.ends_with(end));
    ends(&SECRET_SUFFIXES) && !ends(&PUBLIC_SUFFIXES)
}

/// Returns true if the name of a variable or a header suggests a secret. Names that end in
/// `key` do too.
pub(super) fn is_secret_setting(name: &str) -> bool {
    let last = name.rsplit(['_', '-']).next().unwrap_or_default();
    is_secret(name) || last.eq_ignore_ascii_case("key")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recognizes_secret_names_in_any_spelling() {
        for name in ["password", "DB_PASSWORD", "apiKey", "X-Api-Key", "access_token", "token"] {
            assert!(is_secret(name), "{name}");
        }
        for name in ["progressToken", "nextPageToken", "maxTokens", "key", "name", "tokenizer"] {
            assert!(!is_secret(name), "{name}");
        }
        assert!(is_secret_setting("OPENAI_KEY") && !is_secret_setting("MONKEY"));
    }
}
