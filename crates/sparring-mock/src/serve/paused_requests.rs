//! Paused requests that wait for input responses of the client (2026-07-28,
//! basic/patterns/mrtr). They are stored here, and the client gets only a random `requestState`,
//! which is valid once.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Map, Value};

use super::ScriptState;
use crate::model::Reply;

/// The maximum number of paused requests; the oldest is dropped for a new one.
const MAX_PAUSED: usize = 10_000;

/// A paused request.
#[derive(Debug, Clone)]
pub(super) struct PausedRequest {
    /// The script that it was sent to.
    pub(super) script: Arc<ScriptState>,
    /// The original request: a different request cannot continue it.
    pub(super) method: String,
    pub(super) id: String,
    pub(super) args: Value,
    /// The chosen reply, and the number of the call.
    pub(super) reply: Arc<Reply>,
    pub(super) number: u64,
    /// The current round, and the answers so far.
    pub(super) round: usize,
    pub(super) answers: Map<String, Value>,
}

/// All paused requests.
#[derive(Debug, Default)]
pub(super) struct PausedRequests(Mutex<PausedMap>);

#[derive(Debug, Default)]
struct PausedMap {
    by_state: HashMap<String, PausedRequest>,
    order: VecDeque<String>,
}

impl PausedRequests {
    /// Stores a request and returns its `requestState`.
    pub(super) fn insert(&self, paused: PausedRequest) -> String {
        let request_state = new_request_state();
        let mut map = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if map.order.len() >= MAX_PAUSED
            && let Some(oldest) = map.order.pop_front()
        {
            map.by_state.remove(&oldest);
        }
        map.order.push_back(request_state.clone());
        map.by_state.insert(request_state.clone(), paused);
        request_state
    }

    /// Drops all requests.
    pub(super) fn clear(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = PausedMap::default();
    }

    /// Returns the script of a paused request.
    pub(super) fn script_of(&self, request_state: &str) -> Option<Arc<ScriptState>> {
        let map = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        map.by_state.get(request_state).map(|paused| Arc::clone(&paused.script))
    }

    /// Takes a request, which is possible once.
    pub(super) fn take(&self, request_state: &str) -> Option<PausedRequest> {
        let mut map = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let paused = map.by_state.remove(request_state)?;
        map.order.retain(|other| other != request_state);
        Some(paused)
    }
}

/// Generates 192 random bits as text.
fn new_request_state() -> String {
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

    fn paused_request(round: usize) -> PausedRequest {
        let source = Source::new("none", "{}");
        let model = load(&source, Path::new(""), &Settings::default()).model.unwrap();
        PausedRequest {
            script: Arc::new(ScriptState::new(Arc::new(model))),
            method: "tools/call".to_owned(),
            id: "x".to_owned(),
            args: Value::Null,
            reply: Arc::new(Reply::from_body(Body::Interaction)),
            number: 1,
            round,
            answers: Map::new(),
        }
    }

    #[test]
    fn a_request_state_is_valid_once_and_unaltered() {
        let requests = PausedRequests::default();
        let request_state = requests.insert(paused_request(1));
        assert!(requests.take(&format!("{request_state}x")).is_none());
        assert!(requests.take("").is_none());
        assert!(requests.take(&request_state).is_some_and(|paused| paused.round == 1));
        assert!(requests.take(&request_state).is_none());
    }

    #[test]
    fn drops_the_oldest() {
        let requests = PausedRequests::default();
        let first = requests.insert(paused_request(0));
        let others: Vec<String> =
            (0..MAX_PAUSED).map(|_| requests.insert(paused_request(0))).collect();
        assert!(requests.take(&first).is_none());
        assert!(
            requests.take(&others[0]).is_some() && requests.take(&others[MAX_PAUSED - 1]).is_some()
        );
    }
}
