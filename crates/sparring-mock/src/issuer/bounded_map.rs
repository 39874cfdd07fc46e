//! A map that drops its oldest entries when it is full.

use std::collections::{HashMap, VecDeque};

/// The maximum number of entries of a map.
const MAX_ENTRIES: usize = 10_000;

#[derive(Debug)]
pub(super) struct BoundedMap<T> {
    values: HashMap<String, T>,
    /// The keys in insertion order, including keys that were removed since.
    order: VecDeque<String>,
}

impl<T> BoundedMap<T> {
    /// Inserts a value. Returns true if the key was new.
    pub(super) fn insert(&mut self, key: String, value: T) -> bool {
        self.order.push_back(key.clone());
        let is_new = self.values.insert(key, value).is_none();
        while self.order.len() > MAX_ENTRIES {
            let oldest = self.order.pop_front();
            oldest.map(|oldest| self.values.remove(&oldest));
        }
        is_new
    }

    pub(super) fn get(&self, key: &str) -> Option<&T> {
        self.values.get(key)
    }

    pub(super) fn get_mut(&mut self, key: &str) -> Option<&mut T> {
        self.values.get_mut(key)
    }

    pub(super) fn retain(&mut self, keep: impl Fn(&T) -> bool) {
        self.values.retain(|_, value| keep(value));
    }
}

impl<T> Default for BoundedMap<T> {
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
