//! Names that say of a value that it is a secret.

/// How such names end, without what stands between their words.
const ENDS: [&str; 17] = [
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

/// Tokens that only say where something goes on.
const NO_SECRETS: [&str; 5] =
    ["cancellationtoken", "continuationtoken", "pagetoken", "progresstoken", "synctoken"];

/// Whether a value of this name is a secret, however the name is spelled:
/// `api_key`, `apiKey`, `X-Api-Key`.
pub(super) fn is_secret(name: &str) -> bool {
    let name: String =
        name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
    let ends = |known: &[&str]| known.iter().any(|end| name.ends_with(end));
    ends(&ENDS) && !ends(&NO_SECRETS)
}

/// The same of a variable or a header, which are also secret where they are
/// called a key.
pub(super) fn is_secret_setting(name: &str) -> bool {
    let last = name.rsplit(['_', '-']).next().unwrap_or_default();
    is_secret(name) || last.eq_ignore_ascii_case("key")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_tells_a_secret_however_it_is_spelled() {
        for name in ["password", "DB_PASSWORD", "apiKey", "X-Api-Key", "access_token", "token"] {
            assert!(is_secret(name), "{name}");
        }
        for name in ["progressToken", "nextPageToken", "maxTokens", "key", "name", "tokenizer"] {
            assert!(!is_secret(name), "{name}");
        }
        assert!(is_secret_setting("OPENAI_KEY") && !is_secret_setting("MONKEY"));
    }
}
