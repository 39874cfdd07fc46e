//! Keyboard use and accessibility of the page.

use std::collections::BTreeMap;

use serde_json::json;
use sparring_report::render_html;

use crate::browser::Page;
use crate::sample;

/// The roles whose elements need an accessible name.
const NAMED: [&str; 9] = [
    "button",
    "searchbox",
    "combobox",
    "tree",
    "treeitem",
    "navigation",
    "heading",
    "image",
    "region",
];
const ACTIVE: &str = "document.querySelector('.row.active').textContent";
const FOCUS: &str = "document.activeElement.id";

#[test]
fn tests_are_found_browsed_opened_and_closed() {
    let Some(mut page) = Page::open(&render_html(&sample::rich())) else { return };
    page.press("/");
    assert_eq!(page.text(FOCUS), "filter");
    page.type_text("convert");
    page.press("Enter");
    assert_eq!(page.text(FOCUS), "tree");
    assert!(page.text(ACTIVE).contains("2025-06-18 · stdio"));
    page.press("j");
    page.press("ArrowDown");
    assert!(page.text(ACTIVE).contains("2025-11-25 · http"));
    page.press("k");
    assert!(page.text(ACTIVE).contains("2025-11-25 · stdio"));
    assert_eq!(page.text("document.body.dataset.main"), "overview", "moving opens no test");
    page.press("n");
    page.press("Enter");
    assert_eq!(page.text(FOCUS), "title");
    assert_eq!(page.text_of(".badge"), "failed");
    page.press("n");
    assert!(page.text(ACTIVE).contains("2026-07-28 · http"), "the open test follows");
    assert_eq!(page.text(FOCUS), "title");
    assert!(page.text_of(".facts").contains("2026-07-28"));
    page.press("Escape");
    assert_eq!(page.text("document.body.dataset.main"), "overview");
    assert_eq!(page.text(FOCUS), "tree");
    assert_eq!(page.trouble(), [""; 0]);
}

#[test]
fn suites_fold_and_open() {
    let Some(mut page) = Page::open(&render_html(&sample::rich())) else { return };
    page.press("j");
    page.press("ArrowLeft");
    let suite = "document.querySelector('.row.suite.active').getAttribute('aria-expanded')";
    assert_eq!(page.text(suite), "true");
    page.press("ArrowLeft");
    assert_eq!(page.text(suite), "false");
    assert!(!page.text_of("#tree").contains("London"));
    page.press("ArrowRight");
    assert_eq!(page.text(suite), "true");
    assert!(page.text_of("#tree").contains("London"));
}

#[test]
fn every_control_is_reached_by_tab_with_a_visible_focus() {
    let Some(mut page) = Page::open(&render_html(&sample::rich())) else { return };
    // In a new page, since Tab would continue from the click.
    page.click(".row.test.failed");
    let hash = page.text("location.hash");
    page.load(&render_html(&sample::rich()), &hash);
    page.wait_until("document.querySelectorAll('.exchange .frame').length > 0");
    let mut reached = Vec::new();
    for _ in 0..90 {
        page.press("Tab");
        let here = page.eval(
            "(() => { const it = document.activeElement; const style = getComputedStyle(it); \
             window.seen ??= new Set([document.body]); const again = seen.has(it); seen.add(it); \
             return [it.id || it.className || it.tagName, style.outlineStyle !== 'none' \
             && parseFloat(style.outlineWidth) >= 2, again]; })()",
        );
        let name = here[0].as_str().unwrap().to_owned();
        if here[2] == json!(true) {
            break;
        }
        assert_eq!(here[1], json!(true), "the focus on {name} is not seen");
        reached.push(name);
    }
    for name in [
        "skip",
        "theme",
        "filter",
        "facet-tag",
        "tree",
        "copy",
        "quiet close",
        "SUMMARY",
        "frame-text",
    ] {
        assert!(reached.iter().any(|one| one == name), "{name} is not among {reached:?}");
    }
}

#[test]
fn every_control_has_an_accessible_name() {
    let Some(mut page) = Page::open(&render_html(&sample::rich())) else { return };
    page.click(".row.test.failed");
    // The accessibility tree of the browser.
    let tree = page.ask("Accessibility.getFullAXTree", json!({}));
    let mut roles = BTreeMap::<&str, usize>::new();
    for node in tree["nodes"].as_array().unwrap() {
        let role = node["role"]["value"].as_str().unwrap_or_default();
        let name = node["name"]["value"].as_str().unwrap_or_default();
        *roles.entry(role).or_default() += 1;
        assert!(!NAMED.contains(&role) || !name.is_empty(), "nameless: {node}");
    }
    for role in NAMED {
        assert!(roles.contains_key(role), "no {role} among {roles:?}");
    }
    page.press("?");
    assert_eq!(page.count("#help[open]"), 1);
    page.screenshot("keys");
    page.press("Escape");
    assert_eq!(page.count("#help[open]"), 0);
    assert_eq!(page.text("document.body.dataset.main"), "test", "only the help was closed");
}
