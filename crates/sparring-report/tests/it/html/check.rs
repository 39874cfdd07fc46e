//! A check of a server in the HTML report.

use sparring_report::render_html;

use crate::browser::Page;
use crate::texts::sample;

#[test]
fn a_broken_rule_is_shown_with_its_sentence_section_and_change() {
    let Some(mut page) = Page::open(&render_html(&sample::check())) else { return };
    page.press("n");
    page.press("Enter");
    page.wait_until("document.querySelectorAll('[aria-label=Rule] p').length === 3");
    let shown: Vec<String> = page.each("[aria-label=Rule] p", "it.textContent");
    let expected = [
        "The rule tools/list-invalid-cursor must be kept.",
        "https://example.org/tools/list-invalid-cursor",
        "Change: Keep the rule.",
    ];
    assert_eq!(shown, expected);
    // The failure has no line of a file.
    assert!(page.each::<String>(".failure .source", "it.textContent").is_empty());
    assert_eq!(page.trouble(), [""; 0]);
}
