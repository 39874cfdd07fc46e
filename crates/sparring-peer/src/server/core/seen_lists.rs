//! The lists that a client has read, so that it is notified only if they have
//! changed. Contains no lists, only digests of them.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use sparring_wire::Json;

use crate::client::ListKind;

/// The current lists of a server that belong to one notification.
#[derive(Debug)]
pub struct CurrentLists {
    digests: Vec<(ListKind, u64)>,
    /// True if subscriptions are notified too.
    pub to_subscriptions: bool,
}

impl CurrentLists {
    /// The lists with these results.
    pub fn new<'a>(
        results: impl IntoIterator<Item = (ListKind, Json<'a>)>,
        to_subscriptions: bool,
    ) -> Self {
        let digests = results.into_iter().map(|(what, result)| (what, digest(result))).collect();
        CurrentLists { digests, to_subscriptions }
    }
}

/// The digests of the lists that a client has read and not been notified about
/// since.
#[derive(Debug, Default)]
pub(super) struct SeenLists(Vec<(ListKind, u64)>);

impl SeenLists {
    /// Records the result that answers a request.
    pub(super) fn record(&mut self, method: &str, result: Json<'_>) {
        let all =
            [ListKind::Tools, ListKind::Resources, ListKind::ResourceTemplates, ListKind::Prompts];
        let Some(what) = all.into_iter().find(|what| what.method() == method) else { return };
        self.0.retain(|(seen, _)| *seen != what);
        self.0.push((what, digest(result)));
    }

    /// Returns true if the client has read one of these lists and it is now
    /// another one. The client is then regarded as notified.
    pub(super) fn take_changed(&mut self, current: &CurrentLists) -> bool {
        let before = self.0.len();
        self.0.retain(|(seen, digest)| {
            let now = current.digests.iter().find(|(what, _)| what == seen);
            now.is_none_or(|(_, now)| now == digest)
        });
        self.0.len() < before
    }
}

fn digest(result: Json<'_>) -> u64 {
    let mut hasher = DefaultHasher::new();
    result.bytes().hash(&mut hasher);
    hasher.finish()
}
