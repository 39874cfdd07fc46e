//! A secret text, such as a token or a password.

use std::fmt;
use std::hash::{Hash, Hasher};

use subtle::{ConditionallySelectable as _, ConstantTimeEq as _};

/// A token, a password or another secret text. Its only comparison takes the same time wherever
/// two texts of one length differ, and `Debug` does not show it.
#[derive(Clone, Default)]
#[cfg_attr(feature = "oauth", derive(serde::Serialize, serde::Deserialize), serde(transparent))]
pub struct Secret(String);

impl Secret {
    /// Returns the text, to send or store it.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Compares the text with received bytes in constant time.
    pub fn matches(&self, given: &[u8]) -> bool {
        self.0.as_bytes().ct_eq(given).into()
    }

    /// Returns the place of the secret that matches the bytes. Compares them with all, so that
    /// the time does not show which one matched.
    pub fn find_match(secrets: &[Secret], given: &[u8]) -> Option<u32> {
        const NONE: u32 = u32::MAX;
        let compare = |found: u32, (place, secret): (u32, &Secret)| {
            u32::conditional_select(&found, &place, secret.0.as_bytes().ct_eq(given))
        };
        let found = (0..).zip(secrets).fold(NONE, compare);
        (found != NONE).then_some(found)
    }
}

/// Compares in constant time.
impl PartialEq for Secret {
    fn eq(&self, other: &Self) -> bool {
        self.matches(other.0.as_bytes())
    }
}

impl Eq for Secret {}

impl Hash for Secret {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Secret(text)
    }
}

impl From<&str> for Secret {
    fn from(text: &str) -> Self {
        Secret(text.to_owned())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(hidden)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_equals_only_the_same_text() {
        let secret = Secret::from("hunter2");
        assert!(secret.matches(b"hunter2") && secret == Secret::from("hunter2".to_owned()));
        for other in ["", "hunter", "hunter22", "Hunter2", "hunter3"] {
            assert!(!secret.matches(other.as_bytes()) && secret != Secret::from(other), "{other}");
        }
        let all = [Secret::from("a"), secret];
        let place = |given: &[u8]| Secret::find_match(&all, given);
        assert_eq!([place(b"a"), place(b"hunter2"), place(b"b")], [Some(0), Some(1), None]);
        assert_eq!(Secret::find_match(&[], b""), None);
    }

    #[test]
    fn a_secret_is_not_shown() {
        assert_eq!(format!("{:?}", [Secret::from("hunter2")]), "[(hidden)]");
    }
}
