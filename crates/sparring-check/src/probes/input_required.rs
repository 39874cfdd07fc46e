//! Requests with several rounds: the state, and complete, missing, unexpected and malformed
//! responses to what the server asks for.

use serde_json::{Map, Value, json};
use sparring_wire::Rule;

use super::altered_state::altered_states;
use super::observed::{Observed, is_success, observe_calls, requires_input};
use super::{Probe, probe};
use crate::answers::answer;
use crate::connection::{Connection, Reply};
use crate::context::{Context, ProbeResult};
use crate::verdict::Finding;

pub(super) const PROBES: &[Probe] =
    &[probe!([ForgedState, MissingInput, UnexpectedInput, MalformedInput], rounds)];

const RULES: [Rule; 4] =
    [Rule::ForgedState, Rule::MissingInput, Rule::UnexpectedInput, Rule::MalformedInput];

/// The number of requests that are tried, and of rounds that are followed.
const MAX_REQUESTS: usize = 4;
const MAX_ROUNDS: usize = 5;

/// Repeats the requests that asked for input, and answers in different ways.
async fn rounds(context: &Context) -> ProbeResult {
    let observed = observe_calls(context).await;
    let mut asking: Vec<&Observed> = Vec::new();
    for request in &observed {
        let is_known = |it: &&&Observed| {
            it.method == request.method
                && (it.params["name"] == request.params["name"]
                    && it.params["uri"] == request.params["uri"])
        };
        let asks = requires_input(&request.response["result"]) && request.is_first_round();
        if asks && !asking.iter().any(|it| is_known(&it)) {
            asking.push(request);
        }
    }
    if asking.is_empty() {
        for rule in RULES {
            context.not_applicable(rule, "no request that was sent requires input");
        }
        return Ok(());
    }
    let connection =
        context.connect_with(|client| client.without_lifecycle(context.revision)).await?;
    for request in asking.into_iter().take(MAX_REQUESTS) {
        let asked = Asked { context, connection: &connection, request };
        asked.check().await;
    }
    connection.close().await;
    for (rule, reason) in [
        (Rule::ForgedState, "no request with a `requestState` succeeds"),
        (Rule::MissingInput, "no request succeeds after its input"),
        (Rule::UnexpectedInput, "no request succeeds after its input"),
        (Rule::MalformedInput, "no request that was sent asks a question"),
    ] {
        context.not_applicable(rule, reason);
    }
    Ok(())
}

/// A request that asks for input.
struct Asked<'a> {
    context: &'a Context,
    connection: &'a Connection,
    request: &'a Observed,
}

/// One round: what the server asked, and the answers.
struct Round {
    inputs: Map<String, Value>,
    state: Option<Value>,
}

impl Round {
    fn of(reply: &Reply) -> Option<Round> {
        let mut result = reply.result().filter(requires_input)?;
        let inputs = result["inputRequests"].as_object().cloned().unwrap_or_default();
        let state = result.get_mut("requestState").map(Value::take);
        Some(Round { inputs, state })
    }

    fn answers(&self) -> Value {
        let answers = self.inputs.iter().map(|(key, input)| {
            let method = input["method"].as_str().unwrap_or_default();
            (key.clone(), answer(method, &input["params"]))
        });
        Value::Object(answers.collect())
    }

    fn keys(&self) -> Vec<&String> {
        self.inputs.keys().collect()
    }
}

/// The end of a request that was answered as the server asked.
struct Completed {
    success: bool,
    /// The first round, if it is the only one and has no state.
    only_round: Option<Round>,
    /// The keys of the second round, if it has one.
    second_keys: Option<Vec<String>>,
}

impl Asked<'_> {
    async fn check(&self) {
        let Some(completed) = self.complete().await else { return };
        self.malformed_input().await;
        if completed.success {
            self.missing_input().await;
            self.unexpected_input(&completed).await;
            self.forged_state(&completed).await;
        }
        if let Some(round) =
            completed.only_round.filter(|it| completed.success && !it.inputs.is_empty())
        {
            self.answer_on_another_connection(&round).await;
        }
    }

    /// Sends the complete input as the first request of another connection. A server that asks
    /// for the same input again has kept the round in its memory (basic#statelessness).
    async fn answer_on_another_connection(&self, round: &Round) {
        let Ok(connection) = self.context.connect_without_discovery().await else { return };
        let other = Asked { connection: &connection, ..*self };
        let reply = other.send(Some(round.answers()), None).await;
        if Round::of(&reply).is_some_and(|next| next.keys() == round.keys()) {
            let message = "expected a result for a request with all input as the first of a \
                           connection, as after the question; the server asked for the same input";
            let finding = Finding::new(message).with_frames(reply.frames()).about(self.name());
            self.context.fail(Rule::Stateful, finding);
        }
        connection.close().await;
    }

    fn name(&self) -> String {
        let params = &self.request.params;
        let name = params["name"].as_str().or(params["uri"].as_str());
        name.unwrap_or_default().to_owned()
    }

    async fn first_round(&self) -> Option<Round> {
        Round::of(&self.send(None, None).await)
    }

    async fn send(&self, responses: Option<Value>, state: Option<Value>) -> Reply {
        let mut params = self.request.params.clone();
        if let Some(responses) = responses {
            params["inputResponses"] = responses;
        }
        if let Some(state) = state {
            params["requestState"] = state;
        }
        self.connection.request(&self.request.method, Some(params)).await
    }

    /// Answers every round as the server asks.
    async fn complete(&self) -> Option<Completed> {
        let mut round = self.first_round().await?;
        let mut second_keys: Option<Vec<String>> = None;
        for _ in 0..MAX_ROUNDS {
            let responses = (!round.inputs.is_empty()).then(|| round.answers());
            let reply = self.send(responses, round.state.clone()).await;
            match Round::of(&reply) {
                Some(next) => {
                    second_keys.get_or_insert_with(|| next.inputs.keys().cloned().collect());
                    round = next;
                }
                None => {
                    let is_only = second_keys.is_none() && round.state.is_none();
                    let only_round = Some(round).filter(|_| is_only);
                    let success = is_complete(&reply);
                    return Some(Completed { success, only_round, second_keys });
                }
            }
        }
        Some(Completed { success: false, only_round: None, second_keys })
    }

    /// Leaves out all responses, and then all but the first.
    async fn missing_input(&self) {
        for given in [0, 1] {
            let Some(round) = self.first_round().await else { return };
            if round.inputs.len() <= given {
                return;
            }
            let mut answers = round.answers();
            if let Some(answers) = answers.as_object_mut() {
                *answers = std::mem::take(answers).into_iter().take(given).collect();
            }
            let reply = self.send(Some(answers), round.state.clone()).await;
            match reply.error_code().is_some() || reply.is_tool_error() {
                true => {
                    let expected = "expected that a retry without all input is asked for it again";
                    let finding = reply.finding(expected).about(self.name());
                    self.context.fail(Rule::MissingInput, finding);
                }
                false if reply.is_answered() => self.context.pass(Rule::MissingInput),
                false => {}
            }
        }
    }

    async fn malformed_input(&self) {
        let rule = Rule::MalformedInput;
        for malformed in [json!("sparring"), json!([1])] {
            let Some(round) = self.first_round().await.filter(|it| !it.inputs.is_empty()) else {
                return;
            };
            let reply = self.send(Some(malformed), round.state.clone()).await;
            match (reply.error_code(), reply.result()) {
                (Some(_), _) => self.context.pass(rule),
                (None, Some(_)) => {
                    let expected = "expected an error for `inputResponses` that is no object";
                    self.context.fail(rule, reply.finding(expected).about(self.name()));
                }
                (None, None) => {}
            }
        }
        let Some(round) = self.first_round().await.filter(|it| !it.inputs.is_empty()) else {
            return;
        };
        let wrong = round.inputs.keys().map(|key| (key.clone(), json!(42))).collect();
        let reply = self.send(Some(Value::Object(wrong)), round.state.clone()).await;
        if is_complete(&reply) {
            let expected = "expected an error for input responses that are numbers";
            self.context.fail(rule, reply.finding(expected).about(self.name()));
        }
    }

    async fn unexpected_input(&self, completed: &Completed) {
        let Some(round) = self.first_round().await.filter(|it| !it.inputs.is_empty()) else {
            return;
        };
        let mut answers = round.answers();
        answers["sparring-unexpected"] = json!({"action": "accept", "content": {}});
        let reply = self.send(Some(answers), round.state.clone()).await;
        let goes_on = is_complete(&reply) || completed.second_keys.is_some();
        match reply.error_code().is_none() && !reply.is_tool_error() && goes_on {
            true => self.context.pass(Rule::UnexpectedInput),
            false if reply.is_answered() => {
                let expected = "expected that an unexpected input response is ignored";
                let finding = reply.finding(expected).about(self.name());
                self.context.fail(Rule::UnexpectedInput, finding);
            }
            false => {}
        }
    }

    /// Returns altered states. The server must not go on with any of them.
    async fn forged_state(&self, completed: &Completed) {
        let Some(Round { state: Some(Value::String(state)), .. }) = self.first_round().await else {
            return;
        };
        for index in 0..altered_states(&state).len() {
            let Some(round) = self.first_round().await else { return };
            let Some(Value::String(fresh)) = &round.state else { return };
            let Some(forged) = altered_states(fresh).into_iter().nth(index) else { continue };
            let responses = (!round.inputs.is_empty()).then(|| round.answers());
            let reply = self.send(responses, Some(forged.into())).await;
            let next = Round::of(&reply);
            let has_advanced = next.as_ref().is_some_and(|next| {
                let second = completed.second_keys.as_ref();
                let keys = next.keys();
                second.is_some_and(|it| it.iter().eq(keys.iter().copied())) && keys != round.keys()
            });
            if is_complete(&reply) || has_advanced {
                let expected = "expected an error for a `requestState` that was altered";
                let finding = reply.finding(expected).about(self.name());
                return self.context.fail(Rule::ForgedState, finding);
            }
            if reply.is_answered() {
                self.context.pass(Rule::ForgedState);
            }
        }
    }
}

/// Returns true if the response is a complete result without `isError`.
fn is_complete(reply: &Reply) -> bool {
    let result = reply.result().unwrap_or_default();
    is_success(&json!({"result": result}))
}
