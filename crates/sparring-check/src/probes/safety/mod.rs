//! Texts in definitions that endanger users and models.
//!
//! The rules look at what a model reads but a user often does not. Ordinary descriptions, also
//! with emoji and in right-to-left scripts, have no findings.

mod changes;
mod characters;
mod instructions;
mod links;
mod names;
mod secrets;
mod texts;

use sparring_wire::Rule;

use super::definition_findings::{DefinitionFindings, Subject};
use super::{Probe, probe};
use crate::context::{Context, ProbeResult};

pub(super) const PROBES: &[Probe] = &[
    probe!(
        [
            HiddenCharacters,
            DirectionCharacters,
            ControlCharacters,
            SuspiciousInstruction,
            LookalikeName,
            DataLink,
            SecretInDefinition,
        ],
        texts
    ),
    probe!([ChangedDefinition], changes::changed_definitions),
];

async fn texts(context: &Context) -> ProbeResult {
    let facts = context.facts();
    let mut findings = DefinitionFindings::default();
    for text in texts::of_facts(facts) {
        characters::check(&text, &mut findings);
        instructions::check(&text, &mut findings);
        links::check(&text, &mut findings);
        secrets::check(&text, &mut findings);
        // A signal can end the check here.
        tokio::task::yield_now().await;
    }
    names::check(&facts.tools, "tool", &mut findings);
    names::check(&facts.prompts, "prompt", &mut findings);
    let rules = [
        Rule::HiddenCharacters,
        Rule::DirectionCharacters,
        Rule::ControlCharacters,
        Rule::SuspiciousInstruction,
        Rule::LookalikeName,
        Rule::DataLink,
        Rule::SecretInDefinition,
    ];
    findings.report(context, &rules.map(|rule| (rule, Subject::Any)));
    Ok(())
}
