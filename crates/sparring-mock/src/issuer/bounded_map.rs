//! A map that drops its oldest entries when it is full.

use std::borrow::Borrow;
use std::collections::{HashMap, VecDeque};
use std::hash::Hash;

/// The maximum number of entries of a map.
const MAX_ENTRIES: usize = 10_000;

#[derive(Debug)]
pub(super) struct BoundedMap<K, T> {
    values: HashMap<K, T>,
    /// The keys in insertion order, including keys that were removed since.
    order: VecDeque<K>,
}

impl<K: Clone + Eq + Hash, T> BoundedMap<K, T> {
    /// Inserts a value. Returns true if the key was new.
    pub(super) fn insert(&mut self, key: K, value: T) -> bool {
        self.order.push_back(key.clone());
        let is_new = self.values.insert(key, value).is_none();
        while self.order.len() > MAX_ENTRIES {
            let oldest = self.order.pop_front();
            oldest.map(|oldest| self.values.remove(&oldest));
        }
        is_new
    }

    pub(super) fn get<Q: Eq + Hash + ?Sized>(&self, key: &Q) -> Option<&T>
    where
        K: Borrow<Q>,
    {
        self.values.get(key)
    }

    pub(super) fn get_mut<Q: Eq + Hash + ?Sized>(&mut self, key: &Q) -> Option<&mut T>
    where
        K: Borrow<Q>,
    {
        self.values.get_mut(key)
    }

    pub(super) fn retain(&mut self, keep: impl Fn(&T) -> bool) {
        self.values.retain(|_, value| keep(value));
    }
}

impl<K, T> Default for BoundedMap<K, T> {
    fn default() -> Self {
        BoundedMap { values: HashMap::new(), order: VecDeque::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drops_the_oldest_entries() {
        let mut map = BoundedMap::default();
        for number in 0..3 * MAX_ENTRIES {
            assert!(map.insert(number.to_string(), number));
            if number % 2 == 0 {
                map.retain(|it| *it != number);
            }
        }
        assert!(map.values.len() <= MAX_ENTRIES && map.order.len() <= MAX_ENTRIES);
        assert_eq!(map.get(&(3 * MAX_ENTRIES - 1).to_string()), Some(&(3 * MAX_ENTRIES - 1)));
        assert_eq!(map.get("1"), None);
    }
}
