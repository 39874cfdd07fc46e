//! The HTML report: one self-contained file that shows a run in a browser.
//!
//! The page is a template with its style and scripts, all in `page/`. The run is embedded
//! as JSON, and the scripts only ever show it as text. A browser without scripts shows the
//! summary and the failures. A content security policy lists the page's scripts and style
//! by their hashes and forbids everything else, so texts of a server cannot run, and the
//! page never fetches anything.

mod embedded_data;
mod noscript;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::digest::{SHA256, digest};

use crate::Run;

const PAGE: &str = include_str!("page/page.html");
const STYLE: &str = concat!(include_str!("page/style.css"), include_str!("page/views.css"));
/// Selects light or dark colours before the page is drawn.
const THEME_SCRIPT: &str = include_str!("page/theme.js");
/// The scripts of the page in one scope, in the order of their dependencies.
const SCRIPT: &str = concat!(
    "(() => {\n\"use strict\";\n",
    include_str!("page/dom.js"),
    include_str!("page/data.js"),
    include_str!("page/state.js"),
    include_str!("page/list.js"),
    include_str!("page/filters.js"),
    include_str!("page/json.js"),
    include_str!("page/traffic.js"),
    include_str!("page/test.js"),
    include_str!("page/overview.js"),
    include_str!("page/latency.js"),
    include_str!("page/variants.js"),
    include_str!("page/main.js"),
    "})();\n"
);

/// Renders the HTML report.
pub fn render_html(run: &Run) -> String {
    let mut page = String::new();
    let mut rest = PAGE;
    // In one pass, since inserted content may look like a slot.
    while let Some((before, (name, after))) =
        rest.split_once("{{").and_then(|(before, slot)| Some((before, slot.split_once("}}")?)))
    {
        page.push_str(before);
        fill_slot(name, run, &mut page);
        rest = after;
    }
    page.push_str(rest);
    page
}

fn fill_slot(slot: &str, run: &Run, page: &mut String) {
    match slot {
        "policy" => page.push_str(&content_security_policy()),
        "title" => noscript::write_escaped(&noscript::render_title(run), page),
        "style" => page.push_str(STYLE),
        "theme" => page.push_str(THEME_SCRIPT),
        "script" => page.push_str(SCRIPT),
        "noscript" => noscript::write(run, page),
        "data" => embedded_data::write(run, page),
        other => unreachable!("the page has an unknown slot `{other}`"),
    }
}

/// Returns a content security policy that allows only the page's scripts and style.
fn content_security_policy() -> String {
    format!(
        "default-src 'none'; style-src {}; script-src {} {}; base-uri 'none'; form-action 'none'",
        csp_hash(STYLE),
        csp_hash(THEME_SCRIPT),
        csp_hash(SCRIPT),
    )
}

/// Returns the source expression of an inline script or style.
fn csp_hash(text: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(digest(&SHA256, text.as_bytes())))
}
