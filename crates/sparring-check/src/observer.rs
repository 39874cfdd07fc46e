//! Follows a check while it runs, for traces and progress lines.

use sparring_wire::{Revision, Rule, TranscriptItem};

/// Follows a check while it runs. Its functions must not wait.
pub trait CheckObserver: Send + Sync {
    /// A frame, an exchange or a violation was recorded on one of the connections.
    fn recorded(&self, item: &TranscriptItem<'_>) {
        let _ = item;
    }

    /// The work on these rules starts in this revision.
    fn probe_started(&self, revision: Revision, rules: &[Rule]) {
        let _ = (revision, rules);
    }
}

impl CheckObserver for () {}
