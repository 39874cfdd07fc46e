//! The table of scenarios in `docs/conformance.md`, which says what is so.
//! With `SPAR_BLESS` set it is written anew.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail};

use super::REQUIRED;
use super::required::{Outcome, Outcomes};

const FILE: &str = "docs/conformance.md";

/// Compares what came of the scenarios with the table below that heading.
pub(super) fn check(root: &Path, heading: &str, outcomes: &Outcomes) -> Result<()> {
    let path = root.join(FILE);
    let text = fs::read_to_string(&path).with_context(|| format!("reading {FILE}"))?;
    let (before, old, after) = split(&text, heading)?;
    let new = table(outcomes);
    if old == new {
        return Ok(());
    }
    if std::env::var_os("SPAR_BLESS").is_some() {
        let text = format!("{before}{new}{after}");
        return fs::write(&path, text).with_context(|| format!("writing {FILE}"));
    }
    let says = |line: &&str| !old.contains(*line);
    let news: Vec<_> = new.lines().filter(says).collect();
    bail!(
        "the table below `## {heading}` in {FILE} is not what came out; SPAR_BLESS=1 writes it \
         anew\n{}",
        news.join("\n")
    )
}

/// The text before the table below that heading, the table, and the text after.
fn split<'a>(text: &'a str, heading: &str) -> Result<(&'a str, &'a str, &'a str)> {
    let begin = text.find(&format!("\n## {heading}\n"));
    let begin = begin.and_then(|at| text[at..].find("\n| ").map(|table| at + table + 1));
    let begin = begin.with_context(|| format!("{FILE} has no table below `## {heading}`"))?;
    let rows = text[begin..].split_inclusive('\n').take_while(|line| line.starts_with('|'));
    let end = begin + rows.map(str::len).sum::<usize>();
    Ok((&text[..begin], &text[begin..end], &text[end..]))
}

fn table(outcomes: &Outcomes) -> String {
    let mut table = format!("| scenario | {} |\n|---|---|---|\n", REQUIRED.join(" | "));
    for (scenario, at) in outcomes {
        let cells: Vec<_> = at.iter().map(cell).collect();
        table += &format!("| `{scenario}` | {} |\n", cells.join(" | "));
    }
    table
}

fn cell(outcome: &Option<Outcome>) -> String {
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
    fn says_of_each_scenario_what_came_of_it() {
        let outcome = |passed, optional: Option<&str>| {
            Some(Outcome { passed, optional: optional.map(str::to_owned) })
        };
        let outcomes = Outcomes::from([
            ("a".to_owned(), [outcome(true, None), None]),
            ("b".to_owned(), [outcome(false, Some("extension")), outcome(true, None)]),
        ]);
        assert_eq!(
            table(&outcomes),
            "| scenario | 2025-11-25 | 2026-07-28 |\n|---|---|---|\n\
             | `a` | passes |  |\n| `b` | fails (not required: extension) | passes |\n"
        );
    }
}
