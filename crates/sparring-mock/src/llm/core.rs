//! From a request to its turn: which API it speaks, whose case it is, whether it
//! is as expected.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use serde_json::Value;
use sparring_script::{Mismatch, did_you_mean};
use sparring_wire::json::tree;

use super::api::MODELS;
use super::cases::Cases;
use super::journal::{Journal, LlmMiss, LlmRequest};
use super::script::{ApiError, LlmScript, Turn};
use super::seen::Seen;
use super::speak::{Numbers, Speaking};
use super::{Api, Facts, LlmMock};
use crate::http_mock::{Answer, HttpReply, HttpRequest};
use crate::interactions::case_of;
use crate::journal::is_secret;

/// The longest request that is taken in, as Anthropic has it.
const MOST: usize = 32 * 1024 * 1024;

/// What is listed where any model is good.
const ANY_MODEL: &str = "scripted";

/// An endpoint at work.
#[derive(Debug)]
pub(super) struct Core {
    /// What it was told at first.
    pub(super) script: Arc<LlmScript>,
    state: Mutex<State>,
}

#[derive(Debug)]
pub(super) struct State {
    /// What it does now.
    script: Arc<LlmScript>,
    cases: Cases,
    numbers: Numbers,
    pub(super) journal: Journal,
    /// How many requests came in all, whatever was forgotten since.
    came: u64,
}

/// Why a request gets no turn.
struct Refusal {
    miss: Box<LlmMiss>,
    status: u16,
    code: Option<&'static str>,
}

impl Core {
    pub(super) fn new(script: Arc<LlmScript>) -> Self {
        let state = State {
            script: Arc::clone(&script),
            cases: Cases::default(),
            numbers: Numbers::default(),
            journal: Journal::default(),
            came: 0,
        };
        Core { script, state: Mutex::new(state) }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes everything as it was at first.
    pub(super) fn reset(&self) {
        let mut state = self.state();
        state.begin(Arc::clone(&self.script));
        state.numbers = Numbers::default();
        state.journal.clear();
    }

    /// Goes by another script, from its first turns on.
    pub(super) fn follow(&self, script: Arc<LlmScript>) {
        self.state().begin(script);
    }

    /// Answers a request, and keeps it with what it got.
    fn keep(
        &self,
        request: HttpRequest,
        serve: impl FnOnce(&mut State, &HttpRequest, &mut LlmRequest) -> Result<HttpReply, Refusal>,
    ) -> HttpReply {
        let api = self.script.api;
        let mut noted = LlmRequest {
            at: Timestamp::now(),
            api,
            http: request.clone().without_secrets(),
            case: None,
            turn: None,
            status: 0,
            miss: None,
        };
        // One at a time, so that turns are kept in the order in which they were
        // taken.
        let mut state = self.state();
        state.came += 1;
        let number = state.came;
        let reply = serve(&mut state, &request, &mut noted).unwrap_or_else(|refusal| {
            let error = refusal.error();
            noted.miss = Some(*refusal.miss);
            // Both makers' clients would try again what can only fail again.
            api.refuse(&error).header("x-should-retry", "false")
        });
        noted.status = reply.status_code();
        state.journal.keep(noted);
        reply.header(api.request_id(), &format!("req_{number}"))
    }
}

impl State {
    fn begin(&mut self, script: Arc<LlmScript>) {
        self.script = script;
        self.cases = Cases::default();
    }

    fn serve(
        &mut self,
        request: &HttpRequest,
        noted: &mut LlmRequest,
    ) -> Result<HttpReply, Refusal> {
        let script = Arc::clone(&self.script);
        if asks_for_models(script.api, request)? {
            let any = [ANY_MODEL.to_owned()];
            let models = if script.models.is_empty() { &any[..] } else { &script.models };
            return Ok(HttpReply::json(&script.api.models(models)));
        }
        let body = tree(&request.body)
            .map_err(|error| bad(400, format!("the body is no JSON: {error}")))?;
        let seen = Seen::read(script.api, &body).map_err(|why| bad(400, why))?;
        if !script.models.is_empty() && !script.models.contains(&seen.model) {
            let refusal = bad(404, format!("there is no model `{}`", seen.model));
            return Err(Refusal { code: Some("model_not_found"), ..refusal });
        }
        let case = seen.users().find_map(case_of);
        noted.case = case.map(str::to_owned);
        let turns = turns_of(&script, case)?;
        let place = self.cases.place(case.unwrap_or_default());
        let name = Name { case, turn: place.turn + 1 };
        let Some(turn) = turns.get(place.turn) else {
            let total = turns.len();
            return Err(missed(format!("{name} was asked for, and there are only {total}")));
        };
        noted.turn = Some(name.turn);
        let value = seen.to_json();
        let unmet = unmet(turn, &value, &body, request);
        if !unmet.is_empty() {
            let mut refusal = missed(format!("{name} is not as expected"));
            refusal.miss.reasons = unmet;
            return Err(refusal);
        }
        let known = &script.known;
        let facts = Facts { request: &value, case, turn: name.turn, known };
        let speaking = Speaking { api: script.api, seen: &seen, turn, facts: &facts };
        let reply = speaking.reply(&mut self.numbers, request.body.len());
        let reply = reply.map_err(|why| missed(format!("{name}: {why}")))?;
        self.cases.take(case.unwrap_or_default(), turn);
        Ok(reply)
    }
}

/// Whether the models are asked for, and not an answer.
fn asks_for_models(api: Api, request: &HttpRequest) -> Result<bool, Refusal> {
    match (&*request.method, &*request.path) {
        ("GET", MODELS) => Ok(true),
        ("POST", path) if path == api.path() => {
            let versioned = request.headers.get("anthropic-version").is_some();
            match api == Api::Anthropic && !versioned {
                true => Err(bad(400, "the header anthropic-version is missing".to_owned())),
                false => Ok(false),
            }
        }
        (method, path) => {
            let known = path == MODELS || path == api.path();
            let there = format!("there are POST {} and GET {MODELS}", api.path());
            let status = if known { 405 } else { 404 };
            Err(bad(status, format!("there is no {method} {path}; {there}")))
        }
    }
}

/// The turns of a case.
fn turns_of<'s>(script: &'s LlmScript, case: Option<&str>) -> Result<&'s [Turn], Refusal> {
    if let Some(own) = case.and_then(|case| script.cases.get(case)) {
        return Ok(own);
    }
    let known = || script.cases.keys().map(String::as_str);
    match (script.turns.is_empty() && !script.cases.is_empty(), case) {
        (false, _) => Ok(&script.turns),
        (true, Some(case)) => {
            let meant = did_you_mean(case, known());
            let there = || format!("there are {}", known().collect::<Vec<_>>().join(", "));
            let help = meant.unwrap_or_else(there);
            Err(missed(format!("case '{case}' has no turns; {help}")))
        }
        (true, None) => {
            let message = "the user says no [test_case_id=…], and only cases have turns";
            Err(missed(message.to_owned()))
        }
    }
}

impl Answer for Core {
    fn answer(&self, request: HttpRequest) -> HttpReply {
        self.keep(request, State::serve)
    }

    fn most(&self) -> usize {
        MOST
    }

    fn too_long(&self, request: HttpRequest) -> HttpReply {
        self.keep(request, |_, _, _| Err(bad(413, format!("the body has more than {MOST} bytes"))))
    }
}

impl LlmMock {
    /// All that did not go by the script, in its order.
    pub fn misses(&self) -> Vec<LlmMiss> {
        self.core.state().journal.all().filter_map(|it| it.miss().cloned()).collect()
    }
}

/// A case and a turn, as they are told.
struct Name<'a> {
    case: Option<&'a str>,
    turn: usize,
}

impl std::fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.case {
            Some(case) => write!(f, "case '{case}': turn {}", self.turn),
            None => write!(f, "turn {}", self.turn),
        }
    }
}

/// What is not as the turn expects it, a text each.
fn unmet(turn: &Turn, seen: &Value, body: &Value, request: &HttpRequest) -> Vec<String> {
    let mut unmet = Vec::new();
    for (key, matcher) in &turn.expect {
        let found = match &**key {
            "body" => matcher.check(Some(body)),
            "headers" => matcher.check(request.to_json().get("headers")),
            key => matcher.check(seen.get(key)),
        };
        unmet.extend(found.into_iter().map(|mismatch| told(key, mismatch)));
    }
    unmet
}

/// What does not fit, with its whole path. Keys are not told.
fn told(key: &str, mut mismatch: Mismatch) -> String {
    let secret = key == "headers" && is_secret(&mismatch.path);
    let dot = if mismatch.path.is_empty() || mismatch.path.starts_with('[') { "" } else { "." };
    mismatch.path = format!("{key}{dot}{}", mismatch.path);
    match secret {
        true => format!("at {}: it is another", mismatch.path),
        false => mismatch.to_string(),
    }
}

impl Refusal {
    /// The same as the API tells it.
    fn error(&self) -> ApiError {
        ApiError {
            status: self.status,
            kind: None,
            code: self.code.map(str::to_owned),
            message: self.miss.to_string(),
            retry_after: None,
        }
    }
}

/// What the script does not have.
fn missed(message: String) -> Refusal {
    refusal("llm-turn", 500, Some("unexpected_turn"), message)
}

/// What the API itself would not take.
fn bad(status: u16, message: String) -> Refusal {
    refusal("llm-request", status, None, message)
}

fn refusal(
    rule: &'static str,
    status: u16,
    code: Option<&'static str>,
    message: String,
) -> Refusal {
    let miss = Box::new(LlmMiss { rule, message, reasons: Vec::new() });
    Refusal { miss, status, code }
}
