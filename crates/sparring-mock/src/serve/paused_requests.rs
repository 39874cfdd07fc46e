//! Paused requests that wait for input responses of the client (2026-07-28,
//! basic/patterns/mrtr). They are stored here, and the client gets only a random `requestState`,
//! which is valid once.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value};

use super::ScriptState;
use crate::bounded_map::{BoundedMap, MapLimits};
use crate::model::Reply;
use crate::value_size::map_size;

/// The maximum number of paused requests, and the bytes of their answers; the oldest are dropped
/// for a new one.
const LIMITS: MapLimits = MapLimits { entries: 10_000, bytes: 64 * 1024 * 1024 };

/// A paused request.
#[derive(Debug, Clone)]
pub(super) struct PausedRequest {
    /// The script that it was sent to.
    pub(super) script: Arc<ScriptState>,
    /// The original request: a different request cannot continue it.
    pub(super) method: String,
    pub(super) id: String,
    /// The hash of the arguments, which may be large.
    pub(super) args: u64,
    /// The chosen reply, and the number of the call.
    pub(super) reply: Arc<Reply>,
    pub(super) number: u64,
    /// The current round, and the answers so far.
    pub(super) round: usize,
    pub(super) answers: Map<String, Value>,
}

/// All paused requests.
#[derive(Debug)]
pub(super) struct PausedRequests {
    by_state: Mutex<BoundedMap<String, PausedRequest>>,
    /// Its keys are random, so that no client can find arguments with the same hash.
    hasher: RandomState,
}

impl Default for PausedRequests {
    fn default() -> Self {
        let by_state = Mutex::new(BoundedMap::new(LIMITS));
        PausedRequests { by_state, hasher: RandomState::new() }
    }
}

impl PausedRequests {
    /// Stores a request and returns its `requestState`.
    pub(super) fn insert(&self, paused: PausedRequest) -> String {
        let request_state = new_request_state();
        let bytes = map_size(&paused.answers);
        self.lock().insert(request_state.clone(), paused, bytes);
        request_state
    }

    /// Returns the hash of arguments.
    pub(super) fn hash(&self, args: &Value) -> u64 {
        self.hasher.hash_one(args)
    }

    /// Drops all requests.
    pub(super) fn clear(&self) {
        self.lock().clear();
    }

    /// Returns the script of a paused request.
    pub(super) fn script_of(&self, request_state: &str) -> Option<Arc<ScriptState>> {
        self.lock().get(request_state).map(|paused| Arc::clone(&paused.script))
    }

    /// Takes a request, which is possible once.
    pub(super) fn take(&self, request_state: &str) -> Option<PausedRequest> {
        self.lock().remove(request_state)
    }

    fn lock(&self) -> MutexGuard<'_, BoundedMap<String, PausedRequest>> {
        self.by_state.lock().unwrap_or_else(PoisonError::into_inner)
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
            args: 0,
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
            (0..LIMITS.entries).map(|_| requests.insert(paused_request(0))).collect();
        assert!(requests.take(&first).is_none());
        assert!(
            requests.take(&others[0]).is_some()
                && requests.take(&others[LIMITS.entries - 1]).is_some()
        );
    }

    #[test]
    fn drops_the_oldest_when_their_answers_are_large() {
        let requests = PausedRequests::default();
        let states: Vec<String> = (0..10)
            .map(|_| {
                let answer = Value::from("x".repeat(LIMITS.bytes / 8));
                let answers = Map::from_iter([("a".to_owned(), answer)]);
                requests.insert(PausedRequest { answers, ..paused_request(0) })
            })
            .collect();
        let kept = states.iter().filter(|it| requests.take(it).is_some()).count();
        assert_eq!(kept, 7);
    }

    #[test]
    fn equal_arguments_have_the_same_hash() {
        let requests = PausedRequests::default();
        let hash = |text| requests.hash(&serde_json::from_str(text).unwrap());
        assert_eq!(hash(r#"{"a": 1, "b": [2]}"#), hash(r#"{"b": [2], "a": 1}"#));
        assert_ne!(hash(r#"{"a": 1, "b": [2]}"#), hash(r#"{"a": 1, "b": [3]}"#));
    }
}
