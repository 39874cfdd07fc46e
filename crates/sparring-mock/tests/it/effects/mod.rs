//! Every key of a mock script and of an LLM script has an effect: for each key at each place, a
//! case compares a script that has the key with one that does not.

mod operations;
mod walk;

use std::time::Duration;

use serde_json::Value;
use sparring_mock::{HttpMock, HttpReply, LlmMock, LlmScript, MockServer, Settings};

use operations::{observe_llm, observe_mock};
use walk::{Case, REFUSED, check_complete, places, read_cases};

/// The files with the cases of mock scripts.
const MOCK_CASES: [&str; 6] =
    ["entries.yaml", "replies.yaml", "steps.yaml", "faults.yaml", "script.yaml", "oauth.yaml"];

/// Their folder.
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/effects");

/// Objects of mock scripts that the same code loads and runs at every place. Each key that
/// holds one still has a case of its own.
const MOCK_SHARED: [&str; 12] = [
    // `Loader::load_condition` and `choose_reply`, for replies of every entry.
    "condition",
    // `Loader::load_questions` and `serve/questions.rs`.
    "question",
    // `Loader::load_steps` and `serve/steps.rs`, for every entry, and for timers.
    "step",
    "step_after_the_answer",
    "notification",
    "entry",
    // `Loader::load_fault` and the link.
    "fault",
    // `Loader::load_error`.
    "error",
    // `Loader::load_block`, for replies of tools, content blocks and messages.
    "file_or_Base64",
    "embedded_resource",
    // `Loader::load_http_call` and `Loader::load_program`.
    "request_over_HTTP",
    "program",
];

/// Keys of mock scripts that have no case yet. This list may only become shorter.
const MOCK_WITHOUT_CASE: [(&str, &str); 0] = [];

/// Keys of LLM scripts that have no case yet. This list may only become shorter.
const LLM_WITHOUT_CASE: [(&str, &str); 0] = [];

/// Loads a script and runs the operations of its case.
async fn observe_script(case: &Case, script: &Value) -> String {
    let upstream = match case.settings.contains_key("upstream") {
        true => Some(start_upstream().await),
        false => None,
    };
    let api = upstream.iter().map(|upstream| ("api".to_owned(), upstream.url("").into()));
    let settings = Settings { allow_exec: true, vars: api.collect(), ..Settings::default() };
    match MockServer::from_yaml_with(&script.to_string(), "tests", &settings) {
        Ok(mock) => {
            let seen = observe_mock(mock, case).await;
            let requests = upstream.iter().flat_map(HttpMock::requests);
            requests.fold(seen, |seen, request| format!("{seen}upstream: {}\n", request.to_json()))
        }
        Err(problems) => format!("{REFUSED}{problems}"),
    }
}

/// Starts an HTTP server for tools that send requests.
async fn start_upstream() -> HttpMock {
    let upstream = HttpMock::start().await.unwrap();
    for method in ["GET", "PUT", "POST"] {
        for path in ["/a", "/own", "/other"] {
            upstream.on(method, path, HttpReply::new(200).body("answered"));
        }
    }
    let late = HttpReply::new(200).body("answered").delay(Duration::from_millis(500));
    upstream.on("GET", "/slow", late);
    upstream
}

/// Loads an LLM script and runs the operations of its case.
async fn observe_llm_script(case: &Case, script: &Value) -> String {
    match LlmScript::from_yaml(&script.to_string()) {
        Ok(script) => {
            observe_llm(LlmMock::listen(script, ([127, 0, 0, 1], 0).into()).await.unwrap(), case)
                .await
        }
        Err(problems) => format!("{REFUSED}{problems}"),
    }
}

/// Runs all cases, each in its own runtime. A case in memory runs with a paused clock.
fn check_effects(cases: &[Case], observe: impl AsyncFn(&Case, &Value) -> String) {
    let mut wrong = Vec::new();
    for case in cases {
        let observe_one = |script| {
            let mut runtime = tokio::runtime::Builder::new_current_thread();
            runtime.enable_all().start_paused(operations::is_in_memory(case));
            runtime.build().unwrap().block_on(observe(case, script))
        };
        wrong.extend(case.check(&observe_one(&case.with), &observe_one(&case.without)).err());
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_key_of_a_mock_script_has_an_effect() {
    let cases = read_cases(FOLDER, &MOCK_CASES);
    let places = places(&sparring_mock::schema(), "script", &MOCK_SHARED);
    check_effects(&cases, observe_script);
    check_complete(&places, &cases, &MOCK_WITHOUT_CASE);
}

#[test]
fn every_key_of_an_llm_script_has_an_effect() {
    let cases = read_cases(FOLDER, &["llm.yaml"]);
    let places = places(&sparring_mock::llm_schema(), "script", &["turn", "call"]);
    check_effects(&cases, observe_llm_script);
    check_complete(&places, &cases, &LLM_WITHOUT_CASE);
}
