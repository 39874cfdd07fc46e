//! Prompts: requests for unknown ones, and requests without a required argument.

use serde_json::json;
use sparring_wire::{Rule, code};

use super::definition_findings::name_of;
use super::refusals::{Refusal, lacks_capability, require_code, require_refusal};
use super::{Probe, probe};
use crate::context::{Context, ProbeResult};

/// The name of no prompt.
const UNKNOWN_PROMPT: &str = "sparring-unknown-prompt";

/// The number of prompts that are requested without arguments.
const MAX_PROMPTS: usize = 5;

pub(super) const PROBES: &[Probe] = &[
    probe!([UnvalidatedPrompt, UnknownPrompt], unknown_prompt),
    probe!([MissingPromptArgument], missing_argument),
];

async fn unknown_prompt(context: &Context) -> ProbeResult {
    if lacks_capability(context, "prompts", &[Rule::UnvalidatedPrompt, Rule::UnknownPrompt]) {
        return Ok(());
    }
    let reply = context.request("prompts/get", Some(json!({"name": UNKNOWN_PROMPT}))).await;
    require_refusal(context, Rule::UnvalidatedPrompt, &reply, "an unknown prompt");
    match Refusal::of(&reply) {
        Refusal::Accepted => {
            context.not_applicable(Rule::UnknownPrompt, "the server accepts unknown prompts");
        }
        _ => {
            let request = "an unknown prompt";
            require_code(context, Rule::UnknownPrompt, &reply, code::INVALID_PARAMS, request);
        }
    }
    Ok(())
}

async fn missing_argument(context: &Context) -> ProbeResult {
    let rule = Rule::MissingPromptArgument;
    if lacks_capability(context, "prompts", &[rule]) {
        return Ok(());
    }
    let required = |prompt: &&serde_json::Value| {
        let mut arguments = prompt["arguments"].as_array().into_iter().flatten();
        arguments.any(|argument| argument["required"] == true)
    };
    for prompt in context.facts().prompts.iter().filter(required).take(MAX_PROMPTS) {
        let params = json!({"name": name_of(prompt), "arguments": {}});
        let reply = context.request("prompts/get", Some(params)).await;
        let request = "a prompt without its required arguments";
        require_code(context, rule, &reply, code::INVALID_PARAMS, request);
    }
    context.not_applicable(rule, "no prompt has required arguments");
    Ok(())
}
