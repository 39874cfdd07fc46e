//! Masks secrets in texts, including texts of other programs that repeat them.
//!
//! A set of secrets is filled where their values become known, and read where output leaves
//! the program.

mod classify;
mod forms;
mod secret;
mod stream;

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::{Arc, OnceLock, PoisonError, RwLock, RwLockReadGuard};

use aho_corasick::{AhoCorasick, MatchKind};

use forms::{is_trivial, written_forms};
pub use secret::Secret;
pub use stream::SecretStream;

/// The maximum number of temporary secrets, such as tokens; the newest replaces the oldest.
const MAX_TEMPORARY: usize = 64;

/// Replaces a secret.
const HIDDEN: &[u8] = b"(hidden)";

/// A shortened text ends with this character. The beginning of a secret before it is masked.
const ELLIPSIS: &[u8] = "…".as_bytes();

/// A shorter beginning of a secret is shown before an ellipsis.
const MIN_CUT_LENGTH: usize = 8;

/// A set of secrets. All clones share it.
#[derive(Clone, Default)]
pub struct Secrets(Arc<RwLock<KnownSecrets>>);

#[derive(Default)]
struct KnownSecrets {
    permanent: Vec<String>,
    temporary: VecDeque<String>,
    /// Finds all written forms. Built when it is needed, and dropped with each new secret.
    matcher: OnceLock<Option<Matcher>>,
}

struct Matcher {
    automaton: AhoCorasick,
    forms: Vec<Vec<u8>>,
}

impl Secrets {
    /// Adds a permanent secret in all its written forms, unless it is trivial.
    pub fn add(&self, secret: &str) {
        self.insert(secret, false);
    }

    /// Adds a temporary secret, which newer ones replace.
    pub fn add_temporary(&self, secret: &str) {
        self.insert(secret, true);
    }

    fn insert(&self, secret: &str, temporary: bool) {
        if is_trivial(secret) {
            return;
        }
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let is_known = known.permanent.iter().chain(&known.temporary).any(|it| it == secret);
        if is_known {
            return;
        }
        match temporary {
            true => known.temporary.push_back(secret.to_owned()),
            false => known.permanent.push(secret.to_owned()),
        }
        if known.temporary.len() > MAX_TEMPORARY {
            known.temporary.pop_front();
        }
        known.matcher = OnceLock::new();
    }

    /// Replaces all secrets in a text by `(hidden)`.
    pub fn mask<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match self.mask_bytes(text.as_bytes()) {
            Cow::Borrowed(_) => text.into(),
            // Whole characters were replaced, so it is still UTF-8.
            Cow::Owned(masked) => String::from_utf8_lossy(&masked).into_owned().into(),
        }
    }

    /// Replaces all secrets in bytes by `(hidden)`. JSON stays JSON.
    pub fn mask_bytes<'a>(&self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        let known = self.read();
        let Some(matcher) = known.matcher() else { return bytes.into() };
        match matcher.mask_all(bytes) {
            Cow::Borrowed(bytes) => matcher.mask_cut(bytes),
            Cow::Owned(masked) => matcher.mask_cut(&masked).into_owned().into(),
        }
    }

    fn read(&self) -> RwLockReadGuard<'_, KnownSecrets> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }
}

impl KnownSecrets {
    fn matcher(&self) -> Option<&Matcher> {
        let build = || {
            let secrets = self.permanent.iter().chain(&self.temporary);
            let mut forms: Vec<Vec<u8>> = secrets.flat_map(|it| written_forms(it)).collect();
            forms.sort();
            forms.dedup();
            let builder = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).clone();
            let automaton = (!forms.is_empty()).then(|| builder.build(&forms).ok()).flatten();
            automaton.map(|automaton| Matcher { automaton, forms })
        };
        self.matcher.get_or_init(build).as_ref()
    }
}

impl Matcher {
    fn mask_all<'a>(&self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        let mut masked = Vec::new();
        let mut end = 0;
        for found in self.automaton.find_iter(bytes) {
            masked.extend_from_slice(&bytes[end..found.start()]);
            masked.extend_from_slice(replacement(bytes, found.start(), found.end()));
            end = found.end();
        }
        if end == 0 {
            return bytes.into();
        }
        masked.extend_from_slice(&bytes[end..]);
        masked.into()
    }

    /// Masks the beginnings of secrets that a shortened text ends with.
    fn mask_cut<'a>(&self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        let mut masked = Vec::new();
        let mut end = 0;
        for cut in memchr::memmem::find_iter(bytes, ELLIPSIS) {
            let before = &bytes[end..cut];
            let begins = |form: &Vec<u8>| {
                let lengths = MIN_CUT_LENGTH..form.len();
                lengths.rev().find(|length| before.ends_with(&form[..*length]))
            };
            if let Some(length) = self.forms.iter().filter_map(begins).max() {
                masked.extend_from_slice(&before[..before.len() - length]);
                masked.extend_from_slice(HIDDEN);
                end = cut;
            }
        }
        if end == 0 {
            return bytes.into();
        }
        masked.extend_from_slice(&bytes[end..]);
        masked.into()
    }
}

/// Returns the replacement of a secret. A secret that is a number may be a number of JSON,
/// which is replaced by a number.
fn replacement(bytes: &[u8], start: usize, end: usize) -> &'static [u8] {
    let is_digit = |byte: &u8| byte.is_ascii_digit() || b"+-.eE".contains(byte);
    let before = start.checked_sub(1).and_then(|at| bytes.get(at));
    let is_in_json = before.is_some_and(|byte| b":,[- \n".contains(byte))
        && bytes.get(end).is_some_and(|byte| b",]} \n.eE".contains(byte));
    match bytes[start..end].iter().all(is_digit) && is_in_json {
        true => b"0",
        false => HIDDEN,
    }
}

/// Sets of secrets are always equal: they are no part of the identity of a target.
impl PartialEq for Secrets {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Secrets {}

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secrets")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(secret: &str, text: &str, expected: &str) {
        let secrets = Secrets::default();
        secrets.add(secret);
        assert_eq!(secrets.mask(text), expected, "{secret}");
    }

    #[test]
    fn masks_every_written_form_of_a_secret() {
        let secrets = Secrets::default();
        secrets.add("hunter/2 \"x");
        secrets.add("hunter/2 \"xyz");
        for text in [
            r#"hunter/2 "xyz"#,
            r#"hunter/2 \"xyz"#,
            r#"hunter\/2 \"xyz"#,
            r#"hunter/2 \\\"xyz"#,
            "hunter%2F2+%22xyz",
            "hunter%2F2%20%22xyz",
            "hunter%2f2%20%22xyz",
            "hunter/2%20%22xyz",
            "hunter/2 &quot;xyz",
        ] {
            assert_eq!(secrets.mask(&format!("a {text} b")), "a (hidden) b");
        }
        check("h\u{fc}nter-two", r"h\u00fcnter-two", "(hidden)");
    }

    #[test]
    fn masks_a_secret_in_base64() {
        use base64::Engine as _;
        use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
        let secrets = Secrets::default();
        secrets.add("hunter??>>two-2");
        for before in ["", "u:", "us:", "use:"] {
            let plain = format!("{before}hunter??>>two-2 and more");
            for encoded in [STANDARD.encode(&plain), URL_SAFE_NO_PAD.encode(&plain)] {
                let masked = secrets.mask(&encoded);
                assert!(masked.contains("(hidden)"), "{encoded}: {masked}");
            }
        }
    }

    #[test]
    fn keeps_the_newest_temporary_secrets() {
        let secrets = Secrets::default();
        secrets.add("hunter-for-good");
        for number in 0..2 * MAX_TEMPORARY {
            secrets.add_temporary(&format!("hunter-token-{number}."));
        }
        let shown = |text: &str| secrets.mask(text).into_owned();
        assert_eq!(shown("hunter-for-good"), "(hidden)");
        assert_eq!(shown(&format!("hunter-token-{}.", 2 * MAX_TEMPORARY - 1)), "(hidden)");
        assert_eq!(shown(&format!("hunter-token-{MAX_TEMPORARY}.")), "(hidden)");
        assert_eq!(shown("hunter-token-9."), "hunter-token-9.", "long ago");
    }

    #[test]
    fn does_not_mask_trivial_texts() {
        for trivial in ["", "1", "true", "false", "error", "result", "hidden"] {
            let text = format!("{{\"result\": \"{trivial}\"}}");
            check(trivial, &text, &text);
        }
    }

    #[test]
    fn masks_the_beginning_of_a_secret_in_a_shortened_text() {
        check("correct-horse-battery", "a correct-horse… b…", "a (hidden)… b…");
        check("correct-horse-battery", "corre…", "corre…");
    }

    #[test]
    fn json_with_a_number_stays_json() {
        let text = r#"{"a":19283746,"b":[1,19283746],"c":"19283746","d":-19283746.5}"#;
        check("19283746", text, r#"{"a":0,"b":[1,0],"c":"(hidden)","d":-0.5}"#);
    }
}
