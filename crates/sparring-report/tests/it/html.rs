//! The report for a browser, in a browser.

use sparring_report::html;

use crate::browser::Page;
use crate::sample;

#[test]
fn renders_without_a_complaint_and_asks_for_nothing() {
    let Some(mut page) = Page::open(&html(&sample::rich())) else { return };
    assert_eq!(page.trouble(), [""; 0]);
    page.screenshot("overview-light");
    page.prefer("dark");
    page.screenshot("overview-dark");
}
