//! What has happened to servers, as far back as is kept.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use tokio::time::Instant;

/// How much is kept of each server.
const KEPT: usize = 100;

/// What has happened, by server.
#[derive(Default)]
pub(super) struct Log {
    entries: BTreeMap<String, VecDeque<Entry>>,
    /// Those that are connected, by what is known here.
    connected: BTreeSet<String>,
}

/// Something that has happened.
pub(super) struct Entry {
    pub(super) at: Instant,
    pub(super) text: String,
}

impl Log {
    pub(super) fn add(&mut self, server: &str, text: &str) {
        let entries = self.entries.entry(server.to_owned()).or_default();
        if entries.len() == KEPT {
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

    /// Whether a server was connected when the last of this happened.
    pub(super) fn is_connected(&self, server: &str) -> bool {
        self.connected.contains(server)
    }

    /// What has happened to a server, the oldest first.
    pub(super) fn of(&self, server: &str) -> impl Iterator<Item = &Entry> {
        self.entries.get(server).into_iter().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_the_last_is_kept_of_a_server_that_says_much() {
        let mut log = Log::default();
        (0..KEPT + 5).for_each(|number| log.add("a", &number.to_string()));
        let first = log.of("a").next().map(|entry| entry.text.clone());
        assert_eq!((first.as_deref(), log.of("a").count()), (Some("5"), KEPT));
        assert_eq!(log.of("b").count(), 0);
    }
}
