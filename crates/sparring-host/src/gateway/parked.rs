//! Requests whose client must come back with an answer (2026-07-28,
//! basic/patterns/mrtr): they stay in flight at their server meanwhile.
//!
//! A request that nobody comes back for ends by itself: its server is told that
//! there is no answer.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use ring::rand::{SecureRandom as _, SystemRandom};
use serde_json::{Map, Value};
use sparring_peer::server::{Context, Failure, InputRequired};
use sparring_wire::ErrorObject;
use tokio::time::Instant;

use super::flight::{Flight, about};

/// How many are kept; for one more the oldest is given up.
const MOST: usize = 1_000;

/// How long one is kept, and how long an answer may take.
pub(super) const LONG: Duration = Duration::from_secs(600);

/// Requests by the states that their clients got, which nobody else can know.
#[derive(Default)]
pub(super) struct Parked(Mutex<HashMap<String, Place>>);

struct Place {
    flight: Flight,
    about: String,
    since: Instant,
}

impl Parked {
    /// Keeps a request until its client comes back with these answers, and gives
    /// what it is told.
    pub(super) fn park(
        &self,
        flight: Flight,
        requests: Map<String, Value>,
        cx: &Context,
    ) -> Failure {
        let mut random = [0; 16];
        if SystemRandom::new().fill(&mut random).is_err() {
            return ErrorObject::internal("there are no random bytes").into();
        }
        let state: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
        let place = Place { flight, about: about(cx), since: Instant::now() };
        let mut places = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        places.retain(|_, place| place.since.elapsed() < LONG);
        while places.len() >= MOST {
            let oldest = places.iter().min_by_key(|(_, place)| place.since);
            let Some(oldest) = oldest.map(|(state, _)| state.clone()) else { break };
            places.remove(&oldest);
        }
        places.insert(state.clone(), place);
        Failure::InputRequired(InputRequired { requests, state: Some(state) })
    }

    /// The request that a client comes back for, told of its answers.
    pub(super) fn take(&self, state: &str, cx: &Context) -> Result<Flight, ErrorObject> {
        let mut places = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let place = places.remove(state).filter(|place| place.about == about(cx));
        drop(places);
        let over = || ErrorObject::invalid_params("requestState: what it belongs to is over");
        let mut flight = place.ok_or_else(over)?.flight;
        flight.answered(cx);
        Ok(flight)
    }
}
