//! The tokens of the definitions of tools, for the report.

use sparring_check::{CheckReport, TOKENIZER};

/// The number of definitions that a short report names.
const MAX_NAMED: usize = 5;

/// Renders the number of tokens of all definitions, and of the largest ones or of each. The
/// newest revision counts.
pub(super) fn render(report: &CheckReport, names_all: bool) -> Option<String> {
    let tokens = report.revisions.iter().rev().map(|it| it.facts.definition_tokens());
    let tokens = tokens.into_iter().find(|it| !it.is_empty())?;
    let all: usize = tokens.iter().map(|(_, tokens)| tokens).sum();
    let named = if names_all { tokens.len() } else { MAX_NAMED };
    let names = tokens.iter().take(named).map(|(name, tokens)| format!("{name} {tokens}"));
    let names: Vec<String> = names.collect();
    let more = match tokens.len().saturating_sub(named) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Some(format!(
        "about {all} ({TOKENIZER}) in the definitions of tools: {}{more}",
        names.join(", ")
    ))
}
