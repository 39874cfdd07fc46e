//! The transcript of an agent in the HTML report.

use sparring_report::{AnsweredBy, TranscriptEntry, render_html};

use crate::browser::Page;
use crate::sample;

#[test]
fn shows_what_agent_model_and_servers_said_in_one_time_line() {
    let exchange = |at_ms, mock: &str, by, request: &str, answer: &str| TranscriptEntry {
        at_ms,
        mock: mock.to_owned(),
        by,
        request: request.to_owned(),
        answer: answer.to_owned(),
    };
    let mut test = sample::test("a.spar.yaml", 3, "an agent");
    test.transcript = vec![
        exchange(2.0, "llm", AnsweredBy::Model, "user: weather?", "turn 1: call get {}"),
        exchange(40.0, "weather", AnsweredBy::Server, "tools/call get {}", "rain"),
    ];
    test.transcript_left_out = 3;
    let Some(mut page) = Page::open(&render_html(&sample::run(vec![test]))) else { return };
    page.press("j");
    page.press("Enter");
    page.wait_until("document.querySelectorAll('.transcript li').length === 2");
    let shown: Vec<String> = page.each(".transcript p", "it.textContent");
    let expected = [
        "3 exchanges in the middle omitted",
        "2.0 ms · model llm",
        "user: weather?",
        "turn 1: call get {}",
        "40 ms · MCP server weather",
        "tools/call get {}",
        "rain",
    ];
    assert_eq!(shown, expected);
    page.screenshot("transcript");
    assert_eq!(page.trouble(), [""; 0]);
}
