//! Tests every kind of answer of `spar mock --llm` with the official clients of all APIs:
//! `openai`, `anthropic` and `google-genai` for Python.

use serde_json::{Value, json};

use super::{fixture_path, python, serve};
use crate::process::output;

/// Returns everything that the client of an API received.
fn received(api: &str, mode: &str) -> Option<Value> {
    let python = python()?;
    let (_running, url) = serve(&fixture_path("answers.llm.yaml"), &[]);
    let client = fixture_path("answers.py");
    let output = output(std::process::Command::new(python).arg(client).args([&url, api, mode]));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{api} {mode}: {stderr}");
    Some(serde_json::from_slice(&output.stdout).unwrap())
}

/// The words of an API, and the classes of its client's errors.
struct Client {
    api: &'static str,
    /// The stop reasons of a text, a call, a refusal, and an answer that is too long.
    stops: [&'static str; 4],
    /// The text of a refusal.
    refusal: Option<&'static str>,
    /// The errors of the statuses 400, 401, 403, 404, 429, 500 and 503.
    errors: [(&'static str, u16); 7],
    /// The error in the middle of an answer, plain and streamed.
    late_errors: [(&'static str, Option<u16>); 2],
    /// The answers to requests that take no turn.
    others: Value,
}

fn check(client: &Client) {
    for (mode, late_error) in ["plain", "stream"].into_iter().zip(client.late_errors) {
        let Some(received) = received(client.api, mode) else { return };
        let label = format!("{} {mode}", client.api);
        check_answers(&received["answers"], client, &label);
        assert_eq!(received["retried"], "after the rate limit", "{label}");
        assert_eq!(received["conversation"], "it is 15 degrees", "{label}");
        assert_eq!(received["others"], client.others, "{label}");
        let errors = received["errors"].as_array().unwrap();
        let expected = client.errors.into_iter().map(|(class, status)| (class, Some(status)));
        for (error, (class, status)) in errors.iter().zip(expected.chain([late_error])) {
            assert_eq!((&error[0], &error[1]), (&json!(class), &json!(status)), "{label}: {error}");
        }
        assert_eq!(errors.len(), 8, "{label}");
        for (error, text) in [(&errors[0], "the message of the error"), (&errors[7], "overloaded")]
        {
            assert!(error[2].as_str().unwrap().contains(text), "{label}: {error}");
        }
    }
}

/// Checks the answers before the errors.
fn check_answers(answers: &Value, client: &Client, label: &str) {
    let [stop, call, refusal, length] = client.stops;
    let weather = |city: &str| json!(["get_weather", {"city": city}]);
    let text = "a text that is long enough for several pieces";
    let expected = [
        json!({"text": text, "refusal": null, "calls": [], "stop": stop}),
        json!({"text": "Let me look.", "refusal": null, "calls": [weather("Oslo")], "stop": call}),
        json!({
            "text": null, "refusal": null, "calls": [weather("Oslo"), weather("Rome")],
            "stop": call,
        }),
        json!({"text": null, "refusal": client.refusal, "calls": [], "stop": refusal}),
        json!({"text": "a text that is too lo", "refusal": null, "calls": [], "stop": length}),
    ];
    let answers = answers.as_array().unwrap();
    assert_eq!(answers.len(), expected.len(), "{label}");
    assert_eq!(answers[0]["usage"], json!([7, 9]), "{label}");
    for (answer, mut expected) in answers.iter().zip(expected) {
        expected["usage"] = answer["usage"].clone();
        assert_eq!(*answer, expected, "{label}");
    }
}

const REFUSAL: Option<&str> = Some("I cannot help with that.");

/// The errors of the package `openai`.
const ERRORS: [(&str, u16); 7] = [
    ("BadRequestError", 400),
    ("AuthenticationError", 401),
    ("PermissionDeniedError", 403),
    ("NotFoundError", 404),
    ("RateLimitError", 429),
    ("InternalServerError", 500),
    ("InternalServerError", 503),
];

#[test]
fn the_openai_package_accepts_every_answer_of_chat_completions() {
    check(&Client {
        api: "chat_completions",
        stops: ["stop", "tool_calls", "stop", "length"],
        refusal: REFUSAL,
        errors: ERRORS,
        late_errors: [("InternalServerError", Some(503)), ("APIError", None)],
        others: json!({
            "embeddings": [8, true, false, true], "models": ["scripted"], "model": "gpt",
        }),
    });
}

#[test]
fn the_openai_package_accepts_every_answer_of_responses() {
    check(&Client {
        api: "responses",
        stops: ["completed", "completed", "completed", "max_output_tokens"],
        refusal: REFUSAL,
        errors: ERRORS,
        late_errors: [("InternalServerError", Some(503)), ("RuntimeError", None)],
        others: json!({
            "embeddings": [8, true, false, true], "models": ["scripted"], "model": "gpt",
        }),
    });
}

#[test]
fn the_anthropic_package_accepts_every_answer_of_messages() {
    let mut errors = ERRORS;
    errors[6].0 = "ServiceUnavailableError";
    check(&Client {
        api: "messages",
        stops: ["end_turn", "tool_use", "refusal", "max_tokens"],
        refusal: REFUSAL,
        errors,
        late_errors: [("ServiceUnavailableError", Some(503)), ("APIStatusError", Some(200))],
        others: json!({"tokens": true, "models": ["scripted"], "model": "claude"}),
    });
}

#[test]
fn the_google_genai_package_accepts_every_answer_of_gemini() {
    let mut errors = ERRORS;
    for (class, status) in &mut errors {
        *class = if *status < 500 { "ClientError" } else { "ServerError" };
    }
    check(&Client {
        api: "gemini",
        stops: ["STOP", "STOP", "SAFETY", "MAX_TOKENS"],
        refusal: None,
        errors,
        late_errors: [("ServerError", Some(503)), ("ServerError", Some(503))],
        others: json!({
            "tokens": true, "models": ["models/scripted"], "model": "models/gemini",
        }),
    });
}
