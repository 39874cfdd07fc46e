//! A map that drops its oldest entries when it has too many, or when they are too large.

use std::borrow::Borrow;
use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

/// The limits of a map.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MapLimits {
    pub(crate) entries: usize,
    pub(crate) bytes: usize,
}

#[derive(Debug)]
pub(crate) struct BoundedMap<K, T> {
    limits: MapLimits,
    values: HashMap<K, MapEntry<T>>,
    /// The keys by age.
    order: BTreeMap<u64, K>,
    next_age: u64,
    bytes: usize,
}

#[derive(Debug)]
struct MapEntry<T> {
    value: T,
    bytes: usize,
    age: u64,
}

impl<K: Clone + Eq + Hash, T> BoundedMap<K, T> {
    pub(crate) fn new(limits: MapLimits) -> Self {
        BoundedMap { limits, values: HashMap::new(), order: BTreeMap::new(), next_age: 0, bytes: 0 }
    }

    /// Inserts a value of `bytes` bytes, and drops the oldest others if necessary. Returns true
    /// if the key was new.
    pub(crate) fn insert(&mut self, key: K, value: T, bytes: usize) -> bool {
        let is_new = self.remove(&key).is_none();
        let age = self.next_age;
        self.next_age += 1;
        self.bytes += bytes;
        self.order.insert(age, key.clone());
        self.values.insert(key, MapEntry { value, bytes, age });
        // The newest entry stays, so that its owner can limit it with a reason.
        while self.order.len() > self.limits.entries
            || self.bytes > self.limits.bytes && self.order.len() > 1
        {
            let Some((_, oldest)) = self.order.first_key_value() else { break };
            let oldest = oldest.clone();
            self.remove(&oldest);
        }
        is_new
    }

    pub(crate) fn get<Q: Eq + Hash + ?Sized>(&self, key: &Q) -> Option<&T>
    where
        K: Borrow<Q>,
    {
        self.values.get(key).map(|entry| &entry.value)
    }

    #[cfg(feature = "oauth")]
    pub(crate) fn get_mut<Q: Eq + Hash + ?Sized>(&mut self, key: &Q) -> Option<&mut T>
    where
        K: Borrow<Q>,
    {
        self.values.get_mut(key).map(|entry| &mut entry.value)
    }

    #[cfg(feature = "oauth")]
    pub(crate) fn retain(&mut self, keep: impl Fn(&T) -> bool) {
        let dropped = self.values.iter().filter(|(_, entry)| !keep(&entry.value));
        let dropped: Vec<K> = dropped.map(|(key, _)| key.clone()).collect();
        dropped.iter().for_each(|key| drop(self.remove(key)));
    }

    /// Drops all entries.
    pub(crate) fn clear(&mut self) {
        *self = BoundedMap::new(self.limits);
    }

    pub(crate) fn remove<Q: Eq + Hash + ?Sized>(&mut self, key: &Q) -> Option<T>
    where
        K: Borrow<Q>,
    {
        let entry = self.values.remove(key)?;
        self.order.remove(&entry.age);
        self.bytes -= entry.bytes;
        Some(entry.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: MapLimits = MapLimits { entries: 100, bytes: 1_000 };

    #[test]
    fn drops_the_oldest_entries() {
        let mut map = BoundedMap::new(LIMITS);
        for number in 0..3 * LIMITS.entries {
            assert!(map.insert(number.to_string(), number, 1));
            if number % 2 == 0 {
                assert_eq!(map.remove(&*number.to_string()), Some(number));
            }
        }
        assert_eq!((map.values.len(), map.order.len(), map.bytes), (100, 100, 100));
        assert_eq!(map.get("299"), Some(&299));
        assert_eq!(map.get("1"), None);
    }

    #[test]
    fn drops_the_oldest_entries_when_they_are_too_large() {
        let mut map = BoundedMap::new(LIMITS);
        for number in 0..10 {
            map.insert(number, (), 300);
        }
        assert_eq!((map.values.len(), map.bytes), (3, 900));
        assert!(map.get(&9).is_some() && map.get(&6).is_none());
        // A value that replaces another counts alone.
        assert!(!map.insert(9, (), 100));
        assert_eq!((map.values.len(), map.bytes), (3, 700));
        // The newest stays, even if it is too large.
        map.insert(10, (), 5_000);
        assert!(map.get(&10).is_some() && map.values.len() == 1);
    }
}
