//! The HTML report of five thousand tests.

use serde_json::json;
use sparring_report::render_html;

use crate::browser::Page;
use crate::sample;

const MEASURE: &str = include_str!("measure.js");

#[test]
fn five_thousand_tests_are_usable_within_two_seconds() {
    let run = render_html(&sample::big(5000));
    let Some(mut page) = Page::open(&run) else { return };
    let mut ready = f64::INFINITY;
    // Other tests share the machine, so the best of three counts.
    for _ in 0..3 {
        page.reload();
        let once = page.eval("performance.getEntriesByName('ready')[0].startTime");
        ready = ready.min(once.as_f64().unwrap());
    }
    eprintln!("{:.1} MB are usable after {ready:.0} ms", run.len() as f64 / 1e6);
    assert!(ready < 2000.0, "usable after {ready:.0} ms");
    page.screenshot("big-light");
    let rows = page.eval("document.querySelectorAll('.row').length").as_u64().unwrap();
    assert!((20..80).contains(&rows), "{rows} rows exist");
    assert_eq!(page.trouble(), [""; 0]);
}

#[test]
fn five_thousand_tests_are_filtered_and_browsed_without_delay() {
    let Some(mut page) = Page::open(&render_html(&sample::big(5000))) else { return };
    page.eval(MEASURE);
    check(&mut page, "a key in the filter", "typing()", 200.0);
    page.eval("fill('record 1249')");
    assert_eq!(page.text_of("#found"), "4 of 5,000 tests");
    page.click("#reset");
    let height = page.eval("document.querySelector('#tree-space').clientHeight");
    assert_eq!(height, json!(5000 * 32 + 125 * 38));
    let last = page.eval("scrolling().then((it) => it.last)");
    assert_eq!(last, json!("40"), "the last test of the last suite is drawn");
    check(&mut page, "a screenful", "scrolling().then((it) => it.took)", 200.0);
    for view in ["latency", "variants", "overview"] {
        check(&mut page, view, &format!("opening('{view}')"), 500.0);
        page.screenshot(&format!("big-{view}"));
    }
    page.click(".row.test");
    assert_eq!(page.text("document.body.dataset.main"), "test");
    check(&mut page, "the next test", "nextTest()", 200.0);
    page.screenshot("big-test");
    assert_eq!(page.trouble(), [""; 0]);
}

/// Measures the time until a change is visible. The limits are far above the times of an
/// idle machine.
fn check(page: &mut Page, action: &str, measure: &str, max_ms: f64) {
    let took = page.eval(measure).as_f64().unwrap();
    eprintln!("{action}: {took:.0} ms");
    assert!(took < max_ms, "{action} takes {took:.0} ms");
}
