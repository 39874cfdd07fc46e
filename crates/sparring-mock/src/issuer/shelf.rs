//! Things by their names, no more than so many: the oldest give way.

use std::collections::{HashMap, VecDeque};

/// How many things one shelf has room for.
const MOST: usize = 10_000;

#[derive(Debug)]
pub(super) struct Shelf<T> {
    things: HashMap<String, T>,
    /// Their names in order; also of some that were taken away since.
    order: VecDeque<String>,
}

impl<T> Shelf<T> {
    /// Puts something there; whether there was nothing of that name.
    pub(super) fn put(&mut self, name: String, thing: T) -> bool {
        self.order.push_back(name.clone());
        let new = self.things.insert(name, thing).is_none();
        while self.order.len() > MOST {
            let oldest = self.order.pop_front();
            oldest.map(|oldest| self.things.remove(&oldest));
        }
        new
    }

    pub(super) fn get(&self, name: &str) -> Option<&T> {
        self.things.get(name)
    }

    pub(super) fn get_mut(&mut self, name: &str) -> Option<&mut T> {
        self.things.get_mut(name)
    }

    pub(super) fn retain(&mut self, keep: impl Fn(&T) -> bool) {
        self.things.retain(|_, thing| keep(thing));
    }
}

impl<T> Default for Shelf<T> {
    fn default() -> Self {
        Shelf { things: HashMap::new(), order: VecDeque::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_gives_way() {
        let mut shelf = Shelf::default();
        for number in 0..3 * MOST {
            assert!(shelf.put(number.to_string(), number));
            if number % 2 == 0 {
                shelf.retain(|it| *it != number);
            }
        }
        assert!(shelf.things.len() <= MOST && shelf.order.len() <= MOST);
        assert_eq!(shelf.get(&(3 * MOST - 1).to_string()), Some(&(3 * MOST - 1)));
        assert_eq!(shelf.get("1"), None);
    }
}
