//! Filters, views, and links that restore them.

use sparring_report::render_html;

use crate::browser::Page;
use crate::sample;

#[test]
fn a_word_filters_by_name_suite_and_message() {
    let Some(mut page) = Page::open(&render_html(&sample::rich())) else { return };
    assert_eq!(page.text_of("#found"), "44 tests");
    for (typed, expected) in [
        ("London", "5 of 44 tests"),
        ("agents/", "4 of 44 tests"),
        ("no answer within", "2 of 44 tests"),
        ("no 2026 convert", "1 of 44 tests"),
        ("\"answer no\"", "0 of 44 tests"),
        ("tools/output-schema", "2 of 44 tests"),
    ] {
        page.eval("document.querySelector('#filter').value = ''");
        page.eval("document.querySelector('#filter').focus()");
        page.type_text(typed);
        assert_eq!(page.text_of("#found"), expected, "{typed}");
    }
    assert_eq!(page.trouble(), [""; 0]);
}

#[test]
fn statuses_are_switched_and_combined() {
    let Some(mut page) = Page::open(&render_html(&sample::rich())) else { return };
    page.click(".chip.flaky");
    assert_eq!(page.texts(".row.test .name"), ["a cold cache is filled"; 2]);
    page.click(".chip.failed");
    assert_eq!(page.text_of("#found"), "7 of 44 tests");
    assert_eq!(page.text_of(".big"), "5 of 7 tests failed");
    page.click(".chip.flaky");
    assert_eq!(page.text_of("#found"), "5 of 44 tests");
    assert_eq!(page.text("location.hash"), "#status=failed");
    page.click("#reset");
    assert_eq!(page.text_of("#found"), "44 tests");
}

#[test]
fn facets_filter_by_tag_server_revision_transport_and_rule() {
    let Some(mut page) = Page::open(&render_html(&sample::rich())) else { return };
    for (facet, value, expected) in [
        ("tag", "smoke", "10 of 44 tests"),
        ("server", "files", "10 of 44 tests"),
        ("protocol", "2026-07-28", "12 of 44 tests"),
        ("transport", "http", "12 of 44 tests"),
        ("rule", "schema/missing-field", "2 of 44 tests"),
    ] {
        let choose = |value: &str| {
            let change = "it.dispatchEvent(new Event('change'))";
            format!("(it.value = '{value}', {change}, it.value)")
        };
        let select = format!("#facet-{facet}");
        assert_eq!(page.each::<String>(&select, &choose(value)), [value]);
        assert_eq!(page.text_of("#found"), expected, "{facet}");
        assert_eq!(page.each::<String>(&select, &choose("")), [""]);
    }
    assert_eq!(page.trouble(), [""; 0]);
}

#[test]
fn a_link_restores_the_state() {
    let run = render_html(&sample::rich());
    let Some(mut page) = Page::open(&run) else { return };
    page.eval("document.querySelector('#filter').focus()");
    page.type_text("London");
    page.click(".chip.failed");
    page.click(".row.test.failed");
    let hash = page.text("location.hash");
    assert_eq!(page.text_of("#title"), "London has a forecast for today");
    page.load(&run, &hash);
    assert_eq!(page.text_of("#title"), "London has a forecast for today");
    assert_eq!(page.text_of("#found"), "2 of 44 tests");
    assert_eq!(page.text("document.querySelector('#filter').value"), "London");
    assert_eq!(page.count(".row[aria-selected=true]"), 1);
    page.load(&run, "#test=gone&status=odd&view=odd&tag=none");
    assert_eq!(page.text("document.body.dataset.main"), "overview", "unknown values are ignored");
    assert_eq!(page.text_of("#found"), "44 tests");
    assert_eq!(page.trouble(), [""; 0]);
}

#[test]
fn going_back_closes_the_open_view() {
    let Some(mut page) = Page::open(&render_html(&sample::rich())) else { return };
    page.click("#views [data-view=latency]");
    page.click(".row.test.failed");
    assert_eq!(page.text("document.body.dataset.main"), "test");
    page.eval("history.back()");
    page.wait_until("document.body.dataset.main === 'latency'");
    page.eval("history.back()");
    page.wait_until("document.body.dataset.main === 'overview'");
}

#[test]
fn variants_that_differ_come_first() {
    let Some(mut page) = Page::open(&render_html(&sample::rich())) else { return };
    page.click("#views [data-view=variants]");
    assert_eq!(
        page.texts(".matrix .differs .name"),
        ["London has a forecast for today", "units are converted", "a cold cache is filled"]
    );
    let failed = "it.querySelectorAll('td.failed').length";
    assert_eq!(page.each::<usize>(".matrix .differs", failed), [2, 2, 0]);
    let rows: Vec<String> = page.each(".matrix tbody tr", "it.className");
    let expected = "tallies band cause-row differs cause-row differs differs band cause-row \
                    alike alike alike";
    assert_eq!(rows.join(" "), expected);
    page.click(".matrix td.failed button");
    assert_eq!(page.text_of("#title"), "London has a forecast for today");
}

#[test]
fn each_tool_has_its_latency() {
    let Some(mut page) = Page::open(&render_html(&sample::rich())) else { return };
    page.click("#views [data-view=latency]");
    let asked = page.texts(".latency-table tbody code");
    assert_eq!(asked[0], "call forecast", "the slowest first");
    let at = asked.iter().position(|one| one == "call convert").unwrap() + 1;
    // 1.8 ms × 1, 1.7, 2.4, 3.1, 3.8.
    let numbers = page.texts(&format!(".latency-table tbody tr:nth-child({at}) .number"));
    assert_eq!(numbers, ["5", "4.3 ms", "6.8 ms", "6.8 ms"]);
    assert_eq!(page.count(&format!(".latency-table tbody tr:nth-child({at}) .dot")), 5);
    page.click(".latency-table tbody tr:first-child .link");
    assert_eq!(page.text_of("#title"), "London has a forecast for today");
}
