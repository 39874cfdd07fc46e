//! Texts that try to be more than texts.

use serde_json::json;
use sparring_report::html;

use crate::browser::Page;
use crate::sample::{HOSTILE, hostile};

#[test]
fn hostile_texts_stay_texts_in_every_view() {
    let Some(mut page) = Page::open(&html(&hostile())) else { return };
    let title = "13 failed of 13 · Sparring";
    for view in ["overview", "latency", "variants"] {
        page.click(&format!("#views [data-view={view}]"));
        assert_eq!(page.text("document.title"), title, "{view}");
    }
    page.screenshot("hostile-variants");
    for at in 0..=HOSTILE.len() {
        page.eval(&format!(
            "document.querySelectorAll('.matrix td.failed button')[{at}]?.click() ?? null"
        ));
    }
    for _ in 0..=HOSTILE.len() {
        page.press("j");
        page.press("Enter");
        page.eval("for (const row of document.querySelectorAll('details')) row.open = true");
        page.wait_until("document.querySelectorAll('.exchange .frame').length >= 6");
        page.eval("for (const raw of document.querySelectorAll('[data-form=raw]')) raw.click()");
    }
    page.screenshot("hostile-test");
    assert_eq!(page.text("document.title"), title);
    let foreign = "document.querySelectorAll('img, iframe, main script, main style, [onerror], [onload], a[href^=java]').length";
    assert_eq!(page.eval(foreign), json!(0));
    assert_eq!(page.trouble(), [""; 0]);
}

#[test]
fn what_cannot_be_seen_is_shown_by_its_number() {
    let Some(mut page) = Page::open(&html(&hostile())) else { return };
    let open = |at: usize| {
        format!(
            "document.querySelectorAll('.groups .test-line')[{at}].click(), document.querySelector('#title').textContent"
        )
    };
    assert_eq!(page.text(&open(6)), "aU+0000bU+0001cU+001B[31mredU+007FU+0085");
    page.eval("history.back()");
    page.wait_until("document.body.dataset.main === 'tests'");
    assert_eq!(page.text(&open(8)), "U+202Egnp.tsetU+202C U+2066turnedU+2069");
}

#[test]
fn a_huge_text_is_shown_in_parts() {
    let Some(mut page) = Page::open(&html(&hostile())) else { return };
    page.eval("document.querySelectorAll('.groups .test-line')[12].click()");
    page.wait_until("document.querySelectorAll('.exchange .frame').length > 0");
    assert!(page.text("document.querySelector('#main').textContent").len() < 600_000);
    page.click(".failure .message .more");
    let whole = "document.querySelector('.failure .message').textContent.length";
    assert_eq!(page.eval(whole), json!((1 << 20) + HOSTILE[0].len()));
    assert_eq!(page.trouble(), [""; 0]);
}

#[test]
fn hostile_texts_stay_texts_without_scripts() {
    let Some(mut page) = Page::blank() else { return };
    page.ask("Emulation.setScriptExecutionDisabled", json!({"value": true}));
    page.load(&html(&hostile()), "");
    let text = page.text("document.body.innerText");
    assert!(
        text.contains(HOSTILE[0]) && text.contains(HOSTILE[2]) && text.contains(HOSTILE[11]),
        "{text}"
    );
    assert!(text.len() < 40_000, "{}", text.len());
    let foreign = "document.querySelectorAll('img, iframe, svg[onload], body style').length";
    assert_eq!(page.eval(foreign), json!(0));
}
