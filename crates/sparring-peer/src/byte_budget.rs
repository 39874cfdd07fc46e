//! A limit of bytes that many owners share. Each reserves its part, which is free again when the
//! reservation is dropped.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A limit of bytes. Cheap to clone; all clones share it.
#[derive(Debug, Clone)]
pub struct ByteBudget {
    limit: usize,
    reserved: Arc<AtomicUsize>,
}

/// Bytes of a budget, until it is dropped.
#[derive(Debug)]
pub struct ReservedBytes {
    budget: ByteBudget,
    bytes: usize,
}

impl ByteBudget {
    /// Creates a budget of `limit` bytes.
    pub fn new(limit: usize) -> Self {
        ByteBudget { limit, reserved: Arc::default() }
    }

    /// Reserves bytes; `None` if there are not as many left.
    pub fn reserve(&self, bytes: usize) -> Option<ReservedBytes> {
        let mut reserved = self.reserve_none();
        reserved.grow(bytes).then_some(reserved)
    }

    /// Returns a reservation without bytes, which can grow.
    pub fn reserve_none(&self) -> ReservedBytes {
        ReservedBytes { budget: self.clone(), bytes: 0 }
    }

    /// Returns the number of reserved bytes.
    pub fn reserved(&self) -> usize {
        self.reserved.load(Ordering::Relaxed)
    }
}

impl ReservedBytes {
    /// Reserves more bytes. Returns false, and reserves none, if there are not as many left.
    pub fn grow(&mut self, more: usize) -> bool {
        let ByteBudget { limit, reserved } = &self.budget;
        let grown = |before: usize| before.checked_add(more).filter(|now| now <= limit);
        let fits = reserved.fetch_update(Ordering::Relaxed, Ordering::Relaxed, grown).is_ok();
        self.bytes += if fits { more } else { 0 };
        fits
    }

    /// Returns the number of bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for ReservedBytes {
    fn drop(&mut self) {
        self.budget.reserved.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reservation_counts_until_it_is_dropped() {
        let budget = ByteBudget::new(10);
        let mut first = budget.reserve(4).unwrap();
        let second = budget.clone().reserve(6).unwrap();
        assert!(budget.reserve(1).is_none() && !first.grow(usize::MAX));
        drop(second);
        assert!(first.grow(6) && budget.reserve(0).is_some());
        assert_eq!((first.bytes(), budget.reserved()), (10, 10));
        drop(first);
        assert_eq!(budget.reserved(), 0);
    }
}
