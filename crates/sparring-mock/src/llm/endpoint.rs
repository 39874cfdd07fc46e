//! Answers requests with turns: finds the case and its next turn, and checks the expectations
//! of the turn.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};
use sparring_script::{Matcher, Mismatch, Span, did_you_mean};
use sparring_wire::Rule;
use sparring_wire::json::parse_value;
use sparring_wire::secret_names::is_secret_header;
use tokio::sync::watch;

use super::api::WireApi;
use super::cases::{CaseProgress, Cases};
use super::chat_request::ChatRequest;
use super::journal::{Journal, LlmAnswer, LlmMismatch, LlmRequest};
use super::render_turn::{AnswerCounters, TurnRenderer};
use super::response_store::ResponseStore;
use super::routes::{Route, TurnRoute, UnknownRoute};
use super::script::{ApiError, LlmScript, Repeat, Turn};
use super::{Api, LlmMock, TurnScope, messages, responses, side_requests};
use crate::http_mock::{BodyRefusal, HttpReply, HttpRequest, HttpResponder};
use crate::interactions::find_case_id;

/// The largest request body, in bytes (the limit of Anthropic).
const MAX_BODY_BYTES: usize = 32 * 1024 * 1024;

/// The model that is listed if a script names none.
const ANY_MODEL: &str = "scripted";

/// An LLM endpoint that is being served.
#[derive(Debug)]
pub(super) struct Endpoint {
    /// The script it started with.
    pub(super) script: Arc<LlmScript>,
    state: Mutex<EndpointState>,
    /// True if the latest request for an answer did not fit the script.
    pub(super) latest_misfits: watch::Sender<bool>,
}

#[derive(Debug)]
pub(super) struct EndpointState {
    /// The current script.
    script: Arc<LlmScript>,
    cases: Cases,
    counters: AnswerCounters,
    pub(super) journal: Journal,
    /// The number of requests since the start; a reset does not change it.
    received: u64,
    responses: ResponseStore,
}

/// The reason why no turn answers a request.
struct Refusal {
    miss: Box<LlmMismatch>,
    status: u16,
    code: Option<&'static str>,
}

impl Endpoint {
    pub(super) fn new(script: Arc<LlmScript>) -> Self {
        let state = EndpointState {
            script: Arc::clone(&script),
            cases: Cases::default(),
            counters: AnswerCounters::default(),
            journal: Journal::default(),
            received: 0,
            responses: ResponseStore::default(),
        };
        Endpoint { script, state: Mutex::new(state), latest_misfits: watch::Sender::new(false) }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, EndpointState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Restores the initial state.
    pub(super) fn reset(&self) {
        let mut state = self.state();
        state.start_script(Arc::clone(&self.script));
        state.counters = AnswerCounters::default();
        state.journal.clear();
        state.responses = ResponseStore::default();
        self.latest_misfits.send_replace(false);
    }

    /// Switches to another script, from its first turns.
    pub(super) fn set_script(&self, script: Arc<LlmScript>) {
        self.state().start_script(script);
    }

    /// Answers a request and records both.
    fn answer_and_record(
        &self,
        request: HttpRequest,
        serve: impl FnOnce(
            &mut EndpointState,
            &HttpRequest,
            &Route,
            &mut LlmRequest,
        ) -> Result<HttpReply, Refusal>,
    ) -> HttpReply {
        let mut entry = LlmRequest {
            at: Timestamp::now(),
            chat: None,
            http: request.clone().without_secrets(),
            case: None,
            turn: None,
            answer: None,
            status: 0,
            miss: None,
        };
        let route = find_route(self.script.api, &request);
        let api = Route::wire_api(route.as_ref().ok(), self.script.api, &request);
        // The lock is held to record turns in the order in which they are taken.
        let mut state = self.state();
        state.received += 1;
        let number = state.received;
        let reply = route.and_then(|route| serve(&mut state, &request, &route, &mut entry));
        let reply = reply.unwrap_or_else(|refusal| {
            let error = refusal.to_api_error();
            entry.miss = Some(*refusal.miss);
            // The official clients of OpenAI and Anthropic would retry otherwise.
            api.error_reply(&error).header("x-should-retry", "false")
        });
        entry.status = reply.status_code();
        let misfits = entry.miss.as_ref().map(|miss| miss.rule == Rule::UnexpectedTurn);
        if let Some(misfits) = misfits.or(entry.turn.map(|_| false)) {
            self.latest_misfits.send_replace(misfits);
        }
        state.journal.push(entry);
        reply.header(api.request_id_header(), &format!("req_{number}"))
    }
}

impl EndpointState {
    fn start_script(&mut self, script: Arc<LlmScript>) {
        self.script = script;
        self.cases = Cases::default();
    }

    fn serve(
        &mut self,
        request: &HttpRequest,
        route: &Route,
        entry: &mut LlmRequest,
    ) -> Result<HttpReply, Refusal> {
        let script = Arc::clone(&self.script);
        let api = Route::wire_api(Some(route), script.api, request);
        let any = [ANY_MODEL.to_owned()];
        let models = if script.models.is_empty() { &any[..] } else { &script.models };
        let turn = match route {
            Route::Turn(turn) => turn,
            Route::Health => return Ok(HttpReply::json(&json!({"status": "ok"}))),
            Route::Models => return Ok(HttpReply::json(&api.render_models(models))),
            Route::Model(id) => {
                check_model(&script, id)?;
                return Ok(HttpReply::json(&api.render_model(id)));
            }
            Route::CountTokens => {
                let body = parse_body(request)?;
                if api == WireApi::Messages {
                    messages::parse_without_limit(&body)
                        .map_err(|why| invalid_request(400, why))?;
                }
                let bytes = request.body.len();
                return Ok(HttpReply::json(&side_requests::count_tokens(api, bytes)));
            }
            Route::Embeddings => {
                let embeddings = side_requests::embeddings(&parse_body(request)?);
                let embeddings = embeddings.map_err(|why| invalid_request(400, why))?;
                return Ok(HttpReply::json(&embeddings));
            }
        };
        self.serve_turn(&script, turn, request, entry)
    }

    /// Answers a request with a turn.
    fn serve_turn(
        &mut self,
        script: &LlmScript,
        route: &TurnRoute,
        request: &HttpRequest,
        entry: &mut LlmRequest,
    ) -> Result<HttpReply, Refusal> {
        let body = parse_body(request)?;
        let chat = self.parse_chat(script, route, &body)?;
        let chat = entry.chat.insert(Arc::new(chat)).clone();
        let case = chat.user_texts().find_map(find_case_id);
        entry.case = case.map(str::to_owned);
        let turns = find_turns(script, case)?;
        let value = chat.to_json();
        let progress = self.cases.progress(case.unwrap_or_default());
        let fits = |parts: &[(String, Matcher)]| mismatches(parts, &value, &body, request);
        let outside_order = progress
            .available(turns)
            .find(|at| !turns[*at].when.is_empty() && fits(&turns[*at].when).is_empty());
        let Some(at) = outside_order.or_else(|| progress.next_in_order(turns)) else {
            let label = TurnLabel { case, turn: turns.len() + 1 };
            let total = turns.len();
            return Err(unexpected_turn(format!(
                "{label} was requested, but the script has only {total}"
            )));
        };
        let (turn, label) = (&turns[at], TurnLabel { case, turn: at + 1 });
        entry.turn = Some(label.turn);
        let mismatches = fits(&turn.expect);
        if !mismatches.is_empty() {
            let mut refusal =
                unexpected_turn(format!("{label}: the request does not meet the expectation"));
            refusal.miss.reasons = mismatches;
            return Err(refusal);
        }
        let scope = TurnScope { request: &value, case, turn: label.turn, known: &script.known };
        let renderer = TurnRenderer {
            api: route.api,
            as_list: route.as_list,
            chat: &chat,
            turn,
            scope: &scope,
        };
        let rendered = renderer.render(&mut self.counters, request.body.len());
        let (reply, answer) = rendered.map_err(|why| unexpected_turn(format!("{label}: {why}")))?;
        self.cases.take(case.unwrap_or_default(), at);
        entry.answer = Some(Arc::new(LlmAnswer::new(&answer, turn)));
        if route.api == WireApi::Responses {
            self.responses.store(responses::answer_id(&answer), &chat, &answer);
        }
        Ok(reply)
    }

    /// Parses a request for an answer.
    fn parse_chat(
        &self,
        script: &LlmScript,
        route: &TurnRoute,
        body: &Value,
    ) -> Result<ChatRequest, Refusal> {
        let chat = route.api.parse(body, route.model.as_deref());
        let mut chat = chat.map_err(|why| invalid_request(400, why))?;
        chat.stream |= route.stream;
        if route.api == WireApi::Responses {
            self.responses.continue_conversation(&mut chat).map_err(|why| Refusal {
                code: Some("previous_response_not_found"),
                ..invalid_request(400, why)
            })?;
            ResponseStore::check_size(&chat).map_err(|why| Refusal {
                code: Some("context_length_exceeded"),
                ..invalid_request(400, why)
            })?;
            chat.check_call_results().map_err(|why| invalid_request(400, why))?;
        }
        check_model(script, &chat.model)?;
        Ok(chat)
    }
}

fn parse_body(request: &HttpRequest) -> Result<Value, Refusal> {
    parse_value(&request.body)
        .map_err(|error| invalid_request(400, format!("the body is not JSON: {error}")))
}

/// Checks that the script allows a model.
fn check_model(script: &LlmScript, model: &str) -> Result<(), Refusal> {
    if script.models.is_empty() || script.models.iter().any(|known| known == model) {
        return Ok(());
    }
    let refusal = invalid_request(404, format!("no such model: `{model}`"));
    Err(Refusal { code: Some("model_not_found"), ..refusal })
}

/// Finds the purpose of a request.
fn find_route(api: Api, request: &HttpRequest) -> Result<Route, Refusal> {
    let (method, path) = (&request.method, &request.path);
    let route = Route::find(api, request).map_err(|unknown| {
        let endpoints: Vec<&str> = api.wire_apis().iter().map(|it| it.endpoint()).collect();
        let status = if unknown == UnknownRoute::Method { 405 } else { 404 };
        let available = format!("available: {} and GET /v1/models", endpoints.join(", "));
        invalid_request(status, format!("no such endpoint: {method} {path}; {available}"))
    })?;
    let is_messages = matches!(&route, Route::Turn(turn) if turn.api == WireApi::Messages);
    match is_messages && request.headers.get("anthropic-version").is_none() {
        true => Err(invalid_request(400, "missing header anthropic-version".to_owned())),
        false => Ok(route),
    }
}

/// Finds the turns of a case.
fn find_turns<'s>(script: &'s LlmScript, case: Option<&str>) -> Result<&'s [Turn], Refusal> {
    if let Some(own) = case.and_then(|case| script.cases.get(case)) {
        return Ok(own);
    }
    let known = || script.cases.keys().map(String::as_str);
    match (script.turns.is_empty() && !script.cases.is_empty(), case) {
        (false, _) => Ok(&script.turns),
        (true, Some(case)) => {
            let suggestion = did_you_mean(case, known());
            let available = || format!("cases: {}", known().collect::<Vec<_>>().join(", "));
            let help = suggestion.unwrap_or_else(available);
            Err(unexpected_turn(format!("case '{case}' has no turns; {help}")))
        }
        (true, None) => {
            let message =
                "the user message has no [test_case_id=…], and the script has turns only for cases";
            Err(unexpected_turn(message.to_owned()))
        }
    }
}

impl HttpResponder for Endpoint {
    fn refuses_web_pages(&self) -> bool {
        true
    }

    fn answer(&self, request: HttpRequest) -> HttpReply {
        self.answer_and_record(request, EndpointState::serve)
    }

    fn max_body_bytes(&self) -> usize {
        MAX_BODY_BYTES
    }

    fn refuse_body(&self, request: HttpRequest, refusal: BodyRefusal) -> HttpReply {
        self.answer_and_record(request, |_, _, _, _| {
            Err(invalid_request(refusal.status, refusal.message))
        })
    }
}

/// A turn that was never requested, or not as often as it repeats.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnusedTurn {
    /// The case and the turn, with the number of requests: `turn 2 was never requested`.
    pub message: String,
    /// Its position in the script.
    pub span: Span,
}

impl LlmMock {
    /// Returns the turns that must still be requested in the conversations that have started,
    /// without optional turns. If `all` is true, the turns for all cases count even if no
    /// conversation has started.
    pub fn unused_turns(&self, all: bool) -> Vec<UnusedTurn> {
        let state = self.endpoint.state();
        let script = &state.script;
        let none = CaseProgress::default();
        let mut conversations: Vec<(&str, &CaseProgress)> = state.cases.started().collect();
        let uses_shared = |case: &str| !script.cases.contains_key(case);
        if all && !conversations.iter().any(|(case, _)| uses_shared(case)) {
            conversations.push(("", &none));
        }
        let mut unused = Vec::new();
        for (case, progress) in conversations {
            let turns = script.turns_of(case);
            for at in progress.missing(turns) {
                let case = Some(case).filter(|case| !case.is_empty());
                let (label, turn) = (TurnLabel { case, turn: at + 1 }, &turns[at]);
                let message = match (progress.taken(at), turn.repeat) {
                    (taken @ 1.., Repeat::Times(times)) => {
                        format!("{label} was requested {taken} of {times} times")
                    }
                    _ => format!("{label} was never requested"),
                };
                unused.push(UnusedTurn { message, span: turn.span });
            }
        }
        unused
    }

    /// Returns true if the latest request did not fit the script.
    pub fn latest_misfits(&self) -> bool {
        *self.endpoint.latest_misfits.borrow()
    }

    /// Waits until a request does not fit the script, and no other request fits within `grace`.
    pub async fn stuck(&self, grace: Duration) {
        let mut latest_misfits = self.endpoint.latest_misfits.subscribe();
        loop {
            // The sender lives as long as the endpoint.
            let _ = latest_misfits.wait_for(|misfits| *misfits).await;
            let recovered = latest_misfits.wait_for(|misfits| !*misfits);
            if tokio::time::timeout(grace, recovered).await.is_err() {
                return;
            }
        }
    }

    /// Returns all requests that did not follow the script.
    pub fn mismatches(&self) -> Vec<LlmMismatch> {
        self.endpoint.state().journal.all().filter_map(|it| it.mismatch().cloned()).collect()
    }
}

/// A case and a turn, for messages.
struct TurnLabel<'a> {
    case: Option<&'a str>,
    turn: usize,
}

impl std::fmt::Display for TurnLabel<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.case {
            Some(case) => write!(f, "case '{case}': turn {}", self.turn),
            None => write!(f, "turn {}", self.turn),
        }
    }
}

/// Returns the parts of a request that do not match.
fn mismatches(
    parts: &[(String, Matcher)],
    chat: &Value,
    body: &Value,
    request: &HttpRequest,
) -> Vec<String> {
    let mut mismatches = Vec::new();
    for (key, matcher) in parts {
        let found = match &**key {
            "body" => matcher.check(Some(body)),
            "headers" => matcher.check(request.to_json().get("headers")),
            key => matcher.check(chat.get(key)),
        };
        mismatches.extend(found.into_iter().map(|mismatch| describe_mismatch(key, mismatch)));
    }
    mismatches
}

/// Renders a mismatch with its full path, without secrets.
fn describe_mismatch(key: &str, mut mismatch: Mismatch) -> String {
    let secret = key == "headers" && is_secret_header(&mismatch.path);
    let dot = if mismatch.path.is_empty() || mismatch.path.starts_with('[') { "" } else { "." };
    mismatch.path = format!("{key}{dot}{}", mismatch.path);
    match secret {
        true => format!("at {}: the value differs", mismatch.path),
        false => mismatch.to_string(),
    }
}

impl Refusal {
    /// Converts it to an API error.
    fn to_api_error(&self) -> ApiError {
        ApiError {
            status: self.status,
            kind: None,
            code: self.code.map(str::to_owned),
            message: self.miss.to_string(),
            retry_after: None,
        }
    }
}

/// The script has no such turn, or expects something else. Agents do not retry after a 400.
fn unexpected_turn(message: String) -> Refusal {
    refusal(Rule::UnexpectedTurn, 400, Some("unexpected_turn"), message)
}

/// The API itself would reject the request.
fn invalid_request(status: u16, message: String) -> Refusal {
    refusal(Rule::InvalidLlmRequest, status, None, message)
}

fn refusal(rule: Rule, status: u16, code: Option<&'static str>, message: String) -> Refusal {
    let miss = Box::new(LlmMismatch { rule, message, reasons: Vec::new() });
    Refusal { miss, status, code }
}
