//! A test that is opened: why it failed, and what was said.

use serde_json::json;
use sparring_report::html;

use crate::browser::Page;
use crate::sample;

const OPEN: &str = "document.querySelector('.groups .group:nth-child(2) .test-line').click()";
const ROWS: &str = "[...document.querySelectorAll('.exchange')].map((row) => \
    row.querySelector('.what b').textContent)";

#[test]
fn a_failure_has_its_place_its_line_and_its_difference() {
    let Some(mut page) = Page::open(&html(&sample::rich())) else { return };
    page.eval(OPEN);
    let text = "(selector) => document.querySelector(selector).textContent";
    let mut text = |selector: &str| page.text(&format!("({text})({})", json!(selector)));
    assert_eq!(text(".failure .where code"), "tests/weather.spar.yaml:26:15");
    assert_eq!(
        text(".failure .source pre"),
        "26 json: {temperature: 15, sky: cloudy}\n           ^"
    );
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
fn requests_stand_with_their_answers_and_violations_on_their_frames() {
    let Some(mut page) = Page::open(&html(&sample::rich())) else { return };
    page.eval(OPEN);
    assert_eq!(page.eval(ROWS), json!(["server/discover", "notifications/message", "tools/call"]));
    // What has something wrong is open at once.
    let open = "[...document.querySelectorAll('.exchange')].map((row) => row.open)";
    assert_eq!(page.eval(open), json!([false, true, true]));
    page.wait_until("document.querySelectorAll('.exchange:last-child .frame').length === 2");
    let sides =
        "[...document.querySelectorAll('.exchange:last-child .frame')].map((it) => it.className)";
    assert_eq!(page.eval(sides), json!(["frame client", "frame server"]));
    let broken = "[...document.querySelectorAll('.exchange:last-child .frame.server .violation')].map((it) => \
                  [...it.querySelectorAll('p')].map((line) => line.textContent))";
    assert_eq!(
        page.eval(broken),
        json!([
            [
                "missing-field at $.result.content[1].mimeType",
                "an image has a `mimeType`",
                "specification: 2026-07-28/server/tools#image-content",
            ],
            [
                "output-schema at $.result.structuredContent.temperature",
                "the tool's own schema wants a number here",
                "specification: 2026-07-28/server/tools#output-schema",
            ],
        ])
    );
    // Where a field is missing, what it is missing in is marked.
    let marked = "[...document.querySelectorAll('.exchange:last-child .marked')].map((it) => it.textContent)";
    assert_eq!(page.eval(marked), json!(["{", "\"temperature\"", "\"15\""]));
    assert_eq!(page.eval("document.querySelectorAll('.frame.client .violation').length"), json!(0));
}

#[test]
fn json_is_shown_as_it_was_spelled_pretty_or_raw() {
    let Some(mut page) = Page::open(&html(&sample::rich())) else { return };
    page.eval(OPEN);
    page.wait_until("document.querySelectorAll('.exchange:last-child .frame').length === 2");
    let text =
        "document.querySelector('.exchange:last-child .frame.server .frame-text').textContent";
    let pretty = page.text(text);
    assert!(pretty.starts_with("{\n  \"jsonrpc\": \"2.0\",\n  \"id\": 2,\n"), "{pretty}");
    assert!(pretty.contains("\"big\": 12345678901234567890"), "{pretty}");
    page.click(".exchange:last-child .frame.server [data-form=raw]");
    let raw = page.text(text);
    assert!(raw.starts_with("{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"content\":["), "{raw}");
    page.click(".exchange:last-child .frame.server [data-form=pretty]");
    assert_eq!(page.text(text), pretty);
}

#[test]
fn time_direction_bytes_and_status_are_told() {
    let Some(mut page) = Page::open(&html(&sample::rich())) else { return };
    page.eval("document.querySelector('.groups .group:first-child .test-line').click()");
    let row = "(() => { const row = [...document.querySelectorAll('.exchange')][2]; return [ \
        ...['.at', '.took', '.bytes', '.http'].map((it) => row.querySelector(it).textContent), \
        row.querySelector('.way').title, parseFloat(row.querySelector('.bar').style.left) > 0]; })()";
    assert_eq!(
        page.eval(row),
        json!(["+22 ms", "4.3 ms", "121 B / 77 B", "HTTP 200", "client to server", true])
    );
    let labels = "[...document.querySelectorAll('.exchange')].slice(3).map((row) => row.querySelector('.what').textContent)";
    assert_eq!(
        page.eval(labels),
        json!([
            "tools/callconvertno answer",
            "not a frameTraceback (most recent call last): KeyError 'K'HTTP 2001 violation",
        ])
    );
}

#[test]
fn earlier_tries_and_frames_that_are_not_kept_are_told() {
    let Some(mut page) = Page::open(&html(&sample::rich())) else { return };
    page.click(".row.test.flaky");
    assert_eq!(
        page.text("document.querySelector('.earlier h3').textContent"),
        "passed at try 2; what failed before"
    );
    assert_eq!(page.eval("document.querySelector('.earlier .try').open"), json!(true));
    assert!(
        page.text("document.querySelector('.earlier').innerText")
            .contains("within: expected at most 200 ms")
    );
    page.load(&html(&sample::rich()), "#q=pages");
    page.wait_until("document.querySelectorAll('.row.test').length === 1");
    page.click(".row.test");
    assert_eq!(
        page.text("document.querySelector('.gap').textContent"),
        "112 frames more stood here and are not kept"
    );
    let before = "[...document.querySelector('.timeline').children].findIndex((it) => it.className === 'gap')";
    assert_eq!(page.eval(before), json!(5));
}

#[test]
fn all_frames_open_at_once() {
    let Some(mut page) = Page::open(&html(&sample::rich())) else { return };
    page.click(".row.test.passed");
    assert_eq!(
        page.eval("document.querySelectorAll('.frame').length"),
        json!(0),
        "made when looked at"
    );
    page.click(".open-all");
    page.wait_until("document.querySelectorAll('.frame').length === 5");
    page.click(".open-all");
    assert_eq!(page.eval("document.querySelectorAll('.exchange[open]').length"), json!(0));
}

#[test]
fn the_command_is_copied() {
    let Some(mut page) = Page::open(&html(&sample::rich())) else { return };
    page.click(".row.test.failed");
    page.eval("window.copied = []; navigator.clipboard.writeText = async (text) => { window.copied.push(text); }");
    page.click(".command .copy");
    page.wait_until("window.copied.length === 1");
    assert_eq!(
        page.text("window.copied[0]"),
        page.text("document.querySelector('.command code').textContent")
    );
    page.wait_until("document.querySelector('#said').textContent === 'copied'");
}
