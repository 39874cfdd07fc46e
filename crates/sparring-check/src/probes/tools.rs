//! Tools: calls of unknown and of listed tools, their results, and their mirrored parameters.

use serde_json::{Value, json};
use sparring_script::Schema;
use sparring_script::schema::Verdict;
use sparring_wire::secret_names::is_secret_name;
use sparring_wire::{Revision, Rule, code};

use super::definition_findings::{DefinitionFindings, Subject, name_of};
use super::refusals::{Refusal, lacks_capability, require_code};
use super::{Probe, probe};
use crate::connection::Reply;
use crate::context::{Context, ProbeResult};
use crate::tool_policy::{good_arguments, reason_against_call};

/// The name of no tool.
const UNKNOWN_TOOL: &str = "sparring-unknown-tool";

/// The number of tools that are called.
const MAX_TOOLS: usize = 50;

/// The depth to which the parameters of a tool are searched.
const MAX_DEPTH: usize = 8;

/// The endings of the names of parameters with personal data, without separators.
const PERSONAL_SUFFIXES: [&str; 10] = [
    "birthdate",
    "cardnumber",
    "creditcard",
    "dateofbirth",
    "email",
    "emailaddress",
    "passport",
    "phonenumber",
    "socialsecuritynumber",
    "ssn",
];

pub(super) const PROBES: &[Probe] = &[
    probe!([UnknownToolAccepted, UnknownToolResult, UnknownToolCode], unknown_tool),
    probe!([CaseInsensitiveToolName], name_in_another_case),
    probe!([ItemNotImplemented, ToolErrorResponse, OutputSchema], listed_tools),
    probe!([SensitiveHeader], mirrored_parameters),
];

async fn unknown_tool(context: &Context) -> ProbeResult {
    let rules @ [accepted, result, wrong_code] =
        [Rule::UnknownToolAccepted, Rule::UnknownToolResult, Rule::UnknownToolCode];
    if lacks_capability(context, "tools", &rules) {
        return Ok(());
    }
    let reply = context.main().call_tool(UNKNOWN_TOOL, &json!({})).await;
    let request = "a call of an unknown tool";
    match Refusal::of(&reply) {
        Refusal::Unknown => {
            rules.iter().for_each(|rule| context.undecided(*rule, reply.describe()));
        }
        Refusal::Accepted => {
            context.fail(accepted, reply.finding(format!("expected an error for {request}")));
            let reason = "the server accepts calls of unknown tools";
            context.not_applicable(result, reason);
            context.not_applicable(wrong_code, reason);
        }
        Refusal::Refused if reply.is_tool_error() => {
            context.pass(accepted);
            let expected = format!("expected a JSON-RPC error for {request}");
            context.fail(result, reply.finding(expected));
            context.not_applicable(wrong_code, "the server answers with a tool error");
        }
        Refusal::Refused => {
            context.pass(accepted);
            context.pass(result);
            require_code(context, wrong_code, &reply, code::INVALID_PARAMS, request);
        }
    }
    Ok(())
}

/// Calls a tool that may be called by its name in another case.
async fn name_in_another_case(context: &Context) -> ProbeResult {
    let rule = Rule::CaseInsensitiveToolName;
    let facts = context.facts();
    let candidates = facts.tools.iter().filter(|it| reason_against_call(context, it).is_none());
    let mut candidates = candidates.map(|tool| (tool, in_another_case(name_of(tool))));
    let Some((tool, name)) = candidates.find(|(_, other)| facts.tool(other).is_none()) else {
        context.not_applicable(rule, "no tool with letters in its name may be called");
        return Ok(());
    };
    let arguments = &good_arguments(context, tool).values[0];
    let reply = context.main().call_tool(&name, arguments).await;
    if reply.is_success() {
        let expected = format!("expected an error, because the tool is named {:?}", name_of(tool));
        context.fail(rule, reply.finding(expected).about(name_of(tool)));
    } else if reply.is_answered() {
        context.pass(rule);
    } else {
        context.undecided(rule, reply.describe());
    }
    Ok(())
}

fn in_another_case(name: &str) -> String {
    match name.chars().any(|it| it.is_ascii_lowercase()) {
        true => name.to_ascii_uppercase(),
        false => name.to_ascii_lowercase(),
    }
}

/// Calls each tool that may be called once.
async fn listed_tools(context: &Context) -> ProbeResult {
    let rules = [Rule::ItemNotImplemented, Rule::ToolErrorResponse, Rule::OutputSchema];
    if lacks_capability(context, "tools", &rules) {
        return Ok(());
    }
    let allowed = context.facts().tools.iter();
    let allowed = allowed.filter(|it| reason_against_call(context, it).is_none());
    let started = std::time::Instant::now();
    for tool in allowed.filter(|it| !requires_task(it)).take(MAX_TOOLS) {
        if started.elapsed() > context.options.rule_timeout * 4 {
            break;
        }
        let arguments = good_arguments(context, tool);
        let reply = context.main().call_listed_tool(name_of(tool), &arguments.values[0]).await;
        if refused_as_unknown(context, tool, &reply).await {
            let expected = "expected the server to know a tool that it lists";
            context.fail(Rule::ItemNotImplemented, reply.finding(expected).about(name_of(tool)));
            continue;
        }
        check_error(context, tool, &reply, arguments.mismatch.is_none());
        check_structured_content(context, tool, &reply);
    }
    for rule in rules {
        context.not_applicable(rule, "no tool was called");
    }
    Ok(())
}

/// Returns true if the server answers a call in the same words as one of an unknown tool.
async fn refused_as_unknown(context: &Context, tool: &Value, reply: &Reply) -> bool {
    let Some(words) = refusal_words(reply, name_of(tool)) else { return false };
    let unknown = context.main().call_tool(UNKNOWN_TOOL, &json!({})).await;
    words.contains("{}") && refusal_words(&unknown, UNKNOWN_TOOL).as_ref() == Some(&words)
}

/// Returns the message of a refusal, with a placeholder for the name of the tool.
fn refusal_words(reply: &Reply, name: &str) -> Option<String> {
    let message = match reply.error() {
        Some(error) => error.message,
        None if reply.is_tool_error() => reply.outcome().ok()?.content(),
        None => return None,
    };
    Some(message.replace(name, "{}"))
}

/// Returns true if a tool can only be called as a task.
fn requires_task(tool: &Value) -> bool {
    tool["execution"]["taskSupport"] == "required"
}

/// Checks the JSON-RPC error of a call with good arguments.
fn check_error(context: &Context, tool: &Value, reply: &Reply, is_valid: bool) {
    let Some(found) = reply.error_code() else {
        if reply.is_answered() {
            context.pass(Rule::ItemNotImplemented);
            context.pass(Rule::ToolErrorResponse);
        }
        return;
    };
    if found == code::METHOD_NOT_FOUND {
        let finding = reply.finding("expected the server to call a tool that it lists");
        context.fail(Rule::ItemNotImplemented, finding.about(name_of(tool)));
        return;
    }
    context.pass(Rule::ItemNotImplemented);
    let is_of_protocol = match found {
        code::URL_ELICITATION_REQUIRED => context.revision == Revision::V2025_11_25,
        code::HEADER_MISMATCH
        | code::MISSING_REQUIRED_CLIENT_CAPABILITY
        | code::UNSUPPORTED_PROTOCOL_VERSION => context.revision.is_modern(),
        // Since 2025-11-25 invalid arguments are errors of the tool.
        code::INVALID_PARAMS => {
            !is_valid || !context.revision.reports_invalid_arguments_in_result()
        }
        _ => false,
    };
    match is_of_protocol {
        true => context.pass(Rule::ToolErrorResponse),
        false => {
            let finding = reply.finding("expected the error of a tool in a result with `isError`");
            context.fail(Rule::ToolErrorResponse, finding.about(name_of(tool)));
        }
    }
}

/// Checks the result of a call against the output schema of the tool.
fn check_structured_content(context: &Context, tool: &Value, reply: &Reply) {
    let rule = Rule::OutputSchema;
    if !tool["outputSchema"].is_object() {
        return context.not_applicable(rule, "no called tool has an output schema");
    }
    match output_problem(tool, reply) {
        Some(message) => {
            let name = name_of(tool);
            let expected = format!(
                "expected structured content that conforms to the output schema of {name:?}"
            );
            let finding = crate::verdict::Finding::new(format!("{expected}; {message}"));
            context.fail(rule, finding.with_frames(reply.frames()).about(name));
        }
        None if reply.is_success() => context.pass(rule),
        None => context.not_applicable(rule, "no call of a tool with an output schema succeeded"),
    }
}

/// Returns the mismatch if a successful result does not conform to the output schema of the
/// tool (2025-06-18 and later, server/tools#output-schema).
pub(super) fn output_problem(tool: &Value, reply: &Reply) -> Option<String> {
    let schema = tool.get("outputSchema").filter(|it| it.is_object())?;
    let result = reply.result().filter(|_| reply.is_success())?;
    // A result that is no result of a call, such as a task, has no content.
    result.get("content")?;
    let Some(content) = result.get("structuredContent") else {
        return Some("the result has no structured content".to_owned());
    };
    // Another rule reports schemas that cannot be used.
    match Schema::new(schema).ok()?.check(content, 1) {
        Verdict::Invalid(mut found) => found.pop().map(|it| match it.pointer.is_empty() {
            true => it.message,
            false => format!("{}: {}", it.pointer, it.message),
        }),
        Verdict::Valid | Verdict::Undecided(_) => None,
    }
}

/// Finds sensitive parameters that are mirrored into headers.
async fn mirrored_parameters(context: &Context) -> ProbeResult {
    let mut findings = DefinitionFindings::default();
    for tool in &context.facts().tools {
        find_sensitive(tool, &tool["inputSchema"], 0, &mut findings);
    }
    findings.report(context, &[(Rule::SensitiveHeader, Subject::Tools)]);
    Ok(())
}

fn find_sensitive(tool: &Value, schema: &Value, depth: usize, findings: &mut DefinitionFindings) {
    if depth > MAX_DEPTH {
        return;
    }
    for (name, parameter) in schema["properties"].as_object().into_iter().flatten() {
        let header = parameter["x-mcp-header"].as_str();
        if let Some(header) = header.filter(|header| {
            is_sensitive(name) || is_sensitive(header) || parameter["format"] == "password"
        }) {
            let found = format!("the parameter {name:?} of the tool {:?}", name_of(tool));
            let message = format!(
                "expected no sensitive parameters in headers; {found} is mirrored into `Mcp-Param-{header}`"
            );
            findings.add(Rule::SensitiveHeader, name_of(tool), message);
        }
        find_sensitive(tool, parameter, depth + 1, findings);
    }
}

fn is_sensitive(name: &str) -> bool {
    let plain: String = name.chars().filter(|it| it.is_alphanumeric()).collect();
    let plain = plain.to_lowercase();
    is_secret_name(name) || PERSONAL_SUFFIXES.iter().any(|suffix| plain.ends_with(suffix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_sensitive_parameters_in_headers() {
        let parameter = |name: &str, header: &str| {
            let schema = json!({"type": "string", "x-mcp-header": header});
            json!({"name": "a", "inputSchema": {"properties": {name: schema}}})
        };
        for (name, header, is_found) in [
            ("region", "Region", false),
            ("password", "Region", true),
            ("api_key", "Key", true),
            ("value", "Access-Token", true),
            ("userEmail", "User", true),
            ("tokens", "Tokens", false),
        ] {
            let tool = parameter(name, header);
            let mut findings = DefinitionFindings::default();
            find_sensitive(&tool, &tool["inputSchema"], 0, &mut findings);
            assert_eq!(!findings.found().is_empty(), is_found, "{name} {header}");
        }
        let mut findings = DefinitionFindings::default();
        let inner = json!({"properties": {"secret": {"x-mcp-header": "S"}}});
        let schema = json!({"properties": {"login": inner, "token": {"type": "string"}}});
        find_sensitive(&json!({"name": "a"}), &schema, 0, &mut findings);
        assert_eq!(findings.found().len(), 1);
    }

    #[test]
    fn changes_the_case_of_names() {
        assert_eq!(in_another_case("getUser"), "GETUSER");
        assert_eq!(in_another_case("EXPORT_2"), "export_2");
    }
}
