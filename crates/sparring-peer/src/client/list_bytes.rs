//! Counts the bytes of the lists that clients have fetched, since all clients share a limit.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::ListKind;

/// The maximum number of bytes of the newest lists of all clients.
pub(super) const MAX_TOTAL_BYTES: usize = 512 * 1024 * 1024;

/// The bytes of the lists of all clients.
static TOTAL_BYTES: AtomicUsize = AtomicUsize::new(0);

/// The bytes of a client's newest list of each kind.
#[derive(Debug, Default)]
pub(super) struct ListBytes(Mutex<[usize; 4]>);

/// The bytes of a list that is being fetched. They count until the list is complete or dropped.
pub(super) struct FetchedBytes<'a> {
    client: &'a ListBytes,
    total: &'a AtomicUsize,
    bytes: usize,
}

impl ListBytes {
    /// Begins to count the bytes of a list.
    pub(super) fn fetch(&self) -> FetchedBytes<'_> {
        FetchedBytes { client: self, total: &TOTAL_BYTES, bytes: 0 }
    }

    fn own(&self) -> MutexGuard<'_, [usize; 4]> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ListBytes {
    fn drop(&mut self) {
        let own: usize = self.own().iter().sum();
        TOTAL_BYTES.fetch_sub(own, Ordering::Relaxed);
    }
}

impl FetchedBytes<'_> {
    /// Adds bytes. Returns false if the lists of all clients have too many then.
    pub(super) fn add(&mut self, bytes: usize) -> bool {
        self.bytes += bytes;
        self.total.fetch_add(bytes, Ordering::Relaxed) + bytes <= MAX_TOTAL_BYTES
    }

    /// Keeps the bytes instead of those of the older list.
    pub(super) fn keep(mut self, what: ListKind) {
        let bytes = std::mem::take(&mut self.bytes);
        let older = std::mem::replace(&mut self.client.own()[what as usize], bytes);
        self.total.fetch_sub(older, Ordering::Relaxed);
    }
}

impl Drop for FetchedBytes<'_> {
    fn drop(&mut self) {
        self.total.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_share_a_limit_of_bytes() {
        let total = AtomicUsize::new(0);
        let (first, second) = (ListBytes::default(), ListBytes::default());
        let fetch = |client| FetchedBytes { client, total: &total, bytes: 0 };
        let half = MAX_TOTAL_BYTES / 2;
        for client in [&first, &second] {
            let mut fetched = fetch(client);
            assert!(fetched.add(half - 2) && fetched.add(1));
            fetched.keep(ListKind::Tools);
        }
        // A list that is too large or not complete does not count any more.
        assert!(!fetch(&first).add(3));
        assert!(fetch(&first).add(2));
        // A newer list replaces the older one.
        let mut newer = fetch(&first);
        assert!(newer.add(1));
        newer.keep(ListKind::Tools);
        assert_eq!(total.load(Ordering::Relaxed), half);
        // The bytes are not those of the process, so they must not be subtracted from them.
        for client in [&first, &second] {
            *client.own() = [0; 4];
        }
    }
}
