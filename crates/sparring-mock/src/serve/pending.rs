//! Requests that wait for the client's answers (2026-07-28,
//! basic/patterns/mrtr). They are kept here, and the client only gets a ticket:
//! one that it makes up or alters fits nothing, and one that it uses is gone.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Map, Value};

use super::Scene;
use crate::model::Reply;

/// How many may wait; the oldest is given up for one more.
const MOST: usize = 10_000;

/// A request on hold.
#[derive(Debug, Clone)]
pub(super) struct Paused {
    /// The script that it came to.
    pub(super) scene: Arc<Scene>,
    /// The request that it was: another one cannot go on in its place.
    pub(super) method: String,
    pub(super) id: String,
    pub(super) args: Value,
    /// The reply that was chosen, and the call's number.
    pub(super) reply: Arc<Reply>,
    pub(super) number: u64,
    /// The round that waits, and what was answered up to now.
    pub(super) round: usize,
    pub(super) answers: Map<String, Value>,
}

/// All that wait.
#[derive(Debug, Default)]
pub(super) struct Pending(Mutex<Waiting>);

#[derive(Debug, Default)]
struct Waiting {
    by_ticket: HashMap<String, Paused>,
    order: VecDeque<String>,
}

impl Pending {
    /// Keeps a request and gives its ticket.
    pub(super) fn keep(&self, paused: Paused) -> String {
        let ticket = ticket();
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.order.len() >= MOST
            && let Some(oldest) = waiting.order.pop_front()
        {
            waiting.by_ticket.remove(&oldest);
        }
        waiting.order.push_back(ticket.clone());
        waiting.by_ticket.insert(ticket.clone(), paused);
        ticket
    }

    /// Forgets all of them.
    pub(super) fn clear(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Waiting::default();
    }

    /// The script that a request on hold came to.
    pub(super) fn scene_of(&self, ticket: &str) -> Option<Arc<Scene>> {
        let waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.by_ticket.get(ticket).map(|paused| Arc::clone(&paused.scene))
    }

    /// Gives a request back, once.
    pub(super) fn take(&self, ticket: &str) -> Option<Paused> {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let paused = waiting.by_ticket.remove(ticket)?;
        waiting.order.retain(|other| other != ticket);
        Some(paused)
    }
}

/// 192 bits that nobody can guess.
fn ticket() -> String {
    use base64::Engine as _;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    let mut bytes = [0; 24];
    getrandom::fill(&mut bytes).expect("the system gives random bytes");
    URL_SAFE_NO_PAD.encode(bytes)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use sparring_script::Source;

    use super::*;
    use crate::load::{Settings, load};
    use crate::model::Body;

    fn paused(round: usize) -> Paused {
        let source = Source::new("none", "{}");
        let model = load(&source, Path::new(""), &Settings::default()).model.unwrap();
        Paused {
            scene: Arc::new(Scene::new(Arc::new(model))),
            method: "tools/call".to_owned(),
            id: "x".to_owned(),
            args: Value::Null,
            reply: Arc::new(Reply::of(Body::Interaction)),
            number: 1,
            round,
            answers: Map::new(),
        }
    }

    #[test]
    fn a_ticket_is_good_once_and_as_it_is() {
        let pending = Pending::default();
        let ticket = pending.keep(paused(1));
        assert!(pending.take(&format!("{ticket}x")).is_none());
        assert!(pending.take("").is_none());
        assert!(pending.take(&ticket).is_some_and(|paused| paused.round == 1));
        assert!(pending.take(&ticket).is_none());
    }

    #[test]
    fn the_oldest_gives_way() {
        let pending = Pending::default();
        let first = pending.keep(paused(0));
        let others: Vec<String> = (0..MOST).map(|_| pending.keep(paused(0))).collect();
        assert!(pending.take(&first).is_none());
        assert!(pending.take(&others[0]).is_some() && pending.take(&others[MOST - 1]).is_some());
    }
}
