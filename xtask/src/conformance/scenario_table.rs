//! Compares the outcomes of scenarios with the tables in `docs/conformance.md`;
//! `SPAR_BLESS` updates the tables.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail};

use super::REVISIONS;
use super::requirements::{Outcome, Outcomes};

const FILE: &str = "docs/conformance.md";

/// Compares the outcomes with the table below this heading.
pub(super) fn check(root: &Path, heading: &str, outcomes: &Outcomes) -> Result<()> {
    let path = root.join(FILE);
    let text = fs::read_to_string(&path).with_context(|| format!("reading {FILE}"))?;
    let (before, old, after) = split(&text, heading)?;
    let new = render_table(outcomes);
    if old == new {
        return Ok(());
    }
    if std::env::var_os("SPAR_BLESS").is_some() {
        let text = format!("{before}{new}{after}");
        return fs::write(&path, text).with_context(|| format!("writing {FILE}"));
    }
    let is_new = |line: &&str| !old.contains(*line);
    let new_lines: Vec<_> = new.lines().filter(is_new).collect();
    bail!(
        "the table below `## {heading}` in {FILE} differs from the outcomes; SPAR_BLESS=1 \
         updates it\n{}",
        new_lines.join("\n")
    )
}

/// Splits a text into the part before the table of a heading, the table, and the rest.
fn split<'a>(text: &'a str, heading: &str) -> Result<(&'a str, &'a str, &'a str)> {
    let begin = text.find(&format!("\n## {heading}\n"));
    let begin = begin.and_then(|at| text[at..].find("\n| ").map(|table| at + table + 1));
    let begin = begin.with_context(|| format!("{FILE} has no table below `## {heading}`"))?;
    let rows = text[begin..].split_inclusive('\n').take_while(|line| line.starts_with('|'));
    let end = begin + rows.map(str::len).sum::<usize>();
    Ok((&text[..begin], &text[begin..end], &text[end..]))
}

fn render_table(outcomes: &Outcomes) -> String {
    let mut table = format!("| scenario | {} |\n|---|---|---|\n", REVISIONS.join(" | "));
    for (scenario, at) in outcomes {
        let cells: Vec<_> = at.iter().map(render_cell).collect();
        table += &format!("| `{scenario}` | {} |\n", cells.join(" | "));
    }
    table
}

fn render_cell(outcome: &Option<Outcome>) -> String {
    let Some(outcome) = outcome else { return String::new() };
    let word = if outcome.passed { "passes" } else { "fails" };
    match &outcome.optional {
        Some(why) => format!("{word} (not required: {why})"),
        None => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_table_of_its_heading() {
        let text = "# A\n\n## Client\n\nwords\n\n| a |\n|---|\n| b |\n\n## Server\n\n| c |\n";
        let (before, table, after) = split(text, "Client").unwrap();
        assert_eq!(table, "| a |\n|---|\n| b |\n");
        assert_eq!([before, table, after].concat(), text);
        assert_eq!(split(text, "Server").unwrap().1, "| c |\n");
        assert!(split(text, "Other").is_err());
    }

    #[test]
    fn renders_the_outcome_of_each_scenario() {
        let outcome = |passed, optional: Option<&str>| {
            Some(Outcome { passed, optional: optional.map(str::to_owned) })
        };
        let outcomes = Outcomes::from([
            ("a".to_owned(), [outcome(true, None), None]),
            ("b".to_owned(), [outcome(false, Some("extension")), outcome(true, None)]),
        ]);
        assert_eq!(
            render_table(&outcomes),
            "| scenario | 2025-11-25 | 2026-07-28 |\n|---|---|---|\n\
             | `a` | passes |  |\n| `b` | fails (not required: extension) | passes |\n"
        );
    }
}
