//! Puts the exchanges of an agent with the mocks into words, in one time line.
//!
//! HTTP servers are left out: their journals have no times.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;
use sparring_mock::LlmRequest;

use super::RunningMocks;
use super::journals::{Journal, JournalPositions};
use crate::event::{AnsweredBy, TranscriptEntry};
use crate::step_result::{Exchange, ModelTurn};

/// The longest request or answer, in bytes.
const MAX_TEXT_BYTES: usize = 2000;

impl RunningMocks {
    /// Returns the exchanges after these positions of the journals, by time. Their times count
    /// from `start`.
    pub(in crate::run) fn exchanges(
        &self,
        positions: &JournalPositions,
        start: Timestamp,
    ) -> Vec<Exchange> {
        let mut exchanges = Vec::new();
        for mock in &self.all {
            let position = positions.get(&mock.name);
            match &mock.journal {
                Journal::Http(_) => {}
                Journal::Llm(llm, _) => exchanges.extend(
                    llm.requests()
                        .iter()
                        .skip(position.after(llm.dropped_requests()))
                        .map(|request| model_exchange(&mock.name, request, start)),
                ),
                journal @ (Journal::Live(_) | Journal::File(_)) => exchanges.extend(
                    journal
                        .lines_since(position)
                        .iter()
                        .filter_map(|line| server_exchange(&mock.name, line, start)),
                ),
            }
        }
        exchanges.sort_by_key(|exchange| exchange.entry.at);
        exchanges
    }
}

fn model_exchange(mock: &str, request: &LlmRequest, start: Timestamp) -> Exchange {
    let chat = request.to_json();
    let results = results_text(&chat);
    let answer = request.answer();
    let calls = answer.map(|answer| answer.calls.iter().map(|(tool, _)| tool.clone()).collect());
    let misfit = request.mismatch().map(|misfit| one_line(&misfit.to_string()));
    let model = chat.get("messages").map(|_| ModelTurn {
        turn: request.turn(),
        results: results.clone(),
        calls: calls.unwrap_or_default(),
        misfit: misfit.clone(),
    });
    let asked = match (&model, results) {
        (None, _) => format!("{} {}", request.http().method, request.http().path),
        (Some(_), Some(results)) => results,
        (Some(_), None) => user_text(&chat),
    };
    let status = request.status();
    let answered = match (misfit, request.turn()) {
        (Some(misfit), _) => format!("HTTP {status}: {misfit}"),
        (None, Some(turn)) => format!("turn {turn}: {}", answer_text(request)),
        (None, None) => format!("HTTP {status}"),
    };
    Exchange {
        entry: entry(mock, AnsweredBy::Model, request.at(), start, &asked, &answered),
        model,
    }
}

/// The last user text and the names of the tools.
fn user_text(chat: &Value) -> String {
    let user = chat["user"].as_str().unwrap_or_default();
    let tools = chat["tools"].as_array().into_iter().flatten();
    let tools: Vec<&str> = tools.filter_map(|tool| tool["name"].as_str()).collect();
    match tools.is_empty() {
        true => format!("user: {user}"),
        false => format!("user: {user} (tools: {})", tools.join(", ")),
    }
}

/// The results of the last tool calls.
fn results_text(chat: &Value) -> Option<String> {
    let results = chat["results"].as_array()?.iter().map(|result| {
        let tool = result["tool"].as_str().unwrap_or("?");
        let what = if result["is_error"] == true { "the error" } else { "the result" };
        format!("{what} of `{tool}`: {}", result["text"].as_str().unwrap_or_default())
    });
    let results: Vec<String> = results.collect();
    (!results.is_empty()).then(|| one_line(&results.join("; ")))
}

fn answer_text(request: &LlmRequest) -> String {
    let Some(answer) = request.answer() else { return format!("HTTP {}", request.status()) };
    let calls = answer.calls.iter().map(|(tool, with)| format!("call {tool} {with}"));
    let text = answer.text.iter().map(|text| format!("text: {text}"));
    let refusal = answer.refusal.iter().map(|text| format!("refusal: {text}"));
    let error = answer.error.iter().map(|(status, message)| format!("error {status}: {message}"));
    let fault = answer.is_faulty.then(|| "with a fault".to_owned());
    let parts: Vec<String> = text.chain(refusal).chain(calls).chain(error).chain(fault).collect();
    match parts.is_empty() {
        true => "an empty answer".to_owned(),
        false => parts.join("; "),
    }
}

fn server_exchange(mock: &str, line: &Value, start: Timestamp) -> Option<Exchange> {
    let at: Timestamp = line["at"].as_str()?.parse().ok()?;
    let entry = entry(mock, AnsweredBy::Server, at, start, &request_text(line), &reply_text(line));
    Some(Exchange { entry, model: None })
}

fn request_text(line: &Value) -> String {
    let method = line["method"].as_str().unwrap_or_default();
    let client = ["name", "version"].map(|key| line["client_info"][key].as_str().unwrap_or("?"));
    match (method, line["name"].as_str(), line.pointer("/params/arguments")) {
        ("initialize" | "server/discover", ..) => format!("{method} by {}", client.join(" ")),
        (_, Some(name), Some(arguments)) => format!("{method} {name} {arguments}"),
        (_, Some(name), None) => format!("{method} {name}"),
        (_, None, _) => method.to_owned(),
    }
}

fn reply_text(line: &Value) -> String {
    if let Some(error) = line.get("error") {
        let message = error["message"].as_str().unwrap_or_default();
        return format!("error {}: {message}", error["code"]);
    }
    let Some(result) = line.get("result") else {
        let asked = line["input_required"] == true;
        return if asked { "asked the client for input" } else { "no answer" }.to_owned();
    };
    let items = result["content"].as_array().into_iter().flatten();
    let texts: Vec<&str> = items.filter_map(|item| item["text"].as_str()).collect();
    let text = if texts.is_empty() { result.to_string() } else { texts.join(" ") };
    match result["isError"] == true {
        true => format!("isError: {text}"),
        false => text,
    }
}

fn entry(
    mock: &str,
    by: AnsweredBy,
    at: Timestamp,
    start: Timestamp,
    request: &str,
    answer: &str,
) -> TranscriptEntry {
    let at = Duration::try_from(at.duration_since(start)).unwrap_or_default();
    let (request, answer) = (one_line(request), one_line(answer));
    TranscriptEntry { at, mock: mock.to_owned(), by, request, answer }
}

/// Returns a text in one line of limited length.
fn one_line(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut end = text.len().min(MAX_TEXT_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    match end < text.len() {
        true => format!("{}…", &text[..end]),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn puts_requests_of_clients_and_answers_of_servers_into_words() {
        let line = |rest: Value| {
            let mut line = json!({"at": "2026-07-28T12:00:01.5Z"});
            line.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
            let start = "2026-07-28T12:00:00Z".parse().unwrap();
            let entry = server_exchange("weather", &line, start).unwrap().entry;
            assert_eq!((entry.at, entry.by), (Duration::from_millis(1500), AnsweredBy::Server));
            format!("{} -> {}", entry.request, entry.answer)
        };
        for (rest, expected) in [
            (
                json!({"method": "initialize", "client_info": {"name": "a", "version": "1"}, "result": {}}),
                "initialize by a 1 -> {}",
            ),
            (
                json!({"method": "tools/call", "name": "get", "params": {"arguments": {"n": 1}},
                    "result": {"content": [{"type": "text", "text": "one\ntwo"}]}}),
                "tools/call get {\"n\":1} -> one two",
            ),
            (
                json!({"method": "tools/call", "name": "get",
                    "result": {"isError": true, "content": [{"type": "text", "text": "no"}]}}),
                "tools/call get -> isError: no",
            ),
            (
                json!({"method": "resources/read", "name": "a://b", "error": {"code": -1, "message": "x"}}),
                "resources/read a://b -> error -1: x",
            ),
            (
                json!({"method": "tools/call", "name": "get", "unanswered": true}),
                "tools/call get -> no answer",
            ),
        ] {
            assert_eq!(line(rest), expected);
        }
    }

    #[test]
    fn shortens_long_texts() {
        let text = one_line(&"ä".repeat(MAX_TEXT_BYTES));
        assert!(text.ends_with("ä…") && text.len() <= MAX_TEXT_BYTES + "…".len());
    }
}
