//! Five thousand tests.

use serde_json::json;
use sparring_report::html;

use crate::browser::Page;
use crate::sample;

#[test]
fn five_thousand_tests_are_usable_within_two_seconds() {
    let run = html(&sample::big(5000));
    let Some(mut page) = Page::open(&run) else { return };
    let ready = page.eval("performance.getEntriesByName('ready')[0].startTime").as_f64().unwrap();
    eprintln!("{:.1} MB, ready after {ready:.0} ms", run.len() as f64 / 1e6);
    assert!(ready < 2000.0, "ready after {ready:.0} ms");
    page.screenshot("big-light");
    assert!(page.eval("document.querySelectorAll('.row').length").as_u64().unwrap() < 80);
    let typed = typing(&mut page);
    eprintln!("from a key to the screen in {typed:.0} ms at most");
    assert!(typed < 500.0, "a key takes {typed:.0} ms");
    let slowest = page.eval(SCROLL).as_f64().unwrap();
    eprintln!("scrolling draws in {slowest:.0} ms at most");
    assert!(slowest < 500.0, "a screenful takes {slowest:.0} ms");
    for view in ["latency", "variants", "overview"] {
        let took = page.eval(&view_time(view)).as_f64().unwrap();
        eprintln!("{view} in {took:.0} ms");
        assert!(took < 1000.0, "{view} takes {took:.0} ms");
        page.screenshot(&format!("big-{view}"));
    }
    page.click(".row.test");
    assert_eq!(page.text("document.body.dataset.main"), "test");
    assert_eq!(page.trouble(), [""; 0]);
}

/// The longest time from a change of the filter to the frame that shows it.
fn typing(page: &mut Page) -> f64 {
    let typed = "(async () => { let most = 0; const box = document.querySelector('#filter'); \
        for (const text of ['r', 're', 'rec', 'record 1', 'record 12', 'record', '']) { \
            const start = performance.now(); box.value = text; box.dispatchEvent(new Event('input')); \
            await new Promise((done) => requestAnimationFrame(() => setTimeout(done))); \
            most = Math.max(most, performance.now() - start); } return most; })()";
    let most = page.eval(typed).as_f64().unwrap();
    page.eval("(() => { const box = document.querySelector('#filter'); box.value = 'record 1249'; box.dispatchEvent(new Event('input')); })()");
    assert_eq!(page.text("document.querySelector('#found').textContent"), "4 of 5,000 tests");
    page.click("#reset");
    assert_eq!(
        page.eval("document.querySelector('#tree-space').clientHeight"),
        json!(5000 * 32 + 100 * 38)
    );
    most
}

const SCROLL: &str = "(async () => { let most = 0; const tree = document.querySelector('#tree'); \
    for (let part = 0; part <= 20; part += 1) { const start = performance.now(); \
        tree.scrollTop = tree.scrollHeight * part / 20; \
        await new Promise((done) => requestAnimationFrame(() => setTimeout(done))); \
        await new Promise((done) => requestAnimationFrame(() => setTimeout(done))); \
        if (!document.querySelector('.row')) throw new Error('nothing is drawn'); \
        most = Math.max(most, performance.now() - start); } tree.scrollTop = 0; return most; })()";

fn view_time(view: &str) -> String {
    format!(
        "(async () => {{ const start = performance.now(); document.querySelector('[data-view={view}]').click(); \
         await new Promise((done) => requestAnimationFrame(() => setTimeout(done))); \
         return performance.now() - start; }})()"
    )
}
