//! Masks secrets in texts, including texts of other programs that repeat them.

use std::borrow::Cow;
use std::sync::{Arc, PoisonError, RwLock};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// Shorter secrets are not masked: they occur in too many texts.
const MIN_LENGTH: usize = 6;

/// The characters that URLs and forms encode.
const URL_ENCODE_SET: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'*').remove(b'-').remove(b'.').remove(b'_');

/// The maximum number of written forms of temporary secrets, such as tokens; the newest
/// replaces the oldest.
const MAX_TEMPORARY: usize = 256;

/// A set of secrets, longest first, since one may be the beginning of another. All clones share
/// it.
#[derive(Clone, Default)]
pub struct Secrets(Arc<RwLock<Vec<MaskedText>>>);

struct MaskedText {
    text_form: String,
    /// The sequence number of a temporary secret; later ones have greater numbers.
    sequence: Option<u64>,
}

impl Secrets {
    /// Adds a permanent secret in all its written forms.
    pub fn add(&self, secret: &str) {
        self.insert(secret, false);
    }

    /// Adds a temporary secret, which newer ones replace.
    pub fn add_temporary(&self, secret: &str) {
        self.insert(secret, true);
    }

    fn insert(&self, secret: &str, temporary: bool) {
        if secret.len() < MIN_LENGTH {
            return;
        }
        let in_url = utf8_percent_encode(secret, URL_ENCODE_SET).to_string();
        let in_form = in_url.replace("%20", "+");
        let in_json = serde_json::Value::from(secret).to_string();
        let in_json = in_json.trim_matches('"');
        let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
        for text_form in [secret, in_json, &in_url, &in_form] {
            if all.iter().any(|known| known.text_form == text_form) {
                continue;
            }
            let newest = all.iter().filter_map(|known| known.sequence).max();
            let sequence = temporary.then(|| newest.map_or(0, |newest| newest + 1));
            let index = all.partition_point(|known| known.text_form.len() >= text_form.len());
            all.insert(index, MaskedText { text_form: text_form.to_owned(), sequence });
        }
        let too_many = all
            .iter()
            .filter(|known| known.sequence.is_some())
            .count()
            .saturating_sub(MAX_TEMPORARY);
        for _ in 0..too_many {
            let oldest = all.iter().filter_map(|known| known.sequence).min();
            all.retain(|known| known.sequence.is_none() || known.sequence != oldest);
        }
    }

    /// Replaces all secrets in a text by `(hidden)`.
    pub fn mask<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let all = self.0.read().unwrap_or_else(PoisonError::into_inner);
        all.iter().fold(Cow::Borrowed(text), |text, secret| {
            match text.contains(&secret.text_form) {
                true => text.replace(&secret.text_form, "(hidden)").into(),
                false => text,
            }
        })
    }
}

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secrets")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_every_written_form_of_a_secret() {
        let secrets = Secrets::default();
        secrets.add("hunter/2 \"x");
        secrets.add("hunter/2 \"xyz");
        for text in
            [r#"hunter/2 "xyz"#, r#"hunter/2 \"xyz"#, "hunter%2F2+%22xyz", "hunter%2F2%20%22xyz"]
        {
            assert_eq!(secrets.mask(&format!("a {text} b")), "a (hidden) b");
        }
    }

    #[test]
    fn keeps_the_newest_temporary_secrets() {
        let secrets = Secrets::default();
        secrets.add("hunter-for-good");
        for number in 0..2 * MAX_TEMPORARY {
            secrets.add_temporary(&format!("hunter-token-{number}"));
        }
        let shown = |text: &str| secrets.mask(text).into_owned();
        assert_eq!(shown("hunter-for-good"), "(hidden)");
        assert_eq!(shown(&format!("hunter-token-{}", 2 * MAX_TEMPORARY - 1)), "(hidden)");
        assert_eq!(shown(&format!("hunter-token-{MAX_TEMPORARY}")), "(hidden)");
        assert_eq!(shown("hunter-token-99/"), "hunter-token-99/", "long ago");
    }

    #[test]
    fn does_not_mask_short_texts() {
        let secrets = Secrets::default();
        secrets.add("error");
        secrets.add("");
        assert_eq!(secrets.mask("an error"), "an error");
    }
}
