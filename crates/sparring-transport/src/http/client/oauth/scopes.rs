//! Scopes of a token.

/// Scopes without duplicates, in their original order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Scopes(Vec<String>);

impl Scopes {
    pub(super) fn from_names<T: AsRef<str>>(scopes: impl IntoIterator<Item = T>) -> Scopes {
        let mut all = Scopes::default();
        scopes.into_iter().for_each(|scope| all.add(scope.as_ref()));
        all
    }

    /// Parses scopes that are separated by spaces.
    pub(super) fn parse(text: &str) -> Scopes {
        Scopes::from_names(text.split_whitespace())
    }

    fn add(&mut self, scope: &str) {
        if !self.contains(scope) {
            self.0.push(scope.to_owned());
        }
    }

    pub(super) fn union(mut self, others: &Scopes) -> Scopes {
        others.0.iter().for_each(|scope| self.add(scope));
        self
    }

    pub(super) fn contains(&self, scope: &str) -> bool {
        self.0.iter().any(|own| own == scope)
    }

    pub(super) fn contains_all(&self, others: &Scopes) -> bool {
        others.0.iter().all(|scope| self.contains(scope))
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
