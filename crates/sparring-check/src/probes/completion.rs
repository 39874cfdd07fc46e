//! Completion: the references that can be completed, and the errors of a server.

use serde_json::{Value, json};
use sparring_wire::{Revision, Rule, code};

use super::definition_findings::name_of;
use super::refusals::{Refusal, require_code};
use super::{Probe, probe, uri_template};
use crate::connection::{Connection, Reply};
use crate::context::{Context, ProbeResult};
use crate::facts::Facts;

/// The method.
pub(super) const METHOD: &str = "completion/complete";

/// The capability, since 2025-03-26.
const CAPABILITY: &str = "completions";

pub(super) const PROBES: &[Probe] =
    &[probe!([CompletionUnsupported], undeclared), probe!([CompletionErrorCode], unknown_prompt)];

/// An argument of a prompt or a variable of a template, whose values can be completed.
pub(super) struct Completable {
    pub(super) reference: Value,
    pub(super) argument: String,
}

impl Completable {
    /// Returns everything that a server may complete.
    pub(super) fn all(facts: &Facts) -> Vec<Completable> {
        let mut all = Vec::new();
        for prompt in &facts.prompts {
            let arguments = prompt["arguments"].as_array().into_iter().flatten();
            for argument in arguments.filter_map(|it| it["name"].as_str()) {
                let reference = json!({"type": "ref/prompt", "name": name_of(prompt)});
                all.push(Completable { reference, argument: argument.to_owned() });
            }
        }
        for template in facts.templates.iter().filter_map(|it| it["uriTemplate"].as_str()) {
            for variable in uri_template::variables(template) {
                let reference = json!({"type": "ref/resource", "uri": template});
                all.push(Completable { reference, argument: variable.to_owned() });
            }
        }
        all
    }

    /// A completion that no server knows.
    fn unknown() -> Completable {
        let reference = json!({"type": "ref/prompt", "name": "sparring-unknown-prompt"});
        Completable { reference, argument: "argument".to_owned() }
    }

    /// Requests the values, without a beginning.
    pub(super) async fn request(&self, connection: &Connection) -> Reply {
        connection.request(METHOD, Some(self.params())).await
    }

    /// Returns the params of the request for the values.
    pub(super) fn params(&self) -> Value {
        let argument = json!({"name": self.argument, "value": ""});
        json!({"ref": self.reference, "argument": argument})
    }
}

/// Returns true if the server declares completion. The revision 2024-11-05 has no such
/// capability, so there any server may complete.
pub(super) fn may_complete(context: &Context) -> bool {
    context.facts().declares(CAPABILITY) || context.revision == Revision::V2024_11_05
}

/// Checks that a server that declares completion implements it. Returns false if there is no
/// completion.
pub(super) fn check_implemented(context: &Context, reply: &Reply) -> bool {
    let rule = Rule::CompletionNotImplemented;
    if reply.error_code() == Some(code::METHOD_NOT_FOUND) {
        if context.facts().declares(CAPABILITY) {
            let expected = "expected the server to complete, because it declares `completions`";
            context.fail(rule, reply.finding(expected));
        }
        return false;
    }
    if reply.is_answered() {
        context.pass(rule);
    }
    reply.result().is_some()
}

/// Checks that a server that declares completion and has nothing to complete implements it.
pub(super) async fn request_unknown(context: &Context) {
    let reply = Completable::unknown().request(context.main()).await;
    check_implemented(context, &reply);
}

async fn undeclared(context: &Context) -> ProbeResult {
    let rule = Rule::CompletionUnsupported;
    if may_complete(context) {
        context.not_applicable(rule, "the server declares `completions`");
        return Ok(());
    }
    let completable = Completable::all(context.facts()).into_iter().next();
    let reply = completable.unwrap_or_else(Completable::unknown).request(context.main()).await;
    // SDKs answer without values for servers that have no completions.
    let has_values = |it: &Value| it["completion"]["values"].get(0).is_some();
    if reply.result().as_ref().is_some_and(has_values) {
        let expected = "expected a server that completes to declare `completions`";
        context.fail(Rule::Undeclared, reply.finding(expected));
        context.not_applicable(rule, "the server completes");
        return Ok(());
    }
    let request = "a completion, because the server does not declare `completions`";
    require_code(context, rule, &reply, code::METHOD_NOT_FOUND, request);
    Ok(())
}

async fn unknown_prompt(context: &Context) -> ProbeResult {
    let rule = Rule::CompletionErrorCode;
    if !context.facts().declares(CAPABILITY) {
        context.not_applicable(rule, "the server does not declare `completions`");
        return Ok(());
    }
    let reply = Completable::unknown().request(context.main()).await;
    if reply.error_code() == Some(code::METHOD_NOT_FOUND) {
        context.not_applicable(rule, "the server does not implement completion");
        return Ok(());
    }
    let request = "a completion for an unknown prompt";
    require_code(context, rule, &reply, code::INVALID_PARAMS, request);
    let reference = match Completable::all(context.facts()).into_iter().next() {
        Some(completable) => completable.reference,
        None => return Ok(()),
    };
    let reply = context.request(METHOD, Some(json!({"ref": reference}))).await;
    // A result breaks a rule of its own.
    if Refusal::of(&reply) == Refusal::Refused {
        let request = "a completion without an argument";
        require_code(context, rule, &reply, code::INVALID_PARAMS, request);
    }
    Ok(())
}
