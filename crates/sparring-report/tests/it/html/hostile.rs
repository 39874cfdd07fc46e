//! Hostile texts in the HTML report.

use serde_json::json;
use sparring_report::render_html;

use crate::browser::Page;
use crate::sample::{HOSTILE, hostile, huge};

#[test]
fn hostile_texts_stay_texts_in_every_view() {
    let Some(mut page) = Page::open(&render_html(&hostile())) else { return };
    let title = "12 of 12 failed · Sparring";
    for view in ["overview", "latency", "variants"] {
        page.click(&format!("#views [data-view={view}]"));
        assert_eq!(page.text("document.title"), title, "{view}");
    }
    page.screenshot("hostile-variants");
    for text in HOSTILE {
        page.press("j");
        page.press("Enter");
        page.eval("for (const row of document.querySelectorAll('details')) row.open = true");
        page.wait_until("document.querySelectorAll('.exchange .frame').length >= 6");
        page.eval("for (const raw of document.querySelectorAll('[data-form=raw]')) raw.click()");
        let wider: Vec<i64> = page.each("#main, #side", "it.scrollWidth - it.clientWidth");
        assert_eq!(wider, [0, 0], "wider than the screen: {text}");
    }
    page.screenshot("hostile-test");
    assert_eq!(page.text("document.title"), title);
    let foreign = "img, iframe, main script, main style, [onerror], [onload], a[href^=java]";
    assert_eq!(page.count(foreign), 0);
    assert_eq!(page.trouble(), [""; 0]);
}

#[test]
fn invisible_characters_are_shown_by_their_number() {
    let Some(mut page) = Page::open(&render_html(&hostile())) else { return };
    let open = |at: usize| format!("document.querySelectorAll('.groups .test-line')[{at}].click()");
    page.eval(&open(6));
    assert_eq!(page.text_of("#title"), "aU+0000b\ncU+000DdU+001B[31mredU+007FU+0085U+E0041U+FFFF");
    page.eval("history.back()");
    page.wait_until("document.body.dataset.main === 'overview'");
    page.eval(&open(8));
    assert_eq!(page.text_of("#title"), "U+202Egnp.tsetU+202C U+2066turnedU+2069");
}

#[test]
fn a_huge_text_is_shown_in_parts() {
    let Some(mut page) = Page::open(&render_html(&huge())) else { return };
    for view in ["latency", "variants", "overview"] {
        page.click(&format!("#views [data-view={view}]"));
        assert!(page.text_of("#main").len() < 100_000, "{view}");
    }
    page.click(".row.test");
    page.wait_until("document.querySelectorAll('.exchange .frame').length > 0");
    let shown = page.text_of("#main").len();
    assert!(shown < 600_000, "{shown} bytes");
    let wider: Vec<i64> = page.each("#main, #side", "it.scrollWidth - it.clientWidth");
    assert_eq!(wider, [0, 0], "wider than the screen");
    page.screenshot("hostile-huge");
    page.click(".failure .message .more");
    let whole = "document.querySelector('.failure .message').textContent.length";
    assert_eq!(page.eval(whole), json!((1 << 20) + HOSTILE[0].len()));
    assert_eq!(page.trouble(), [""; 0]);
}

#[test]
fn hostile_texts_stay_texts_without_scripts() {
    let Some(mut page) = Page::blank() else { return };
    page.ask("Emulation.setScriptExecutionDisabled", json!({"value": true}));
    let mut run = hostile();
    run.tests.extend(huge().tests);
    page.load(&render_html(&run), "");
    let text = page.text("document.body.innerText");
    assert!(
        text.contains(HOSTILE[0]) && text.contains(HOSTILE[2]) && text.contains(HOSTILE[11]),
        "{text}"
    );
    assert!(text.len() < 40_000, "{}", text.len());
    assert_eq!(page.count("img, iframe, svg[onload], body style"), 0);
}

#[test]
fn the_content_security_policy_blocks_injected_markup() {
    let Some(mut page) = Page::open(&render_html(&hostile())) else { return };
    page.eval("window.stopped = []");
    page.eval(
        "addEventListener('securitypolicyviolation', (it) => stopped.push(it.effectiveDirective))",
    );
    page.eval(
        "document.body.insertAdjacentHTML('beforeend', \
         `<img src='http://127.0.0.1:9/x' onerror='document.title = 1'><b onclick='1'>b</b>`)",
    );
    page.eval("fetch('http://127.0.0.1:9/x').catch(() => 0)");
    page.wait_until(
        "['img-src', 'connect-src', 'script-src-attr'].every((it) => stopped.includes(it))",
    );
    assert_eq!(page.text("document.title"), "12 of 12 failed · Sparring");
}
