//! Answers requests with turns: finds the case and its next turn, and checks the expectations
//! of the turn.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use serde_json::Value;
use sparring_script::{Mismatch, did_you_mean};
use sparring_wire::Rule;
use sparring_wire::json::parse_value;
use sparring_wire::secret_names::is_secret_header;

use super::api::MODELS_PATH;
use super::cases::Cases;
use super::chat_request::ChatRequest;
use super::journal::{Journal, LlmMismatch, LlmRequest};
use super::render_turn::{AnswerCounters, TurnRenderer};
use super::script::{ApiError, LlmScript, Turn};
use super::{Api, LlmMock, TurnScope};
use crate::http_mock::{HttpReply, HttpRequest, HttpResponder};
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
        };
        Endpoint { script, state: Mutex::new(state) }
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
            &mut LlmRequest,
        ) -> Result<HttpReply, Refusal>,
    ) -> HttpReply {
        let api = self.script.api;
        let mut entry = LlmRequest {
            at: Timestamp::now(),
            api,
            http: request.clone().without_secrets(),
            case: None,
            turn: None,
            status: 0,
            miss: None,
        };
        // The lock is held to record turns in the order in which they are taken.
        let mut state = self.state();
        state.received += 1;
        let number = state.received;
        let reply = serve(&mut state, &request, &mut entry).unwrap_or_else(|refusal| {
            let error = refusal.to_api_error();
            entry.miss = Some(*refusal.miss);
            // The official clients of both APIs would retry otherwise.
            api.error_reply(&error).header("x-should-retry", "false")
        });
        entry.status = reply.status_code();
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
        entry: &mut LlmRequest,
    ) -> Result<HttpReply, Refusal> {
        let script = Arc::clone(&self.script);
        if is_models_request(script.api, request)? {
            let any = [ANY_MODEL.to_owned()];
            let models = if script.models.is_empty() { &any[..] } else { &script.models };
            return Ok(HttpReply::json(&script.api.render_models(models)));
        }
        let body = parse_value(&request.body)
            .map_err(|error| invalid_request(400, format!("the body is not JSON: {error}")))?;
        let chat =
            ChatRequest::parse(script.api, &body).map_err(|why| invalid_request(400, why))?;
        if !script.models.is_empty() && !script.models.contains(&chat.model) {
            let refusal = invalid_request(404, format!("no such model: `{}`", chat.model));
            return Err(Refusal { code: Some("model_not_found"), ..refusal });
        }
        let case = chat.user_texts().find_map(find_case_id);
        entry.case = case.map(str::to_owned);
        let turns = find_turns(&script, case)?;
        let progress = self.cases.progress(case.unwrap_or_default());
        let label = TurnLabel { case, turn: progress.turn + 1 };
        let Some(turn) = turns.get(progress.turn) else {
            let total = turns.len();
            return Err(unexpected_turn(format!(
                "{label} was requested, but the script has only {total}"
            )));
        };
        entry.turn = Some(label.turn);
        let value = chat.to_json();
        let mismatches = mismatches(turn, &value, &body, request);
        if !mismatches.is_empty() {
            let mut refusal =
                unexpected_turn(format!("{label}: the request does not meet the expectation"));
            refusal.miss.reasons = mismatches;
            return Err(refusal);
        }
        let known = &script.known;
        let scope = TurnScope { request: &value, case, turn: label.turn, known };
        let renderer = TurnRenderer { api: script.api, chat: &chat, turn, scope: &scope };
        let reply = renderer.render(&mut self.counters, request.body.len());
        let reply = reply.map_err(|why| unexpected_turn(format!("{label}: {why}")))?;
        self.cases.take(case.unwrap_or_default(), turn);
        Ok(reply)
    }
}

/// Returns true if a request asks for the models instead of an answer.
fn is_models_request(api: Api, request: &HttpRequest) -> Result<bool, Refusal> {
    match (&*request.method, &*request.path) {
        ("GET", MODELS_PATH) => Ok(true),
        ("POST", path) if path == api.path() => {
            let versioned = request.headers.get("anthropic-version").is_some();
            match api == Api::Anthropic && !versioned {
                true => Err(invalid_request(400, "missing header anthropic-version".to_owned())),
                false => Ok(false),
            }
        }
        (method, path) => {
            let known = path == MODELS_PATH || path == api.path();
            let available = format!("available: POST {} and GET {MODELS_PATH}", api.path());
            let status = if known { 405 } else { 404 };
            Err(invalid_request(status, format!("no such endpoint: {method} {path}; {available}")))
        }
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
    fn answer(&self, request: HttpRequest) -> HttpReply {
        self.answer_and_record(request, EndpointState::serve)
    }

    fn max_body_bytes(&self) -> usize {
        MAX_BODY_BYTES
    }

    fn body_too_large(&self, request: HttpRequest) -> HttpReply {
        self.answer_and_record(request, |_, _, _| {
            Err(invalid_request(413, format!("the body has more than {MAX_BODY_BYTES} bytes")))
        })
    }
}

impl LlmMock {
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

/// Returns the expectations of a turn that a request does not meet.
fn mismatches(turn: &Turn, chat: &Value, body: &Value, request: &HttpRequest) -> Vec<String> {
    let mut mismatches = Vec::new();
    for (key, matcher) in &turn.expect {
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

/// The script has no such turn, or expects something else.
fn unexpected_turn(message: String) -> Refusal {
    refusal(Rule::UnexpectedTurn, 500, Some("unexpected_turn"), message)
}

/// The API itself would reject the request.
fn invalid_request(status: u16, message: String) -> Refusal {
    refusal(Rule::InvalidLlmRequest, status, None, message)
}

fn refusal(rule: Rule, status: u16, code: Option<&'static str>, message: String) -> Refusal {
    let miss = Box::new(LlmMismatch { rule, message, reasons: Vec::new() });
    Refusal { miss, status, code }
}
