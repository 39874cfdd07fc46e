//! The number of tokens of definitions.

use std::fmt::Write as _;

use sparring_wire::Rule;

use super::{Probe, probe};
use crate::context::{Context, ProbeResult};
use crate::facts::TOKENIZER;
use crate::verdict::Finding;

pub(super) const PROBES: &[Probe] = &[probe!([TooManyTokens, LargeDefinition], tokens)];

/// The number of tokens from which on a definition is large.
const LARGE: usize = 8_000;

/// The number of definitions that a finding names.
const MAX_NAMED: usize = 5;

async fn tokens(context: &Context) -> ProbeResult {
    let definitions = context.facts().definition_tokens();
    let all: usize = definitions.iter().map(|(_, tokens)| tokens).sum();
    match context.options.max_tokens {
        None => context.not_applicable(Rule::TooManyTokens, "no limit is given (--max-tokens)"),
        Some(limit) if all <= limit => context.pass(Rule::TooManyTokens),
        Some(limit) => {
            let mut message = format!(
                "expected at most {limit} tokens in all definitions of tools; found {all} \
                 ({TOKENIZER}), largest first:"
            );
            for (index, (name, tokens)) in definitions.iter().take(MAX_NAMED).enumerate() {
                let separator = if index == 0 { "" } else { "," };
                let _ = write!(message, "{separator} {name} {tokens}");
            }
            context.fail(Rule::TooManyTokens, Finding::new(message));
        }
    }
    if definitions.is_empty() {
        context.not_applicable(Rule::LargeDefinition, "the server lists no tools");
        return Ok(());
    }
    context.pass(Rule::LargeDefinition);
    for (name, tokens) in definitions.iter().filter(|(_, tokens)| *tokens > LARGE) {
        let message =
            format!("expected at most {LARGE} tokens; the definition has {tokens} ({TOKENIZER})");
        context.fail(Rule::LargeDefinition, Finding::new(message).about(name));
    }
    Ok(())
}
