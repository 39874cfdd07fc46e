//! The appearance of the page: light, dark, narrow, printed, and without scripts.

use serde_json::json;
use sparring_report::{Build, Outcome, Summary, render_html};

use crate::browser::Page;
use crate::sample;

const CONTRAST: &str = include_str!("contrast.js");

/// Elements with their own colour in the overview and in a failed test.
const COLOURED: [&str; 8] = [
    "body",
    "#facts",
    ".chip.failed",
    ".row.test .took",
    ".row.suite .folder",
    ".tally.failed",
    ".times",
    "#views [aria-current]",
];
const COLOURED_IN_A_TEST: [&str; 10] = [
    ".badge.failed",
    ".diff-line.expected",
    ".diff-line.found",
    ".violation b",
    ".violation .dim",
    ".json-key",
    ".json-string",
    ".json-number",
    ".exchange .subject",
    ".frame.server .who b",
];

#[test]
fn renders_without_errors_and_requests() {
    let Some(mut page) = Page::open(&render_html(&sample::rich())) else { return };
    for view in ["latency", "variants", "overview"] {
        page.click(&format!("#views [data-view={view}]"));
        page.screenshot(&format!("{view}-light"));
    }
    page.click(".row.test.failed");
    page.screenshot("test-light");
    assert_eq!(page.trouble(), [""; 0]);
    assert_eq!(page.text("document.title"), "5 of 44 failed · Sparring");
}

#[test]
fn colours_follow_the_system_or_the_choice() {
    let Some(mut page) = Page::open(&render_html(&sample::rich())) else { return };
    let background = "getComputedStyle(document.body).backgroundColor";
    let light = page.text(background);
    page.prefer("dark");
    let dark = page.text(background);
    assert_ne!(light, dark);
    page.click("#theme");
    assert_eq!(page.text(background), light, "light was chosen");
    page.reload();
    assert_eq!(page.text(background), light, "and is remembered");
    page.click("#theme");
    page.prefer("light");
    assert_eq!(page.text(background), dark, "dark was chosen");
    page.click("#theme");
    assert_eq!(page.text(background), light, "system default again");
    assert_eq!(page.trouble(), [""; 0]);
}

#[test]
fn text_has_enough_contrast_in_light_and_dark() {
    let Some(mut page) = Page::open(&render_html(&sample::rich())) else { return };
    page.eval(CONTRAST);
    for scheme in ["light", "dark"] {
        page.prefer(scheme);
        check_contrast(&mut page, scheme, &COLOURED);
        page.screenshot(&format!("overview-{scheme}"));
    }
    page.eval("document.querySelector('.groups .group:nth-child(2) .test-line').click()");
    for scheme in ["light", "dark"] {
        page.prefer(scheme);
        page.eval("document.querySelector('#main').scrollTop = 0");
        check_contrast(&mut page, scheme, &COLOURED_IN_A_TEST);
        page.screenshot(&format!("failure-{scheme}"));
        page.eval("document.querySelector('.traffic').scrollIntoView()");
        page.screenshot(&format!("timeline-{scheme}"));
    }
}

fn check_contrast(page: &mut Page, scheme: &str, selectors: &[&str]) {
    for selector in selectors {
        let contrast = page.eval(&format!("contrast({})", json!(selector))).as_f64().unwrap();
        assert!(contrast >= 4.5, "{selector} in {scheme}: {contrast:.2}");
    }
}

#[test]
fn fits_a_narrow_screen() {
    let Some(mut page) = Page::open(&render_html(&sample::rich())) else { return };
    page.size(390, 844);
    let overflow = "document.documentElement.scrollWidth - innerWidth";
    for (name, go) in [
        ("tests", "document.querySelector('[data-view=tests]').click()"),
        ("overview", "document.querySelector('[data-view=overview]').click()"),
        ("latency", "document.querySelector('[data-view=latency]').click()"),
        ("variants", "document.querySelector('[data-view=variants]').click()"),
        ("test", "document.querySelector('.matrix td.failed button').click()"),
    ] {
        page.eval(go);
        page.screenshot(&format!("narrow-{name}"));
        assert_eq!(page.eval(overflow), json!(0), "{name} is wider than the screen");
        let seen = "[getComputedStyle(document.querySelector('#side')).display !== 'none', \
                     getComputedStyle(document.querySelector('#main')).display !== 'none']";
        assert_eq!(page.eval(seen), json!([name == "tests", name != "tests"]), "{name}");
    }
    page.click(".close");
    assert_eq!(page.text("document.body.dataset.main"), "variants", "back in the previous view");
}

#[test]
fn a_failed_run_starts_with_its_overview_and_failing_suites_on_every_screen() {
    let failed = render_html(&sample::rich());
    let mut good = sample::rich();
    good.tests.retain(|test| test.outcome != Outcome::Failed);
    good.summary = Summary::from_tests(&good.tests);
    for (width, height) in [(1280, 800), (390, 844)] {
        let Some(mut page) = Page::open(&failed) else { return };
        page.size(width, height);
        page.reload();
        assert!(page.eval("document.querySelector('.big.failed').offsetWidth > 0") == json!(true));
        page.screenshot(&format!("failed-{width}"));
        page.eval("document.querySelector('[data-view=tests]').click()");
        // Only the rows in sight exist.
        page.size(width, 4_000);
        page.wait_until("document.querySelectorAll('#tree-space .row.suite').length > 2");
        let suites = page.texts("#tree-space .row.suite .file");
        assert_eq!(suites, ["weather.spar.yaml", "travel.spar.yaml", "files.spar.yaml"]);
        page.load(&render_html(&good), "");
        page.wait_until("document.documentElement.dataset.ready === 'true'");
        assert_eq!(page.text("document.body.dataset.main"), "tests");
    }
}

#[test]
fn the_latency_table_fits_beside_the_list() {
    let Some(mut page) = Page::open(&render_html(&sample::rich())) else { return };
    page.size(1280, 800);
    page.click("#views [data-view=latency]");
    page.screenshot("latency-1280");
    let overflow: Vec<i64> = page.each(".wide", "it.scrollWidth - it.clientWidth");
    assert_eq!(overflow, [0]);
    let outside = "document.querySelector('.latency-table .plot').getBoundingClientRect().right \
                   - [...document.querySelectorAll('.scale text')].at(-1).getBoundingClientRect().right";
    assert!(page.eval(outside).as_f64().unwrap() >= 0.0, "the scale overlaps the next column");
}

#[test]
fn the_head_names_the_project_and_links_to_the_ci_system() {
    let Some(mut page) = Page::open(&render_html(&sample::rich())) else { return };
    let facts = page.texts("#facts > *");
    let expected = ["team/weather-server", "convert-units", "4a6d1f0c9b", "CI run"];
    assert_eq!(facts[..4], expected);
    let link: Vec<String> = page.each("#facts a", "it.href");
    assert_eq!(link, ["https://ci.example/team/weather-server/runs/1873"]);
    let mut run = sample::rich();
    let url = Some("javascript:document.title='hacked'".to_owned());
    run.build = Some(Build { url, ..Build::default() });
    page.load(&render_html(&run), "");
    page.wait_until("document.documentElement.dataset.ready === 'true'");
    assert_eq!(page.count("#facts a"), 0, "only web pages are links");
}

#[test]
fn prints_the_view_without_the_controls() {
    let Some(mut page) = Page::open(&render_html(&sample::rich())) else { return };
    page.click(".row.test.failed");
    page.ask("Emulation.setEmulatedMedia", json!({"media": "print"}));
    let shown: Vec<String> = page.each("#side, #views, .copy", "getComputedStyle(it).display");
    assert!(shown.len() > 3 && shown.iter().all(|one| one == "none"), "{shown:?}");
    let rest: Vec<i64> = page.each("#main", "it.scrollHeight - it.clientHeight");
    assert_eq!(rest, [0], "the whole view is visible");
    let pdf = page.ask("Page.printToPDF", json!({}));
    assert!(pdf["data"].as_str().unwrap().len() > 10_000);
}

#[test]
fn shows_the_failures_without_scripts() {
    let Some(mut page) = Page::blank() else { return };
    page.ask("Emulation.setScriptExecutionDisabled", json!({"value": true}));
    page.load(&render_html(&sample::rich()), "");
    let text = page.text("document.body.innerText");
    page.screenshot("without-scripts");
    assert!(text.contains("31 passed, 5 failed, 5 skipped, 3 not run, 2 flaky"), "{text}");
    assert!(text.contains("units are converted [2026-07-28, http]"), "{text}");
    assert!(text.contains("tests/weather.spar.yaml:34:7\ntools/call convert: no answer"), "{text}");
    assert!(!text.contains("Filter"), "{text}");
}
