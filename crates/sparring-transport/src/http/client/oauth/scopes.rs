//! What a token is to allow.

/// Scopes, each once, in the order in which they came.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Scopes(Vec<String>);

impl Scopes {
    pub(super) fn of<T: AsRef<str>>(scopes: impl IntoIterator<Item = T>) -> Scopes {
        let mut all = Scopes::default();
        scopes.into_iter().for_each(|scope| all.add(scope.as_ref()));
        all
    }

    /// Those in a text, with spaces between them.
    pub(super) fn parse(text: &str) -> Scopes {
        Scopes::of(text.split_whitespace())
    }

    fn add(&mut self, scope: &str) {
        if !self.has(scope) {
            self.0.push(scope.to_owned());
        }
    }

    pub(super) fn and(mut self, others: &Scopes) -> Scopes {
        others.0.iter().for_each(|scope| self.add(scope));
        self
    }

    pub(super) fn has(&self, scope: &str) -> bool {
        self.0.iter().any(|own| own == scope)
    }

    pub(super) fn has_all(&self, others: &Scopes) -> bool {
        others.0.iter().all(|scope| self.has(scope))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl std::fmt::Display for Scopes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0.join(" "))
    }
}
