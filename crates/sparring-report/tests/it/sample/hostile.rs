//! A run in which every text contains markup or scripts.

use serde_json::json;
use sparring_report::{AnsweredBy, FailedTry, Failure, Outcome, Run, Sender, TranscriptEntry};

use super::traffic::TrafficBuilder;
use super::{run, test};

/// Texts of a hostile server or suite. Each tries to set `document.title` to `broken`, to
/// load something, or to hide something.
pub(crate) const HOSTILE: [&str; 12] = [
    "</script><script>document.title='broken'</script>",
    "<!--<script>document.title='broken'</script>",
    "<img src=x onerror=\"document.title='broken'\">",
    "]]><svg onload=document.title='broken'>",
    "'\"><iframe src='javascript:parent.document.title=1'></iframe>",
    "{{script}}{{data}}",
    "a\u{0}b\r\nc\rd\u{1b}[31mred\u{7f}\u{85}\u{e0041}\u{ffff}",
    "\u{fffd}\u{fffd} lone surrogates were here",
    "\u{202e}gnp.tset\u{202c} \u{2066}turned\u{2069}",
    "line\u{2028}separator\u{2029}and\u{feff}mark",
    "javascript:document.title='broken'",
    "</noscript></title></style><style>*{display:none!important}</style>",
];

/// Returns a run with these texts in every field.
pub(crate) fn hostile() -> Run {
    run(HOSTILE.iter().enumerate().map(|(at, text)| one(at, text)).collect())
}

/// Returns a run with one test whose texts have 1 MiB each, and one ordinary test.
pub(crate) fn huge() -> Run {
    let text = format!("{}{}", HOSTILE[0], "x".repeat(1 << 20));
    run(vec![one(0, &text), one(1, "as others")])
}

fn one(at: usize, text: &str) -> sparring_report::Test {
    let mut test = test(text, at + 1, text);
    test.outcome = Outcome::Failed;
    test.server = Some(text.to_owned());
    test.protocol = Some(text.to_owned());
    test.transport = Some(text.to_owned());
    test.tags = vec![text.to_owned()];
    test.reason = Some(text.to_owned());
    test.rerun_command = text.to_owned();
    TrafficBuilder::new(&mut test)
        .call(text, json!({text: text, "__proto__": {"x": text}}), 3.0, text)
        .add_violation(text, text, text, text)
        .raw(Sender::Server, text)
        .add_violation("wire/not-json", "$", text, text)
        .raw(Sender::Server, "{\"broken\": [1, 2, {\"deep\": \"half")
        .raw(Sender::Server, &"[".repeat(5000))
        .raw(Sender::Client, "[null, 1, {\"id\": null}]");
    let place = test.place.clone();
    let failure = Failure {
        span: 0..0,
        place,
        source: text.to_owned(),
        message: text.to_owned(),
        diff: Some(format!("- {text}\n+ {text}\n")),
    };
    let failures = vec![failure];
    let once = FailedTry {
        failures,
        stderr: text.to_owned(),
        stdout: text.to_owned(),
        ..FailedTry::default()
    };
    test.failed_tries = vec![once.clone(), once];
    test.transcript = vec![TranscriptEntry {
        at_ms: 1.0,
        mock: text.to_owned(),
        by: AnsweredBy::Server,
        request: text.to_owned(),
        answer: text.to_owned(),
    }];
    test
}
