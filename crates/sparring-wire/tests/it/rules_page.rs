//! The page of all rules is generated from the catalogue.

use std::fmt::Write as _;
use std::path::Path;

use sparring_wire::{RULES, Revision, RuleEntry, RuleLevel, RuleSource};

const PAGE: &str = "docs/rules.md";

const INTRODUCTION: &str = "\
# All rules

Generated from the code.

- **Found by**: `traffic` rules are checked in every frame, every connection and every HTTP response, by every verb and by the library, without requests of their own. [suites.md](suites.md#default-checks) explains how a test expects a violation. `check` rules need requests of their own, or look at definitions: only [`spar check`](check.md) and the `check` step of a suite check them.
- **Level**: `must` is a requirement of the specification, or of a test, which then has no section. A violation fails. `should` is a recommendation of the specification, and `lint` one of Sparring, for what hosts, models and users need. Their violations are warnings: every report shows them, and they fail only with `--strict`.
- **Section**: a page of the specification in the newest marked revision; a violation names the section in the revision of its connection.
";

/// `SPAR_BLESS=1` rewrites the page.
#[test]
fn the_page_of_rules_is_up_to_date() {
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
    let mut area = "";
    for entry in RULES {
        let (next, _) = entry.id.split_once('/').unwrap();
        if next != area {
            area = next;
            render_heading(area, &mut page);
        }
        render_row(entry, &mut page);
    }
    let count = |level| RULES.iter().filter(|it| it.level == level).count();
    let [must, should, lint] = [RuleLevel::Must, RuleLevel::Should, RuleLevel::Lint].map(count);
    let all = RULES.len();
    writeln!(page, "\n{all} rules: {must} `must`, {should} `should`, {lint} `lint`.").unwrap();
    page
}

fn render_heading(area: &str, page: &mut String) {
    let names: Vec<_> = Revision::ALL.iter().map(|it| it.name()).collect();
    let columns = "---|".repeat(names.len());
    writeln!(page, "\n## {area}\n").unwrap();
    writeln!(page, "| rule | level | found by | {} | meaning | section |", names.join(" | "))
        .unwrap();
    writeln!(page, "|---|---|---|{columns}---|---|").unwrap();
}

fn render_row(entry: &RuleEntry, page: &mut String) {
    let RuleEntry { id, source, level, revisions, section, summary, .. } = entry;
    let marks = Revision::ALL.iter().map(|it| if revisions.contains(it) { "✓" } else { "" });
    let marks: Vec<_> = marks.collect();
    let newest = revisions.last().unwrap();
    let section = match section.is_empty() {
        true => String::new(),
        false => {
            let site = "https://modelcontextprotocol.io/specification";
            format!("[{section}]({site}/{newest}/{section})")
        }
    };
    let level = level.name();
    let source = match source {
        RuleSource::Traffic => "traffic",
        RuleSource::Check => "check",
    };
    let marks = marks.join(" | ");
    writeln!(page, "| `{id}` | {level} | {source} | {marks} | {summary} | {section} |").unwrap();
}

/// An area is one table, so its rules are together in the catalogue.
#[test]
fn the_rules_of_an_area_are_together() {
    let mut areas: Vec<&str> = RULES.iter().map(|it| it.id.split_once('/').unwrap().0).collect();
    areas.dedup();
    let mut unique = areas.clone();
    unique.sort_unstable();
    unique.dedup();
    assert_eq!(areas.len(), unique.len(), "{areas:?}");
}
