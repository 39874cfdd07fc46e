//! Finds secrets in texts: in questions to a user, in URLs and in log messages.
//!
//! It prefers to miss a secret over a false alarm.

use crate::json::Json;
use crate::secret_names::is_secret_name;

/// Names of fields for secrets, without separators, beside those that suggest a secret anywhere.
const FIELDS: [&str; 10] = [
    "pin",
    "pincode",
    "cvv",
    "cvc",
    "creditcard",
    "creditcardnumber",
    "cardnumber",
    "passcode",
    "securitycode",
    "securityanswer",
];

/// Secrets that a person can be asked for.
const PHRASES: [&str; 20] = [
    "password",
    "passphrase",
    "passcode",
    "api key",
    "api-key",
    "api token",
    "apikey",
    "access token",
    "auth token",
    "bearer token",
    "personal access token",
    "private key",
    "secret key",
    "client secret",
    "credit card",
    "card number",
    "cvv",
    "security code",
    "pin code",
    "credentials",
];

/// Words that come before what a person is asked for.
const REQUESTS: [&str; 10] =
    ["enter", "provide", "type", "give", "supply", "input", "paste", "share", "what is", "need"];

/// Parts of the query of a URL that hold personal data, without separators.
const PERSONAL_PARAMETERS: [&str; 6] =
    ["email", "emailaddress", "phone", "phonenumber", "ssn", "creditcard"];

/// Other parts of the query of a URL that give access.
const ACCESS_PARAMETERS: [&str; 4] = ["session", "sessionid", "sid", "signature"];

/// The starts of well-known keys, and the least number of characters after them.
const KEY_PREFIXES: [(&str, usize); 9] = [
    ("ghp_", 20),
    ("gho_", 20),
    ("github_pat_", 20),
    ("sk-", 20),
    ("sk_live_", 12),
    ("xoxb-", 12),
    ("xoxp-", 12),
    ("AKIA", 16),
    ("glpat-", 16),
];

/// Names before a `=` or `:` whose values are secrets.
const SETTINGS: [&str; 12] = [
    "password",
    "passwd",
    "api_key",
    "apikey",
    "api-key",
    "secret_key",
    "secretkey",
    "access_token",
    "accesstoken",
    "client_secret",
    "private_key",
    "auth_token",
];

/// The number of characters of a stack trace that a message shows.
const MAX_SHOWN: usize = 60;

/// Texts that only the stack of a failure has.
const STACKS: [&str; 6] = [
    "Traceback (most recent call last)",
    "\n    at ",
    "goroutine 1 [running]",
    "stack backtrace:",
    "panicked at ",
    "Exception in thread ",
];

/// Returns the secret that a sentence asks for.
pub(super) fn asked_for(text: &str) -> Option<&'static str> {
    let text = text.to_ascii_lowercase();
    let asked = PHRASES.iter().filter_map(|phrase| Some((phrase, find_words(&text, phrase)?)));
    let mut asked = asked.filter(|(_, at)| {
        let clause = text[..*at].rsplit(['.', ';', '!', '\n']).next().unwrap_or_default();
        let negated = ["not ", "n't ", "never ", "without "].iter().any(|it| clause.contains(it));
        !negated && REQUESTS.iter().any(|it| find_words(clause, it).is_some())
    });
    asked.next().map(|(phrase, _)| *phrase)
}

/// Returns the secret that the name of a field stands for.
pub(super) fn asked_in_field(name: &str) -> Option<String> {
    let plain: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
    let plain = plain.to_ascii_lowercase();
    let is_secret = is_secret_name(name) || FIELDS.contains(&&*plain) || plain.contains("password");
    is_secret.then(|| name.to_owned())
}

/// Returns the secret that the label of a field names: its first or only words.
pub(super) fn asked_in_label(label: &str) -> Option<String> {
    let text = label.trim().to_ascii_lowercase();
    let text =
        ["your ", "the ", "a ", "an "].iter().find_map(|it| text.strip_prefix(it)).unwrap_or(&text);
    let words = PHRASES.iter().find(|phrase| {
        let rest = text.strip_prefix(**phrase);
        rest.is_some_and(|it| {
            it.is_empty() || it.starts_with([' ', '.', ',', ':', '(']) && it.len() < 12
        })
    });
    words.map(|it| (*it).to_owned()).or_else(|| asked_for(label).map(str::to_owned))
}

/// Describes the first part of a URL that is secret or personal.
pub(super) fn in_url(url: &str) -> Option<String> {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if authority.contains('@') {
        return Some("a user name or a password".to_owned());
    }
    let parameters = rest.split(['?', '#', '&']).skip(1).filter_map(|it| it.split_once('='));
    for (name, value) in parameters.filter(|(_, value)| !value.is_empty()) {
        let plain: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
        let plain = plain.to_ascii_lowercase();
        let is_known =
            PERSONAL_PARAMETERS.contains(&&*plain) || ACCESS_PARAMETERS.contains(&&*plain);
        if is_known || is_secret_name(name) {
            return Some(format!("the parameter {name:?}"));
        }
        if value.contains('@') || value.contains("%40") {
            return Some("an email address".to_owned());
        }
    }
    known_key(url).map(|_| "a key".to_owned())
}

/// Describes the first secret in a JSON value.
pub(super) fn in_value(value: Json<'_>) -> Option<String> {
    if let Some(text) = value.as_str() {
        return in_text(&text);
    }
    for (key, member) in value.members() {
        let name = key.name();
        let is_secret = asked_in_field(&name).is_some() && name != "auth";
        let held = member.as_str().filter(|it| is_secret && is_readable_secret(it));
        if held.is_some() {
            return Some(format!("the value of {name:?}"));
        }
        if let Some(found) = in_value(member) {
            return Some(found);
        }
    }
    value.items().find_map(in_value)
}

fn in_text(text: &str) -> Option<String> {
    if let Some(stack) = STACKS.iter().find(|it| text.contains(**it)) {
        let at = text.find(stack).unwrap_or_default();
        let line = text[at..].trim_start().lines().next().unwrap_or_default().trim_end();
        let shown: String = line.chars().take(MAX_SHOWN).collect();
        return Some(format!("a stack trace ({shown:?})"));
    }
    if text.contains("-----BEGIN") && text.contains("PRIVATE KEY-----") {
        return Some("a private key".to_owned());
    }
    if known_key(text).is_some() {
        return Some("a key".to_owned());
    }
    if text.split(|it: char| !it.is_ascii_digit() && it != '-').any(is_social_security_number) {
        return Some("a social security number".to_owned());
    }
    let lower = text.to_ascii_lowercase();
    let setting = SETTINGS.iter().find(|name| {
        let mut found = lower.match_indices(**name);
        found.any(|(at, _)| {
            let rest = lower[at + name.len()..].trim_start_matches(['"', '\'']).trim_start();
            let value =
                rest.strip_prefix(['=', ':']).map(|it| it.trim_start_matches([' ', '"', '\'']));
            let value = value.and_then(|it| it.split([' ', '"', '\'', ',', ';', '\n', '&']).next());
            value.is_some_and(is_readable_secret)
        })
    });
    setting.map(|it| format!("the value of {it:?}"))
}

/// Returns true unless the value is masked, a placeholder, or too short for a secret.
fn is_readable_secret(value: &str) -> bool {
    let masked =
        ["*", "<", "[", "{", "$", "•", "…", "xxx", "redact", "none", "null", "true", "false"];
    let lower = value.to_ascii_lowercase();
    value.len() >= 4 && !value.contains("***") && !masked.iter().any(|it| lower.starts_with(it))
}

/// Finds a key of a well-known provider, or a signed token.
fn known_key(text: &str) -> Option<&str> {
    let words = text.split(|it: char| !it.is_ascii_alphanumeric() && !"_-.".contains(it));
    words.into_iter().find(|word| {
        let known = KEY_PREFIXES.iter().any(|(start, least)| {
            word.strip_prefix(start).is_some_and(|rest| {
                rest.len() >= *least && rest.chars().any(|it| it.is_ascii_digit())
            })
        });
        let parts: Vec<&str> = word.split('.').collect();
        known
            || word.starts_with("eyJ") && parts.len() == 3 && parts.iter().all(|it| it.len() >= 10)
    })
}

fn is_social_security_number(text: &str) -> bool {
    let parts: Vec<usize> = text.split('-').map(str::len).collect();
    parts == [3, 2, 4]
}

/// Returns the place of a phrase as whole words.
fn find_words(text: &str, phrase: &str) -> Option<usize> {
    let is_part = |it: Option<char>| it.is_some_and(char::is_alphanumeric);
    text.match_indices(phrase).map(|(at, _)| at).find(|at| {
        let plural =
            text[at + phrase.len()..].strip_prefix('s').unwrap_or(&text[at + phrase.len()..]);
        !is_part(text[..*at].chars().next_back()) && !is_part(plural.chars().next())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::RawJson;

    #[test]
    fn finds_what_a_person_is_asked_for() {
        let asked = |text| asked_for(text).is_some();
        assert!(asked("Please enter your password."));
        assert!(asked("We need an API key for the service"));
        assert!(asked("What is your credit card number?"));
        assert!(!asked("Your password was changed. Enter your name."));
        assert!(!asked("Enter your name, but never a password"));
        assert!(!asked("Do you want to reset the password?"));
    }

    #[test]
    fn finds_fields_for_secrets() {
        for name in ["password", "apiKey", "access_token", "PIN", "cardNumber", "new_password"] {
            assert!(asked_in_field(name).is_some(), "{name}");
        }
        for name in ["name", "email", "tokens", "pinned", "author", "key"] {
            assert!(asked_in_field(name).is_none(), "{name}");
        }
        assert!(asked_in_label("Your API key").is_some());
        assert!(asked_in_label("Password").is_some());
        assert!(asked_in_label("Password policy to apply to the new account").is_none());
    }

    #[test]
    fn finds_secrets_in_urls() {
        for url in [
            "https://user:pass@e.org/",
            "https://e.org/connect?access_token=abc",
            "https://e.org/?email=a@b.org",
            "https://e.org/?user=a%40b.org",
        ] {
            assert!(in_url(url).is_some(), "{url}");
        }
        for url in ["https://e.org/connect?elicitationId=5&state=xyz", "https://e.org/@user"] {
            assert!(in_url(url).is_none(), "{url}");
        }
    }

    #[test]
    fn shows_the_line_of_a_stack_trace() {
        let text = RawJson::parse(r#""Error: no\n    at run (main.js:5:9)\n    at main""#).unwrap();
        let expected = "a stack trace (\"at run (main.js:5:9)\")";
        assert_eq!(in_value(text.view()).as_deref(), Some(expected));
    }

    #[test]
    fn finds_secrets_in_log_messages() {
        let found = |text: &str| in_value(RawJson::parse(text).unwrap().view()).is_some();
        for text in [
            r#""password=hunter2""#,
            r#""connecting with api_key: abcd1234""#,
            r#"{"password": "hunter2"}"#,
            r#"{"a": [{"accessToken": "abc123"}]}"#,
            r#""key AKIAIOSFODNN7EXAMPLE0""#,
            r#""Traceback (most recent call last):\n  File""#,
            r#""SSN 123-45-6789""#,
        ] {
            assert!(found(text), "{text}");
        }
        for text in [
            r#""password=***""#,
            r#""the password was wrong""#,
            r#"{"password": "[redacted]", "progressToken": "abcdef"}"#,
            r#""2025-11-25T10:30:00Z took 123 ms""#,
            "17",
        ] {
            assert!(!found(text), "{text}");
        }
    }
}
