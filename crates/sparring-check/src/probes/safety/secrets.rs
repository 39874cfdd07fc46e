//! Secrets in definitions, such as a real key as the default of a parameter.

use std::collections::HashSet;
use std::sync::LazyLock;

use regex::Regex;
use sparring_wire::Rule;

use super::texts::Text;
use crate::probes::definition_findings::DefinitionFindings;

/// The number of characters of a secret that a finding shows.
const SHOWN: usize = 4;

/// The fewest different characters of a secret. Placeholders such as `xxxx` have fewer.
const MIN_DIFFERENT: usize = 9;

/// The fewest digits of a secret that only the words before it show.
const MIN_DIGITS: usize = 3;

/// The kinds of secrets whose patterns fit any value.
const VAGUE: [&str; 3] = ["a bearer token", "a URL with a password", "a secret"];

/// Words in placeholders.
const PLACEHOLDERS: [&str; 12] = [
    "example",
    "xxxx",
    "your",
    "placeholder",
    "insert",
    "changeme",
    "change_me",
    "redacted",
    "dummy",
    "sample",
    "...",
    "0000",
];

/// The kinds of secrets, and the patterns of their values.
static KINDS: LazyLock<Vec<(&'static str, Regex)>> = LazyLock::new(|| {
    let table = [
        (
            "a private key",
            r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----\s*(?:\\n)?\s*([A-Za-z0-9+/]{16,})",
        ),
        ("an AWS access key", r"\b((?:AKIA|ASIA)[0-9A-Z]{16})\b"),
        ("a GitHub token", r"\b(gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{40,})"),
        ("a GitLab token", r"\b(glpat-[A-Za-z0-9_-]{20,})"),
        ("a Slack token", r"\b(xox[abeoprs]-[A-Za-z0-9-]{20,})"),
        ("a Google API key", r"\b(AIza[0-9A-Za-z_-]{35})"),
        ("a Stripe key", r"\b([rs]k_live_[0-9A-Za-z]{16,})"),
        ("an API key", r"\b(sk-[A-Za-z0-9_-]{20,})"),
        ("an npm token", r"\b(npm_[A-Za-z0-9]{36})\b"),
        ("a Hugging Face token", r"\b(hf_[A-Za-z0-9]{30,})"),
        ("a SendGrid key", r"\b(SG\.[\w-]{20,}\.[\w-]{30,})"),
        (
            "a JSON Web Token",
            r"\b(eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{16,})",
        ),
        ("a bearer token", r"(?i)\bbearer\s+([A-Za-z0-9._~+/-]{24,})"),
        ("a URL with a password", r"(?i)\b[a-z][a-z0-9+.-]*://[^\s:/@]+:([^\s:/@]{10,})@"),
        (
            "a secret",
            r#"(?i)\b(?:api[_ -]?key|apikey|secret|token|password|passwd|pwd)["']?\s*(?:is|[:=])\s*["'`]?([A-Za-z0-9+/_~.-]{16,})"#,
        ),
    ];
    let kinds = table.into_iter();
    kinds.filter_map(|(kind, regex)| Some((kind, Regex::new(regex).ok()?))).collect()
});

/// Checks one text.
pub(super) fn check(text: &Text, findings: &mut DefinitionFindings) {
    if let Some((kind, start)) = find(&text.text) {
        let message =
            format!("expected no secret; {} has {kind} that begins with {start:?}", text.place);
        findings.add(Rule::SecretInDefinition, &text.subject, message);
    }
}

/// Returns the kind of the first secret and its beginning. The secret itself is not shown.
fn find(text: &str) -> Option<(&'static str, String)> {
    if text.len() < 16 {
        return None;
    }
    KINDS.iter().find_map(|(kind, regex)| {
        let mut found = regex.captures_iter(text).filter_map(|it| it.get(1));
        let min_digits = if VAGUE.contains(kind) { MIN_DIGITS } else { 1 };
        let secret = found.find(|it| is_random(it.as_str(), min_digits))?.as_str();
        Some((*kind, secret.chars().take(SHOWN).collect()))
    })
}

/// Returns true if a value looks random, rather than like a placeholder or a word.
fn is_random(value: &str, min_digits: usize) -> bool {
    let lower = value.to_lowercase();
    let is_placeholder = PLACEHOLDERS.iter().any(|it| lower.contains(it));
    let different: HashSet<char> = value.chars().collect();
    let digits = value.chars().filter(char::is_ascii_digit).count();
    let has_letter = value.chars().any(|it| it.is_ascii_alphabetic());
    !is_placeholder && digits >= min_digits && has_letter && different.len() >= MIN_DIFFERENT
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_secrets() {
        for (text, kind) in [
            ("ghp_16C7e42F292c6912E7710c838347Ae178B4a", "a GitHub token"),
            ("Uses AKIAQ3EGS7JZ5WNL2BXA.", "an AWS access key"),
            ("sk-proj-4f9aT3bQk2Lm8Zx7Yw1Vn6Rs5", "an API key"),
            ("-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA3Tz2", "a private key"),
            ("postgres://app:q8Zr2LmX9vKt@db.example.com/x", "a URL with a password"),
            ("The password is 8fK2-mQ9x-Zt4L-w7Rb", "a secret"),
            ("Authorization: Bearer 9f8b3c2a7d6e5f4a1b0c9d8e7f6a5b4c", "a bearer token"),
        ] {
            assert_eq!(find(text).map(|(kind, _)| kind), Some(kind), "{text}");
        }
    }

    #[test]
    fn placeholders_are_no_secrets() {
        for text in [
            "For example ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "AKIAIOSFODNN7EXAMPLE",
            "An API key, such as sk-your-key-1234567890abcdef",
            "postgres://user:password@localhost:5432/db",
            "token: the_token_of_the_session_v2 is needed",
            "The API key is required for authentication1",
            "Bearer <token>",
            "-----BEGIN PRIVATE KEY-----\n...",
            "password: at least 16 characters",
            "secret = secret_manager.get",
        ] {
            assert_eq!(find(text), None, "{text}");
        }
    }
}
