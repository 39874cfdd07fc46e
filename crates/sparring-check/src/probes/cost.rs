//! The number of tokens of definitions.

use std::fmt::Write as _;

use sparring_wire::Rule;

use super::{Probe, probe};
use crate::context::{Context, ProbeResult};
use crate::tokens::{TOKENIZER, ToolTokens};
use crate::verdict::Finding;

pub(super) const PROBES: &[Probe] = &[probe!([TooManyTokens, LargeDefinition], tokens)];

/// The number of tokens from which on a definition is large.
const LARGE: usize = 8_000;

/// The number of definitions that a finding names.
const MAX_NAMED: usize = 5;

async fn tokens(context: &Context) -> ProbeResult {
    let definitions = context.facts().tool_tokens();
    let all: usize = definitions.iter().map(|it| it.tokens).sum();
    match context.options.max_tokens {
        None => context.not_applicable(Rule::TooManyTokens, "no limit is given (--max-tokens)"),
        Some(limit) if all <= limit => context.pass(Rule::TooManyTokens),
        Some(limit) => {
            let mut message = format!(
                "expected at most {limit} tokens in all definitions of tools; found {all} \
                 ({TOKENIZER}), largest first:"
            );
            for (index, it) in definitions.iter().take(MAX_NAMED).enumerate() {
                let ToolTokens { tool, tokens } = it;
                let separator = if index == 0 { "" } else { "," };
                let _ = write!(message, "{separator} {tool} {tokens}");
            }
            context.fail(Rule::TooManyTokens, Finding::new(message));
        }
    }
    if definitions.is_empty() {
        context.not_applicable(Rule::LargeDefinition, "the server lists no tools");
        return Ok(());
    }
    context.pass(Rule::LargeDefinition);
    for ToolTokens { tool, tokens } in definitions.iter().filter(|it| it.tokens > LARGE) {
        let message =
            format!("expected at most {LARGE} tokens; the definition has {tokens} ({TOKENIZER})");
        context.fail(Rule::LargeDefinition, Finding::new(message).about(tool));
    }
    Ok(())
}
