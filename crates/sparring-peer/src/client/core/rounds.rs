//! Requests that need input of this side: gathered, then sent again
//! (2026-07-28, basic/patterns/mrtr).

use std::borrow::Cow;

use sparring_wire::{ErrorObject, Frame, Id, Json, RawJson};

use super::pending::{Owner, Pending};
use super::{Ask, Core, Event, Time};
use crate::client::error::Error;

/// The most inputs that one round may ask for.
const MOST: usize = 100;

/// A request whose input is being gathered.
pub(super) struct Round<W> {
    pending: Pending<W>,
    /// When the input must be there.
    deadline: Time,
    state: Option<RawJson>,
    inputs: Vec<Input>,
}

struct Input {
    key: String,
    method: String,
    answer: Option<RawJson>,
}

impl<W> Round<W> {
    pub(super) fn owner(&self) -> &Owner<W> {
        &self.pending.owner
    }

    pub(super) fn waiter(&mut self) -> Option<&mut W> {
        self.pending.waiter()
    }

    pub(super) fn into_parts(self) -> (Owner<W>, Cow<'static, str>) {
        self.pending.into_parts()
    }
}

impl<W> Core<W> {
    /// Asks the owner for each input that the result names.
    pub(super) fn gather(&mut self, now: Time, id: Id, mut pending: Pending<W>, frame: Frame) {
        let Some(result) = frame.result() else { return };
        pending.rounds += 1;
        if pending.rounds > self.options.max_rounds {
            let error = Error::TooManyRounds {
                method: pending.method.to_string(),
                rounds: self.options.max_rounds,
            };
            return self.fail(now, id, pending, error);
        }
        let state = result.get("requestState").map(RawJson::from);
        let mut inputs = Vec::new();
        let requests = result.get("inputRequests").unwrap_or(Json::EMPTY_OBJECT).members();
        if requests.clone().nth(MOST).is_some() {
            let reason = format!("it asks for more than {MOST} inputs at once");
            let error = Error::Unusable { method: pending.method.to_string(), reason };
            return self.fail(now, id, pending, error);
        }
        for (key, request) in requests {
            let key = key.name().into_owned();
            // Of a key that stands twice, the first is asked.
            if inputs.iter().any(|input: &Input| input.key == key) {
                continue;
            }
            let method =
                request.get("method").and_then(Json::as_str).unwrap_or_default().into_owned();
            let ask = Ask::Input { id: id.clone(), key: key.clone() };
            let params = request.get("params").map(RawJson::from);
            let with = Some(id.clone());
            self.events.push_back(Event::Asked { ask, method: method.clone(), params, with });
            inputs.push(Input { key, method, answer: None });
        }
        if inputs.is_empty() && state.is_none() {
            let reason = "input_required with neither inputRequests nor requestState".to_owned();
            let error = Error::Unusable { method: pending.method.to_string(), reason };
            return self.fail(now, id, pending, error);
        }
        let deadline = match self.options.patient {
            true => Time::MAX,
            false => now.saturating_add(pending.timeout),
        };
        self.wake_by(deadline);
        self.rounds.insert(id.clone(), Round { pending, deadline, state, inputs });
        self.retry_when_complete(now, &id);
    }

    /// The owner answered one of them.
    pub(super) fn input(
        &mut self,
        now: Time,
        id: &Id,
        key: &str,
        answer: Result<RawJson, ErrorObject>,
    ) {
        let Some(round) = self.rounds.get_mut(id) else { return };
        let Some(input) = round.inputs.iter_mut().find(|input| input.key == key) else { return };
        match answer {
            Ok(answer) => input.answer = Some(answer),
            Err(error) => {
                let (key, request) = (input.key.clone(), input.method.clone());
                let Some(round) = self.rounds.remove(id) else { return };
                self.withdraw_inputs(id, &round);
                let method = round.pending.method.to_string();
                return self.fail(
                    now,
                    id.clone(),
                    round.pending,
                    Error::Unanswered { method, request, key, error: Box::new(error) },
                );
            }
        }
        self.retry_when_complete(now, id);
    }

    pub(super) fn rounds_due(&self) -> Option<Time> {
        self.rounds.values().map(|round| round.deadline).min()
    }

    /// Gives up the requests whose input did not come in time.
    pub(super) fn rounds_tick(&mut self, now: Time) {
        let overdue = self.rounds.iter().filter(|(_, round)| round.deadline <= now);
        let overdue: Vec<Id> = overdue.map(|(id, _)| id.clone()).collect();
        for id in overdue {
            let Some(round) = self.rounds.remove(&id) else { continue };
            self.withdraw_inputs(&id, &round);
            let method = format!("the input for {}", round.pending.method);
            let after = round.pending.timeout;
            self.fail(now, id, round.pending, Error::Timeout { method, after });
        }
    }

    pub(super) fn withdraw_inputs(&mut self, id: &Id, round: &Round<W>) {
        for input in round.inputs.iter().filter(|input| input.answer.is_none()) {
            let ask = Ask::Input { id: id.clone(), key: input.key.clone() };
            self.events.push_back(Event::Withdrawn(ask));
        }
    }

    /// Sends the request again under a new id, with what was gathered and the
    /// state exactly as it was given.
    fn retry_when_complete(&mut self, now: Time, id: &Id) {
        let complete = |round: &Round<W>| round.inputs.iter().all(|input| input.answer.is_some());
        if !self.rounds.get(id).is_some_and(complete) {
            return;
        }
        let Some(mut round) = self.rounds.remove(id) else { return };
        let original = round.pending.params.clone();
        let mut params = original.clone().unwrap_or_else(RawJson::empty_object);
        if !round.inputs.is_empty() {
            let answers = round
                .inputs
                .iter()
                .filter_map(|input| Some((&*input.key, input.answer.as_ref()?.view())));
            let responses = RawJson::empty_object().with_defaults(&answers.collect::<Vec<_>>());
            params = params.with_member("inputResponses", responses.view());
        }
        if let Some(state) = &round.state {
            params = params.with_member("requestState", state.view());
        }
        let retry = self.fresh_id();
        round.pending.params = Some(params);
        round.pending.begin_anew();
        self.launch(now, retry.clone(), round.pending);
        // A later round starts again from what the owner asked for.
        if let Some(pending) = self.pending.get_mut(&retry) {
            pending.params = original;
        }
    }
}
