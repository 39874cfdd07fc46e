//! Definitions of tools, prompts and resources: schemas, names, descriptions, annotations.

mod annotations;
mod descriptions;
mod names;
mod references;
mod schemas;
mod subschemas;
mod values;

use sparring_wire::Rule;

pub(super) use references::resolve;

use super::definition_findings::{DefinitionFindings, Subject};
use super::{Probe, probe};
use crate::context::{Context, ProbeResult};

pub(super) const PROBES: &[Probe] = &[
    probe!(
        [
            InvalidSchema,
            InvalidPattern,
            UnresolvedReference,
            ExternalReference,
            UndeclaredRequired,
            WrongEnum,
            ImpossibleSchema,
            WrongDefault,
            WrongExample,
        ],
        schemas
    ),
    probe!(
        [
            ToolNameCharacters,
            LongToolName,
            CollidingToolNames,
            MissingToolDescription,
            MissingParameterDescription,
            ContradictingAnnotations,
        ],
        tools
    ),
    probe!(
        [
            MissingPromptDescription,
            MissingArgumentDescription,
            MissingResourceDescription,
            DuplicateDefinition,
        ],
        prompts_and_resources
    ),
];

async fn schemas(context: &Context) -> ProbeResult {
    let rule = schemas::invalid_schema_rule(context.revision);
    let mut findings = DefinitionFindings::default();
    for tool in &context.facts().tools {
        schemas::check(tool, rule, &mut findings);
        // A signal can end the check here.
        tokio::task::yield_now().await;
    }
    findings.report(
        context,
        &[
            (rule, Subject::Tools),
            (Rule::InvalidPattern, Subject::Tools),
            (Rule::UnresolvedReference, Subject::Tools),
            (Rule::ExternalReference, Subject::Tools),
            (Rule::UndeclaredRequired, Subject::Tools),
            (Rule::WrongEnum, Subject::Tools),
            (Rule::ImpossibleSchema, Subject::Tools),
            (Rule::WrongDefault, Subject::Tools),
            (Rule::WrongExample, Subject::Tools),
        ],
    );
    Ok(())
}

async fn tools(context: &Context) -> ProbeResult {
    let facts = context.facts();
    let mut findings = DefinitionFindings::default();
    let server = facts.server_info.as_ref().map(|it| &*it.name).unwrap_or_default();
    names::check(&facts.tools, server, context.revision, &mut findings);
    descriptions::check_tools(&facts.tools, &mut findings);
    let mut rules = vec![
        (Rule::LongToolName, Subject::Tools),
        (Rule::CollidingToolNames, Subject::Tools),
        (Rule::MissingToolDescription, Subject::Tools),
        (Rule::MissingParameterDescription, Subject::Tools),
    ];
    for rule in [Rule::ToolNameCharacters, Rule::ContradictingAnnotations] {
        if rule.applies_in(context.revision) {
            rules.push((rule, Subject::Tools));
        }
    }
    if Rule::ContradictingAnnotations.applies_in(context.revision) {
        annotations::check(&facts.tools, &mut findings);
    }
    findings.report(context, &rules);
    Ok(())
}

async fn prompts_and_resources(context: &Context) -> ProbeResult {
    let facts = context.facts();
    let mut findings = DefinitionFindings::default();
    descriptions::check_prompts(&facts.prompts, &mut findings);
    descriptions::check_resources(&facts.resources, "uri", &mut findings);
    descriptions::check_resources(&facts.templates, "uriTemplate", &mut findings);
    names::check_duplicates(facts, &mut findings);
    findings.report(
        context,
        &[
            (Rule::MissingPromptDescription, Subject::Prompts),
            (Rule::MissingArgumentDescription, Subject::Prompts),
            (Rule::MissingResourceDescription, Subject::Resources),
            (Rule::DuplicateDefinition, Subject::Any),
        ],
    );
    Ok(())
}
