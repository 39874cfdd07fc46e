//! The view of one test: its failures and its traffic.

use sparring_report::render_html;

use crate::browser::Page;
use crate::sample;

const OPEN: &str = "document.querySelector('.groups .group:nth-child(2) .test-line').click()";

#[test]
fn a_failure_has_its_location_source_line_and_diff() {
    let Some(mut page) = Page::open(&render_html(&sample::rich())) else { return };
    page.eval(OPEN);
    let mut text = |selector: &str| page.text_of(selector);
    assert_eq!(text(".failure .where code"), "tests/weather.spar.yaml:26:13");
    assert_eq!(text(".failure .source pre"), "26 json: {temperature: 15, sky: cloudy}\n         ^");
    assert!(text(".failure .message").contains("temperature: expected 15, found \"15\""));
    assert_eq!(text(".diff-text .expected"), "-   \"temperature\": 15,");
    assert_eq!(text(".diff-text .found"), "+   \"temperature\": \"15\",");
    assert!(text(".output pre").contains("503 from api"));
    assert_eq!(
        text(".command code"),
        "spar test tests/weather.spar.yaml:22 --protocol 2026-07-28 --transport stdio"
    );
    assert_eq!(page.trouble(), [""; 0]);
}

#[test]
fn requests_are_paired_with_responses_and_violations_are_shown_at_their_frames() {
    let Some(mut page) = Page::open(&render_html(&sample::rich())) else { return };
    page.eval(OPEN);
    let rows = page.texts(".exchange .what b");
    assert_eq!(rows, ["server/discover", "notifications/message", "tools/call"]);
    // Exchanges with a problem are open initially.
    assert_eq!(page.each::<bool>(".exchange", "it.open"), [false, true, true]);
    page.wait_until("document.querySelectorAll('.exchange:last-child .frame').length === 2");
    let sides: Vec<String> = page.each(".exchange:last-child .frame", "it.className");
    assert_eq!(sides, ["frame client", "frame server"]);
    assert_eq!(
        page.texts(".exchange:last-child .frame.server .violation p"),
        [
            "schema/missing-field at $.result.content[1].mimeType",
            "an image has a `mimeType`",
            "specification: 2026-07-28/server/tools#image-content",
            "tools/output-schema at $.result.structuredContent.temperature",
            "the tool's own schema wants a number here",
            "specification: 2026-07-28/server/tools#output-schema",
        ]
    );
    // A missing field marks the object that lacks it.
    let marked = page.texts(".exchange:last-child .marked");
    assert_eq!(marked, ["{", "\"temperature\"", "\"15\""]);
    assert_eq!(page.count(".frame.client .violation"), 0);
}

#[test]
fn json_keeps_its_spelling_pretty_or_raw() {
    let Some(mut page) = Page::open(&render_html(&sample::rich())) else { return };
    page.eval(OPEN);
    page.wait_until("document.querySelectorAll('.exchange:last-child .frame').length === 2");
    let text = ".exchange:last-child .frame.server .frame-text";
    let pretty = page.text_of(text);
    assert!(pretty.starts_with("{\n  \"jsonrpc\": \"2.0\",\n  \"id\": 2,\n"), "{pretty}");
    assert!(pretty.contains("\"big\": 12345678901234567890"), "{pretty}");
    page.click(".exchange:last-child .frame.server [data-form=raw]");
    let raw = page.text_of(text);
    assert!(raw.starts_with("{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"content\":["), "{raw}");
    page.click(".exchange:last-child .frame.server [data-form=pretty]");
    assert_eq!(page.text_of(text), pretty);
}

#[test]
fn an_exchange_shows_time_direction_bytes_and_status() {
    let Some(mut page) = Page::open(&render_html(&sample::rich())) else { return };
    page.eval("document.querySelector('.groups .group:first-child .test-line').click()");
    // The third row after the axis: the call with a response.
    let row = ".timeline > :nth-child(4)";
    for (part, expected) in
        [(".at", "+22 ms"), (".took", "4.3 ms"), (".bytes", "121 B / 77 B"), (".http", "HTTP 200")]
    {
        assert_eq!(page.text_of(&format!("{row} {part}")), expected);
    }
    let way: Vec<String> = page.each(&format!("{row} .way"), "it.title");
    assert_eq!(way, ["client to server"]);
    let bar: Vec<[f64; 2]> =
        page.each(&format!("{row} .bar"), "[it.style.left, it.style.width].map(parseFloat)");
    // Of 527.5 ms, from 22.1 on for 4.3.
    assert_eq!(bar.concat().iter().map(|part| part.round()).collect::<Vec<_>>(), [4.0, 1.0]);
    let labels = page.texts(".exchange .what");
    assert_eq!(
        labels[3..],
        [
            "tools/callconvertno response",
            "not a frameTraceback (most recent call last): KeyError 'K'HTTP 2001 violation",
        ]
    );
}

#[test]
fn earlier_tries_and_omitted_frames_are_shown() {
    let Some(mut page) = Page::open(&render_html(&sample::rich())) else { return };
    page.click(".row.test.flaky");
    assert_eq!(page.text_of(".earlier h3"), "passed on try 2; earlier failures");
    assert_eq!(page.each::<bool>(".earlier .try", "it.open"), [true]);
    assert!(page.text_of(".earlier .message").contains("within: expected at most 200 ms"));
    page.load(&render_html(&sample::rich()), "#q=pages");
    page.wait_until("document.querySelectorAll('.row.test').length === 1");
    page.click(".row.test");
    assert_eq!(page.text_of(".gap"), "112 frames omitted");
    // In the middle: after the axis and 4 of 7 exchanges.
    assert_eq!(page.each::<String>(".timeline > :nth-child(6)", "it.className"), ["gap"]);
    assert!(
        page.texts(".exchange .what")
            .contains(&"tools/calllist_directoryresponse omitted".to_owned())
    );
    assert_eq!(page.count(".shared"), 1, "the note about frames of other tests");
}

#[test]
fn all_frames_open_at_once() {
    let Some(mut page) = Page::open(&render_html(&sample::rich())) else { return };
    page.click(".row.test.passed");
    assert_eq!(page.count(".frame"), 0, "frames are drawn when they are opened");
    page.click(".open-all");
    page.wait_until("document.querySelectorAll('.frame').length === 5");
    page.click(".open-all");
    assert_eq!(page.count(".exchange[open]"), 0);
}

#[test]
fn the_command_is_copied() {
    let Some(mut page) = Page::open(&render_html(&sample::rich())) else { return };
    page.click(".row.test.failed");
    page.eval("window.copied = []");
    page.eval("navigator.clipboard.writeText = async (text) => { window.copied.push(text); }");
    page.click(".command .copy");
    page.wait_until("window.copied.length === 1");
    assert_eq!(page.text("window.copied[0]"), page.text_of(".command code"));
    page.wait_until("document.querySelector('#status-message').textContent === 'copied'");
}
