//! What must not be shown to anybody, also where others repeat it.

use std::borrow::Cow;
use std::sync::{Arc, PoisonError, RwLock};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// Shorter ones are not looked for: they stand in every other text.
const SHORTEST: usize = 6;

/// What stands for itself neither in a URL nor in a form.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'*').remove(b'-').remove(b'.').remove(b'_');

/// How many writings of those are known that come and go, as tokens do: the
/// oldest makes room for the newest.
const MOST: usize = 256;

/// Secrets, the longest first: one may be the beginning of another. All clones
/// are one.
#[derive(Clone, Default)]
pub struct Secrets(Arc<RwLock<Vec<Known>>>);

struct Known {
    written: String,
    /// The number of one that comes and goes; later ones have greater numbers.
    passing: Option<u64>,
}

impl Secrets {
    /// Adds one that is for good, in the ways in which it may be written.
    pub fn add(&self, secret: &str) {
        self.put(secret, false);
    }

    /// Adds one that others will follow.
    pub fn add_passing(&self, secret: &str) {
        self.put(secret, true);
    }

    fn put(&self, secret: &str, passing: bool) {
        if secret.len() < SHORTEST {
            return;
        }
        let in_url = utf8_percent_encode(secret, ENCODED).to_string();
        let in_form = in_url.replace("%20", "+");
        let in_json = serde_json::Value::from(secret).to_string();
        let in_json = in_json.trim_matches('"');
        let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
        for written in [secret, in_json, &in_url, &in_form] {
            if all.iter().any(|known| known.written == written) {
                continue;
            }
            let newest = all.iter().filter_map(|known| known.passing).max();
            let passing = passing.then(|| newest.map_or(0, |newest| newest + 1));
            let place = all.partition_point(|known| known.written.len() >= written.len());
            all.insert(place, Known { written: written.to_owned(), passing });
        }
        let too_many =
            all.iter().filter(|known| known.passing.is_some()).count().saturating_sub(MOST);
        for _ in 0..too_many {
            let oldest = all.iter().filter_map(|known| known.passing).min();
            all.retain(|known| known.passing.is_none() || known.passing != oldest);
        }
    }

    /// A text without them.
    pub fn mask<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let all = self.0.read().unwrap_or_else(PoisonError::into_inner);
        all.iter().fold(Cow::Borrowed(text), |text, secret| match text.contains(&secret.written) {
            true => text.replace(&secret.written, "(hidden)").into(),
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
    fn of_those_that_come_and_go_the_newest_are_known() {
        let secrets = Secrets::default();
        secrets.add("hunter-for-good");
        for number in 0..2 * MOST {
            secrets.add_passing(&format!("hunter-token-{number}"));
        }
        let shown = |text: &str| secrets.mask(text).into_owned();
        assert_eq!(shown("hunter-for-good"), "(hidden)");
        assert_eq!(shown(&format!("hunter-token-{}", 2 * MOST - 1)), "(hidden)");
        assert_eq!(shown(&format!("hunter-token-{MOST}")), "(hidden)");
        assert_eq!(shown("hunter-token-99/"), "hunter-token-99/", "long ago");
    }

    #[test]
    fn what_stands_everywhere_is_no_secret() {
        let secrets = Secrets::default();
        secrets.add("error");
        secrets.add("");
        assert_eq!(secrets.mask("an error"), "an error");
    }
}
