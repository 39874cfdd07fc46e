//! What must not be shown to anybody, also where others repeat it.

use std::borrow::Cow;
use std::sync::{Arc, PoisonError, RwLock};

/// Shorter ones are not looked for: they stand in every other text.
const SHORTEST: usize = 6;

/// Secrets, the longest first: one may be the beginning of another. All clones
/// are one.
#[derive(Clone, Default)]
pub(super) struct Secrets(Arc<RwLock<Vec<String>>>);

impl Secrets {
    /// Adds one, in the ways in which it may be written.
    pub(super) fn add(&self, secret: &str) {
        if secret.len() < SHORTEST {
            return;
        }
        let in_form: String = form_urlencoded::byte_serialize(secret.as_bytes()).collect();
        let in_url = in_form.replace('+', "%20");
        let in_json = serde_json::Value::from(secret).to_string();
        let in_json = in_json.trim_matches('"');
        let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
        for written in [secret, in_json, &in_url, &in_form] {
            if !all.iter().any(|known| known == written) {
                let place = all.partition_point(|known| known.len() >= written.len());
                all.insert(place, written.to_owned());
            }
        }
    }

    /// A text without them.
    pub(super) fn mask<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let all = self.0.read().unwrap_or_else(PoisonError::into_inner);
        all.iter().fold(Cow::Borrowed(text), |text, secret| match text.contains(secret) {
            true => text.replace(secret, "(hidden)").into(),
            false => text,
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
    fn a_secret_is_hidden_however_it_is_written() {
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
    fn what_stands_everywhere_is_no_secret() {
        let secrets = Secrets::default();
        secrets.add("error");
        secrets.add("");
        assert_eq!(secrets.mask("an error"), "an error");
    }
}
