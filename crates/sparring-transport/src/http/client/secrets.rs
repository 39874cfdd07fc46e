//! What must not be shown to anybody, also where others repeat it.

use std::borrow::Cow;
use std::sync::{Arc, PoisonError, RwLock};

/// Shorter ones are not looked for: they stand in every other text.
const SHORTEST: usize = 6;

/// Secrets. All clones are one.
#[derive(Clone, Default)]
pub(super) struct Secrets(Arc<RwLock<Vec<String>>>);

impl Secrets {
    pub(super) fn add(&self, secret: &str) {
        let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if secret.len() >= SHORTEST && !all.iter().any(|known| known == secret) {
            all.push(secret.to_owned());
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
