//! Gathers the inputs of requests that the server answered with `input_required`,
//! and sends the requests again (2026-07-28, basic/patterns/mrtr).

use std::borrow::Cow;

use sparring_wire::{ErrorObject, Frame, Id, Json, RawJson};

use super::pending::{PendingRequest, Recipient};
use super::{Core, Event, ServerRequestId, Time};
use crate::client::error::Error;

/// The maximum number of inputs of one round.
const MAX_INPUTS_PER_ROUND: usize = 100;

/// A request whose inputs are being gathered.
pub(super) struct InputRound<W> {
    pending: PendingRequest<W>,
    /// The deadline for all inputs.
    deadline: Time,
    state: Option<RawJson>,
    inputs: Vec<RequestedInput>,
}

struct RequestedInput {
    key: String,
    method: String,
    answer: Option<RawJson>,
}

impl<W> InputRound<W> {
    pub(super) fn recipient(&self) -> &Recipient<W> {
        &self.pending.recipient
    }

    pub(super) fn waiter(&mut self) -> Option<&mut W> {
        self.pending.waiter()
    }

    pub(super) fn into_parts(self) -> (Recipient<W>, Cow<'static, str>) {
        self.pending.into_parts()
    }
}

impl<W> Core<W> {
    /// Asks the owner for each input that the result names.
    pub(super) fn start_input_round(
        &mut self,
        now: Time,
        id: Id,
        mut pending: PendingRequest<W>,
        frame: Frame,
    ) {
        let Some(result) = frame.result() else { return };
        pending.rounds += 1;
        if pending.rounds > self.options.max_rounds {
            let error = Error::TooManyRounds {
                method: pending.method.to_string(),
                rounds: self.options.max_rounds,
            };
            return self.fail_request(now, id, pending, error);
        }
        let state = result.get("requestState").map(RawJson::from);
        let mut inputs = Vec::new();
        let requests = result.get("inputRequests").unwrap_or(Json::EMPTY_OBJECT).members();
        if requests.clone().nth(MAX_INPUTS_PER_ROUND).is_some() {
            let reason = format!("more than {MAX_INPUTS_PER_ROUND} inputs in one round");
            let error = Error::InvalidResult { method: pending.method.to_string(), reason };
            return self.fail_request(now, id, pending, error);
        }
        for (key, wanted) in requests {
            let key = key.name().into_owned();
            // Only the first of two equal keys is asked for.
            if inputs.iter().any(|input: &RequestedInput| input.key == key) {
                continue;
            }
            let method =
                wanted.get("method").and_then(Json::as_str).unwrap_or_default().into_owned();
            let request = ServerRequestId::Input { id: id.clone(), key: key.clone() };
            let params = wanted.get("params").map(RawJson::from);
            self.events.push_back(Event::ServerRequest {
                request,
                method: method.clone(),
                params,
                caused_by: Some(id.clone()),
            });
            inputs.push(RequestedInput { key, method, answer: None });
        }
        if inputs.is_empty() && state.is_none() {
            let reason = "input_required with neither inputRequests nor requestState".to_owned();
            let error = Error::InvalidResult { method: pending.method.to_string(), reason };
            return self.fail_request(now, id, pending, error);
        }
        let deadline = match self.options.pause_timeouts_while_answering {
            true => Time::MAX,
            false => now.saturating_add(pending.timeout),
        };
        self.schedule_wake(deadline);
        self.rounds.insert(id.clone(), InputRound { pending, deadline, state, inputs });
        self.retry_when_complete(now, &id);
    }

    /// Stores the owner's answer to one input.
    pub(super) fn store_input(
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
                self.cancel_inputs(id, &round);
                let method = round.pending.method.to_string();
                return self.fail_request(
                    now,
                    id.clone(),
                    round.pending,
                    Error::InputNotProvided { method, request, key, error: Box::new(error) },
                );
            }
        }
        self.retry_when_complete(now, id);
    }

    pub(super) fn input_deadline(&self) -> Option<Time> {
        self.rounds.values().map(|round| round.deadline).min()
    }

    /// Fails the requests whose inputs did not arrive in time.
    pub(super) fn fail_overdue_rounds(&mut self, now: Time) {
        let overdue = self.rounds.iter().filter(|(_, round)| round.deadline <= now);
        let overdue: Vec<Id> = overdue.map(|(id, _)| id.clone()).collect();
        for id in overdue {
            let Some(round) = self.rounds.remove(&id) else { continue };
            self.cancel_inputs(&id, &round);
            let method = format!("the input for {}", round.pending.method);
            let after = round.pending.timeout;
            self.fail_request(now, id, round.pending, Error::Timeout { method, after });
        }
    }

    pub(super) fn cancel_inputs(&mut self, id: &Id, round: &InputRound<W>) {
        for input in round.inputs.iter().filter(|input| input.answer.is_none()) {
            let request = ServerRequestId::Input { id: id.clone(), key: input.key.clone() };
            self.events.push_back(Event::ServerRequestCancelled(request));
        }
    }

    /// Sends the request again under a new id once all inputs have arrived, with
    /// the inputs and the unchanged state.
    fn retry_when_complete(&mut self, now: Time, id: &Id) {
        let complete =
            |round: &InputRound<W>| round.inputs.iter().all(|input| input.answer.is_some());
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
        let retry = self.generate_id();
        round.pending.params = Some(params);
        round.pending.reset_deadline();
        self.send_request(now, retry.clone(), round.pending);
        // A later round starts from the caller's params again.
        if let Some(pending) = self.pending.get_mut(&retry) {
            pending.params = original;
        }
    }
}
