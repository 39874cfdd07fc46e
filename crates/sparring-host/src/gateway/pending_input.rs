//! Requests that wait for input of their client (2026-07-28,
//! basic/patterns/mrtr). They stay open at their server meanwhile.
//!
//! A request that its client does not repeat in time is dropped, and the server
//! gets an error.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use ring::rand::{SecureRandom as _, SystemRandom};
use serde_json::{Map, Value};
use sparring_peer::server::{Context, HandlerError, InputRequired};
use sparring_wire::ErrorObject;
use tokio::time::Instant;

use super::forwarded_request::{ForwardedRequest, request_subject};

/// The maximum number of waiting requests; the oldest is dropped for a new one.
const MAX_PENDING: usize = 1_000;

/// Maximum wait of a request for its input, and for each answer.
pub(super) const INPUT_TIMEOUT: Duration = Duration::from_secs(600);

/// The waiting requests by their request states, which only their clients know.
#[derive(Default)]
pub(super) struct PendingInputs(Mutex<HashMap<String, PendingInput>>);

struct PendingInput {
    forwarded_request: ForwardedRequest,
    subject: String,
    since: Instant,
}

impl PendingInputs {
    /// Keeps a request until its client repeats it with answers to these
    /// requests. Returns the response for the client.
    pub(super) fn suspend(
        &self,
        forwarded_request: ForwardedRequest,
        requests: Map<String, Value>,
        cx: &Context,
    ) -> HandlerError {
        let mut random = [0; 16];
        if SystemRandom::new().fill(&mut random).is_err() {
            return ErrorObject::internal("cannot get random bytes from the system").into();
        }
        let state: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
        let entry =
            PendingInput { forwarded_request, subject: request_subject(cx), since: Instant::now() };
        let mut pending = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        pending.retain(|_, entry| entry.since.elapsed() < INPUT_TIMEOUT);
        while pending.len() >= MAX_PENDING {
            let oldest = pending.iter().min_by_key(|(_, entry)| entry.since);
            let Some(oldest) = oldest.map(|(state, _)| state.clone()) else { break };
            pending.remove(&oldest);
        }
        pending.insert(state.clone(), entry);
        HandlerError::InputRequired(InputRequired { requests, state: Some(state) })
    }

    /// Takes the request that a client repeats, and delivers the answers to it.
    pub(super) fn resume(
        &self,
        state: &str,
        cx: &Context,
    ) -> Result<ForwardedRequest, ErrorObject> {
        let mut pending = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = pending.remove(state).filter(|entry| entry.subject == request_subject(cx));
        drop(pending);
        let over = || ErrorObject::invalid_params("requestState: unknown or expired");
        let mut forwarded_request = entry.ok_or_else(over)?.forwarded_request;
        forwarded_request.deliver_answers(cx);
        Ok(forwarded_request)
    }
}
