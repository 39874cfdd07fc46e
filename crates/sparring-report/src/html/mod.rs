//! The report for a browser: one file that shows a run and needs nothing else.
//!
//! The page is an empty frame with our own style and scripts, all in
//! `page/`. What happened is in it as JSON, which the scripts show as text
//! and nothing else; whoever has no scripts reads the summary and the failures.
//! A policy in the page names its own scripts and style by their digests and
//! forbids all else, so that what a server said cannot run, and nothing is ever
//! fetched.

mod data;
mod escape;
mod plain;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::digest::{SHA256, digest};

use crate::Run;

const PAGE: &str = include_str!("page/page.html");
const STYLE: &str = concat!(include_str!("page/style.css"), include_str!("page/views.css"));
/// Chooses light or dark before anything is drawn.
const EARLY: &str = include_str!("page/theme.js");
/// The page at work: one scope for all files, in the order in which they need
/// each other.
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

/// The report for a browser.
pub fn html(run: &Run) -> String {
    let mut page = String::new();
    let mut rest = PAGE;
    // In one pass, since what is put in may look like a gap itself.
    while let Some((before, (name, after))) =
        rest.split_once("{{").and_then(|(before, gap)| Some((before, gap.split_once("}}")?)))
    {
        page.push_str(before);
        fill(name, run, &mut page);
        rest = after;
    }
    page.push_str(rest);
    page
}

fn fill(gap: &str, run: &Run, page: &mut String) {
    match gap {
        "policy" => page.push_str(&policy()),
        "title" => escape::text(&plain::verdict(run), page),
        "style" => page.push_str(STYLE),
        "early" => page.push_str(EARLY),
        "script" => page.push_str(SCRIPT),
        "plain" => plain::write(run, page),
        "data" => data::write(run, page),
        other => unreachable!("the page has a gap `{other}` that nothing fills"),
    }
}

/// What the page may do: its own scripts, its own style, and nothing else.
fn policy() -> String {
    format!(
        "default-src 'none'; style-src {}; script-src {} {}; base-uri 'none'; form-action 'none'",
        source(STYLE),
        source(EARLY),
        source(SCRIPT),
    )
}

/// How a policy names a text that stands in the page.
fn source(text: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(digest(&SHA256, text.as_bytes())))
}
