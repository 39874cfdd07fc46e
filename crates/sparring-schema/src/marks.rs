//! Which members and items were looked at, for `unevaluatedProperties` and
//! `unevaluatedItems`.

/// What was looked at in one value.
#[derive(Debug, Default)]
pub(crate) struct Marks<'v> {
    pub(crate) all_names: bool,
    pub(crate) names: Vec<&'v str>,
    /// All items before this one.
    pub(crate) first: usize,
    pub(crate) items: Vec<usize>,
}

/// How far marks were.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Earlier {
    all_names: bool,
    names: usize,
    first: usize,
    items: usize,
}

impl<'v> Marks<'v> {
    pub(crate) fn now(&self) -> Earlier {
        Earlier {
            all_names: self.all_names,
            names: self.names.len(),
            first: self.first,
            items: self.items.len(),
        }
    }

    /// Forgets what a schema marked that does not hold.
    pub(crate) fn back_to(&mut self, earlier: Earlier) {
        self.all_names = earlier.all_names;
        self.names.truncate(earlier.names);
        self.first = earlier.first;
        self.items.truncate(earlier.items);
    }

    pub(crate) fn add(&mut self, other: Marks<'v>) {
        self.all_names |= other.all_names;
        self.names.extend(other.names);
        self.first = self.first.max(other.first);
        self.items.extend(other.items);
    }

    /// Makes them fit to be asked.
    pub(crate) fn sort(&mut self) {
        self.names.sort_unstable();
        self.items.sort_unstable();
    }

    /// Whether a member was looked at; they must be sorted.
    pub(crate) fn has_name(&self, name: &str) -> bool {
        self.all_names || self.names.binary_search(&name).is_ok()
    }

    /// Whether an item was looked at; they must be sorted.
    pub(crate) fn has_item(&self, index: usize) -> bool {
        index < self.first || self.items.binary_search(&index).is_ok()
    }
}
