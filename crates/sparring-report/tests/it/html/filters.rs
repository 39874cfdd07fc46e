//! What is chosen to be seen, and that a link says it.

use serde_json::json;
use sparring_report::html;

use crate::browser::Page;
use crate::sample;

const NAMES: &str = "[...document.querySelectorAll('.row.test .name')].map((it) => it.textContent)";
const FOUND: &str = "document.querySelector('#found').textContent";

#[test]
fn a_word_filters_by_name_suite_and_message() {
    let Some(mut page) = Page::open(&html(&sample::rich())) else { return };
    assert_eq!(page.text(FOUND), "44 tests");
    for (typed, expected) in [
        ("London", "5 of 44 tests"),
        ("agents/", "4 of 44 tests"),
        ("no answer within", "2 of 44 tests"),
        ("no 2026 convert", "1 of 44 tests"),
        ("\"answer no\"", "0 of 44 tests"),
        ("output-schema", "2 of 44 tests"),
    ] {
        page.eval("document.querySelector('#filter').value = ''");
        page.eval("document.querySelector('#filter').focus()");
        page.type_text(typed);
        assert_eq!(page.text(FOUND), expected, "{typed}");
    }
    assert_eq!(page.trouble(), [""; 0]);
}

#[test]
fn statuses_are_switched_and_combined() {
    let Some(mut page) = Page::open(&html(&sample::rich())) else { return };
    page.click(".chip.flaky");
    assert_eq!(page.eval(NAMES), json!(["a cold cache is filled", "a cold cache is filled"]));
    page.click(".chip.failed");
    assert_eq!(page.text(FOUND), "7 of 44 tests");
    assert_eq!(page.text("document.querySelector('.big').textContent"), "5 of 7 tests failed");
    page.click(".chip.flaky");
    assert_eq!(page.text(FOUND), "5 of 44 tests");
    assert_eq!(page.text("location.hash"), "#status=failed");
    page.click("#reset");
    assert_eq!(page.text(FOUND), "44 tests");
}

#[test]
fn tags_servers_revisions_transports_and_rules_are_chosen() {
    let Some(mut page) = Page::open(&html(&sample::rich())) else { return };
    for (facet, value, expected) in [
        ("tag", "smoke", "10 of 44 tests"),
        ("server", "files", "10 of 44 tests"),
        ("protocol", "2026-07-28", "12 of 44 tests"),
        ("transport", "http", "12 of 44 tests"),
        ("rule", "missing-field", "2 of 44 tests"),
    ] {
        let choose = |value: &str| {
            format!(
                "(() => {{ const it = document.querySelector('#facet-{facet}'); it.value = '{value}'; \
                 it.dispatchEvent(new Event('change')); return it.value; }})()"
            )
        };
        assert_eq!(page.text(&choose(value)), value);
        assert_eq!(page.text(FOUND), expected, "{facet}");
        page.eval(&choose(""));
    }
    assert_eq!(page.trouble(), [""; 0]);
}

#[test]
fn a_link_shows_the_same_again() {
    let run = html(&sample::rich());
    let Some(mut page) = Page::open(&run) else { return };
    page.eval("document.querySelector('#filter').focus()");
    page.type_text("London");
    page.click(".chip.failed");
    page.click(".row.test.failed");
    let hash = page.text("location.hash");
    let title = "document.querySelector('#title').textContent";
    assert_eq!(page.text(title), "London has a forecast for today");
    page.load(&run, &hash);
    assert_eq!(page.text(title), "London has a forecast for today");
    assert_eq!(page.text(FOUND), "2 of 44 tests");
    assert_eq!(page.text("document.querySelector('#filter').value"), "London");
    assert_eq!(page.eval("document.querySelectorAll('.row[aria-selected=true]').length"), json!(1));
    page.load(&run, "#test=gone&status=odd&view=odd&tag=none");
    assert_eq!(page.text("document.body.dataset.main"), "tests", "what is unknown is left out");
    assert_eq!(page.trouble(), [""; 0]);
}

#[test]
fn going_back_closes_what_was_opened() {
    let Some(mut page) = Page::open(&html(&sample::rich())) else { return };
    page.click("#views [data-view=latency]");
    page.click(".row.test.failed");
    assert_eq!(page.text("document.body.dataset.main"), "test");
    page.eval("history.back()");
    page.wait_until("document.body.dataset.main === 'latency'");
    page.eval("history.back()");
    page.wait_until("document.body.dataset.main === 'tests'");
}

#[test]
fn variants_that_differ_come_first() {
    let Some(mut page) = Page::open(&html(&sample::rich())) else { return };
    page.click("#views [data-view=variants]");
    let rows = "[...document.querySelectorAll('.matrix tr.differs')].map((row) => \
                [row.querySelector('.name').textContent, row.querySelectorAll('td.failed').length])";
    assert_eq!(
        page.eval(rows),
        json!([
            ["London has a forecast for today", 2],
            ["units are converted", 2],
            ["a cold cache is filled", 0],
        ])
    );
    let all =
        "[...document.querySelectorAll('.matrix tbody tr[class]')].map((row) => row.className)";
    assert_eq!(
        page.eval(all),
        json!([
            "tallies", "band", "differs", "differs", "differs", "band", "alike", "alike", "alike"
        ])
    );
    page.click(".matrix td.failed button");
    assert_eq!(
        page.text("document.querySelector('#title').textContent"),
        "London has a forecast for today"
    );
}

#[test]
fn each_tool_has_its_latency() {
    let Some(mut page) = Page::open(&html(&sample::rich())) else { return };
    page.click("#views [data-view=latency]");
    let rows = "[...document.querySelectorAll('.latency-table tbody tr')].map((row) => \
                [row.querySelector('code').textContent, ...[...row.querySelectorAll('td.number')].map((it) => it.textContent)])";
    let rows = page.eval(rows);
    let rows: Vec<&serde_json::Value> = rows.as_array().unwrap().iter().collect();
    let of = |asked: &str| *rows.iter().find(|row| row[0] == asked).unwrap();
    // 10 answers each: 1.8 ms × 1, 1.7, 2.4, 3.1, 3.8.
    assert_eq!(*of("call convert"), json!(["call convert", "5", "4.3 ms", "6.8 ms", "6.8 ms"]));
    assert_eq!(rows[0][0], "call forecast", "the slowest first");
    let dots = "document.querySelectorAll('.latency-table tbody tr:first-child .dot').length";
    assert_eq!(page.eval(dots), json!(10));
    page.click(".latency-table tbody tr:first-child .link");
    assert_eq!(
        page.text("document.querySelector('#title').textContent"),
        "London has a forecast for today"
    );
}
