//! The last events of each server.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use tokio::time::Instant;

/// Maximum number of entries for each server.
const MAX_ENTRIES: usize = 100;

/// The events by server.
#[derive(Default)]
pub(super) struct EventLog {
    entries: BTreeMap<String, VecDeque<Entry>>,
    /// The servers that are connected, as of the last event.
    connected: BTreeSet<String>,
}

/// One event.
pub(super) struct Entry {
    pub(super) at: Instant,
    pub(super) text: String,
}

impl EventLog {
    pub(super) fn add(&mut self, server: &str, text: &str) {
        let entries = self.entries.entry(server.to_owned()).or_default();
        if entries.len() == MAX_ENTRIES {
            entries.pop_front();
        }
        entries.push_back(Entry { at: Instant::now(), text: text.to_owned() });
    }

    pub(super) fn set_connected(&mut self, server: &str, connected: bool) {
        match connected {
            true => self.connected.insert(server.to_owned()),
            false => self.connected.remove(server),
        };
    }

    /// Returns true if a server was connected after its last event.
    pub(super) fn is_connected(&self, server: &str) -> bool {
        self.connected.contains(server)
    }

    /// Returns the events of a server, the oldest first.
    pub(super) fn entries_of(&self, server: &str) -> impl Iterator<Item = &Entry> {
        self.entries.get(server).into_iter().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn keeps_only_the_last_entries_of_a_server() {
        let mut log = EventLog::default();
        (0..MAX_ENTRIES + 5).for_each(|number| log.add("a", &number.to_string()));
        let first = log.entries_of("a").next().map(|entry| entry.text.clone());
        assert_eq!((first.as_deref(), log.entries_of("a").count()), (Some("5"), MAX_ENTRIES));
        assert_eq!(log.entries_of("b").count(), 0);
    }
}
