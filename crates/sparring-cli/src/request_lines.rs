//! Prints a line on the terminal for each request that `spar mock` and `spar serve` answer.

use std::time::{Duration, Instant};

use sparring_mock::LlmRequest;
use sparring_wire::{Frame, Json};

use crate::output::{Printer, line};

/// The shortest part of a request that a narrow terminal shows.
const MIN_REQUEST_COLUMNS: usize = 20;

/// Called with the response to a request.
type OnResponse = Box<dyn FnOnce(&Frame) + Send>;

/// A request that has no response yet. Dropping it prints that there was none.
struct OpenRequest {
    printer: Printer,
    text: String,
    started_at: Instant,
    is_answered: bool,
}

/// Returns the observer of a server's requests, or nothing if no line is printed: without a
/// terminal, and with `--quiet`.
pub(crate) fn observer(
    printer: &Printer,
) -> Option<impl Fn(&Frame) -> OnResponse + Send + Sync + use<>> {
    let printer = printer.shows_activity().then(|| printer.clone())?;
    Some(move |request: &Frame| {
        let mut open = OpenRequest {
            printer: printer.clone(),
            text: render_request(request),
            started_at: Instant::now(),
            is_answered: false,
        };
        let answered = move |response: &Frame| {
            open.is_answered = true;
            open.print(&render_outcome(response));
        };
        Box::new(answered) as OnResponse
    })
}

/// Prints a line for a request to an LLM endpoint.
pub(crate) fn print_llm_request(request: &LlmRequest, printer: &Printer) {
    if !printer.shows_activity() {
        return;
    }
    let http = request.http();
    let turn = request.turn().map(|turn| format!(", turn {turn}")).unwrap_or_default();
    let outcome = match request.mismatch() {
        Some(mismatch) => Outcome::Error(format!("{}: {}", request.status(), mismatch.message)),
        None if request.status() >= 400 => Outcome::Error(format!("{}{turn}", request.status())),
        None => Outcome::Good(format!("{}{turn}", request.status())),
    };
    print(&format!("{} {}", http.method, http.path), &outcome, None, printer);
}

enum Outcome {
    Good(String),
    Error(String),
}

impl OpenRequest {
    fn print(&self, outcome: &Outcome) {
        print(&self.text, outcome, Some(self.started_at.elapsed()), &self.printer);
    }
}

impl Drop for OpenRequest {
    fn drop(&mut self) {
        if !self.is_answered {
            self.print(&Outcome::Error("no response".to_owned()));
        }
    }
}

fn print(request: &str, outcome: &Outcome, took: Option<Duration>, printer: &Printer) {
    let took = took.map(|took| format!(" ({})", format_time(took))).unwrap_or_default();
    let (Outcome::Good(text) | Outcome::Error(text)) = outcome;
    let columns = printer.stderr_columns();
    let text = line::truncate(&line::clean(text), columns.saturating_sub(MIN_REQUEST_COLUMNS));
    let used = 4 + text.chars().count() + took.len();
    let request = line::truncate(
        &line::clean(request),
        columns.saturating_sub(used).max(MIN_REQUEST_COLUMNS),
    );
    let paint = printer.stderr_paint();
    let text = match outcome {
        Outcome::Good(_) => paint.success(&text),
        Outcome::Error(_) => paint.error(&text),
    };
    printer.queue_line(&format!("{request} → {text}{}", paint.dim(&took)));
}

/// The method, the name of the tool, prompt or resource, and the arguments.
fn render_request(request: &Frame) -> String {
    let mut text = request.method().unwrap_or_default().to_owned();
    let Some(params) = request.params() else { return text };
    let name = params.get("name").or_else(|| params.get("uri")).and_then(Json::as_str);
    if let Some(name) = name {
        text.push_str(&format!(" {name}"));
    }
    if let Some(arguments) = params.get("arguments") {
        text.push_str(&format!(" {}", arguments.text()));
    }
    text
}

fn render_outcome(response: &Frame) -> Outcome {
    if let Some(error) = response.error_object() {
        return Outcome::Error(format!("error {}: {}", error.code, error.message));
    }
    let member = |name: &str| response.result().and_then(|result| result.get(name));
    match member("isError").and_then(Json::as_bool) {
        Some(true) => Outcome::Error("isError".to_owned()),
        _ if member("resultType").and_then(Json::as_str).as_deref() == Some("input_required") => {
            Outcome::Good("input required".to_owned())
        }
        _ => Outcome::Good("ok".to_owned()),
    }
}

fn format_time(time: Duration) -> String {
    match time.as_millis() {
        millis @ 0..1_000 => format!("{millis} ms"),
        _ => format!("{:.1} s", time.as_secs_f64()),
    }
}
