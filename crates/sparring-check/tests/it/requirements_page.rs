//! The page of requirements is generated from `requirements`.

use std::fmt::Write as _;
use std::path::Path;

use sparring_check::requirements::{Coverage, Requirement, all};
use sparring_wire::{Revision, RuleLevel};

const PAGE: &str = "docs/requirements.md";

const INTRODUCTION: &str = "\
# Requirements of the specification

Generated from the code. One row for each normative sentence of the five revisions that concerns a server, in our own words: the [rules](rules.md) that check it, or the reason why none can. The section is a page of the specification in the newest marked revision.
";

/// `SPAR_BLESS=1` rewrites the page.
#[test]
fn the_page_of_requirements_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(PAGE);
    let page = render();
    if std::env::var_os("SPAR_BLESS").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(written == page, "{PAGE} is outdated; SPAR_BLESS=1 rewrites it");
}

fn render() -> String {
    let mut page = INTRODUCTION.to_owned();
    let mut part = "";
    for requirement in all() {
        let (next, _) = requirement.section.split_once('#').unwrap();
        if next != part {
            part = next;
            render_heading(part, &mut page);
        }
        render_row(requirement, &mut page);
    }
    page
}

fn render_heading(part: &str, page: &mut String) {
    let names: Vec<_> = Revision::ALL.iter().map(|it| it.name()).collect();
    let columns = "---|".repeat(names.len());
    writeln!(page, "\n## {part}\n").unwrap();
    writeln!(page, "| section | level | {} | requirement | checked by |", names.join(" | "))
        .unwrap();
    writeln!(page, "|---|---|{columns}---|---|").unwrap();
}

fn render_row(requirement: &Requirement, page: &mut String) {
    let Requirement { section, level, revisions, text, coverage, .. } = requirement;
    let marks = Revision::ALL.iter().map(|it| if revisions.contains(it) { "✓" } else { "" });
    let marks = marks.collect::<Vec<_>>().join(" | ");
    let newest = revisions.last().unwrap();
    let heading = section.split_once('#').unwrap().1;
    let link =
        format!("[{heading}](https://modelcontextprotocol.io/specification/{newest}/{section})");
    let coverage = match coverage {
        Coverage::Rules(rules) => {
            rules.iter().map(|it| format!("`{it}`")).collect::<Vec<_>>().join(", ")
        }
        Coverage::Unseen(reason) => (*reason).to_owned(),
    };
    let level = level.name();
    writeln!(page, "| {link} | {level} | {marks} | {text} | {coverage} |").unwrap();
}

#[test]
fn requirements_are_complete() {
    for requirement in all() {
        let Requirement { section, level, text, coverage, .. } = requirement;
        assert!(section.contains('#') && !section.contains(' '), "{section}");
        assert!(text.ends_with('.') && !text.contains('|'), "{section}: {text}");
        assert_ne!(*level, RuleLevel::Lint, "{section}: {text}");
        match coverage {
            Coverage::Rules(rules) => {
                for revision in requirement.revisions {
                    let checked = rules.iter().any(|rule| rule.applies_in(*revision));
                    assert!(checked, "no rule checks this in {revision}: {section}: {text}");
                }
            }
            Coverage::Unseen(reason) => assert!(reason.ends_with('.'), "{section}: {reason}"),
        }
    }
}
