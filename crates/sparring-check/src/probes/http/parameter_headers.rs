//! The headers that mirror the arguments of a tool with `x-mcp-header`.

use serde_json::{Value, json};
use sparring_transport::http::RawRequest;
use sparring_wire::mirrored_headers::decode_value;
use sparring_wire::{Rule, code};

use super::leave_out;
use super::mirrored_headers::{MISMATCH, encoded, swap_case};
use super::named_requests::{CallableTool, callable_tools, mirrored_headers};
use crate::context::{Context, ProbeResult};
use crate::http::{
    Exchange, HttpServer, RequestExt, modern, require_refusal, require_same, streamable,
};

const RULES: [Rule; 2] = [Rule::ParameterHeader, Rule::NumericHeader];

/// The number of tools that are checked.
const MAX_TOOLS: usize = 3;

/// A text whose bytes differ in Latin-1 and UTF-8.
const TEXT: &str = "Zürich 世界";

pub(super) async fn parameter_headers(context: &Context) -> ProbeResult {
    let Some(server) = streamable(context, &RULES).await else { return Ok(()) };
    let tools = callable_tools(context).into_iter().filter_map(with_all_arguments);
    let tools: Vec<CallableTool> = tools.take(MAX_TOOLS).collect();
    if tools.is_empty() {
        leave_out(context, &RULES, "no tool that may be called has parameters with `x-mcp-header`");
    }
    for tool in &tools {
        check_tool(context, server, tool).await?;
    }
    if !context.outcomes().has(Rule::NumericHeader) {
        let reason = "no tool that may be called has an integer with `x-mcp-header`";
        leave_out(context, &[Rule::NumericHeader], reason);
    }
    Ok(())
}

async fn check_tool(context: &Context, server: &HttpServer, tool: &CallableTool) -> ProbeResult {
    let rule = Rule::ParameterHeader;
    let call = || call(context, server, tool, &tool.arguments, &tool.headers);
    let plain = server.send(&call()).await?;
    if is_mismatch(&plain) {
        let expected = "expected headers that equal the arguments to be accepted";
        context.fail(rule, plain.finding(expected).about(&tool.name));
        return Ok(());
    }
    let wanted = "the status 400 and the error -32020 for";
    for (header, value) in &tool.headers {
        let request = call().with(header, different(value));
        let expected = format!("{wanted} an `Mcp-Param` header that differs from the argument");
        require_refusal(context, server, rule, &request, MISMATCH, expected).await;
        let is_text = !["true", "false"].contains(&value.as_str());
        if let Some(swapped) = swap_case(value).filter(|_| is_text) {
            let request = call().with(header, swapped);
            let expected = format!("{wanted} an `Mcp-Param` header in another case");
            require_refusal(context, server, rule, &request, MISMATCH, expected).await;
        }
        let request = call().without(header);
        let expected = format!("{wanted} an argument without its `Mcp-Param` header");
        require_refusal(context, server, rule, &request, MISMATCH, expected).await;
        let request = call().with(header, "=?base64?!?=");
        let expected = format!("{wanted} an `Mcp-Param` header with invalid Base64");
        require_refusal(context, server, rule, &request, MISMATCH, expected).await;
        let decoded = decode_value(value).unwrap_or_default();
        let request = call().with(header, encoded(&decoded));
        let expected = "an `Mcp-Param` header in Base64 to be accepted";
        require_same(context, server, rule, &plain, &request, expected).await;
    }
    check_text(context, server, tool).await?;
    check_omitted(context, server, tool).await?;
    for (header, value) in integers(tool) {
        let request = call().with(&header, format!("{value}.0"));
        let expected = "an integer header with a fraction of zero to be accepted";
        require_same(context, server, Rule::NumericHeader, &plain, &request, expected).await;
    }
    Ok(())
}

/// Calls a tool with a text whose header must be encoded, and with the same header as it is.
async fn check_text(context: &Context, server: &HttpServer, tool: &CallableTool) -> ProbeResult {
    let rule = Rule::ParameterHeader;
    let properties = &tool.definition["inputSchema"]["properties"];
    let takes_text = |name: &&str| {
        let schema = &properties[name];
        let limits = ["enum", "const", "pattern", "format", "maxLength"];
        schema["type"] == "string" && limits.iter().all(|it| schema.get(it).is_none())
    };
    let Some(name) = annotated(&tool.definition).find(takes_text) else { return Ok(()) };
    let mut arguments = tool.arguments.clone();
    arguments[name] = json!(TEXT);
    let Some(headers) = mirrored_headers(&tool.definition, &arguments) else { return Ok(()) };
    let call = || call(context, server, tool, &arguments, &headers);
    let sent = server.send(&call()).await?;
    if is_mismatch(&sent) {
        let expected = "expected an `Mcp-Param` header with UTF-8 in Base64 to be accepted";
        context.fail(rule, sent.finding(expected).about(&tool.name));
        return Ok(());
    }
    let Some(header) = properties[name]["x-mcp-header"].as_str() else { return Ok(()) };
    let request = call().with(&format!("mcp-param-{header}"), TEXT.as_bytes());
    // Other software in front of the server may refuse such a request in its own way.
    if let Ok(sent) = server.send(&request).await
        && sent.has_result()
    {
        let expected = "expected the status 400 for an `Mcp-Param` header that is not ASCII";
        context.fail(rule, sent.finding(expected).about(&tool.name));
    }
    Ok(())
}

/// A server must not expect a header for an argument that is missing or null.
async fn check_omitted(context: &Context, server: &HttpServer, tool: &CallableTool) -> ProbeResult {
    let required = tool.definition["inputSchema"]["required"].as_array();
    let is_required = |name: &str| required.into_iter().flatten().any(|it| it == name);
    for name in annotated(&tool.definition).filter(|name| !is_required(name)) {
        let mut arguments = tool.arguments.clone();
        let Some(members) = arguments.as_object_mut() else { continue };
        if members.remove(name).is_none() {
            continue;
        }
        check_without_header(context, server, tool, &arguments, "a missing argument").await?;
        arguments[name] = Value::Null;
        check_without_header(context, server, tool, &arguments, "an argument that is null").await?;
    }
    Ok(())
}

/// Calls a tool with the headers of these arguments only.
async fn check_without_header(
    context: &Context,
    server: &HttpServer,
    tool: &CallableTool,
    arguments: &Value,
    what: &str,
) -> ProbeResult {
    let Some(headers) = mirrored_headers(&tool.definition, arguments) else { return Ok(()) };
    let sent = server.send(&call(context, server, tool, arguments, &headers)).await?;
    match is_mismatch(&sent) {
        true => {
            let expected = format!("expected no `Mcp-Param` header for {what}");
            context.fail(Rule::ParameterHeader, sent.finding(expected).about(&tool.name));
        }
        false => context.pass(Rule::ParameterHeader),
    }
    Ok(())
}

fn call(
    context: &Context,
    server: &HttpServer,
    tool: &CallableTool,
    arguments: &Value,
    headers: &[(String, String)],
) -> RawRequest {
    let params = json!({"name": tool.name, "arguments": arguments});
    let request = modern(context.revision, server.next_id(), "tools/call", params);
    headers.iter().fold(request, |request, (name, value)| request.with(name, value))
}

fn is_mismatch(exchange: &Exchange) -> bool {
    exchange.error_code() == Some(code::HEADER_MISMATCH)
}

/// Returns a value that is certainly different, of the same kind.
fn different(value: &str) -> String {
    match value {
        "true" => "false".to_owned(),
        "false" => "true".to_owned(),
        _ => match value.parse::<i64>() {
            Ok(number) => number.wrapping_add(1).to_string(),
            Err(_) if value.starts_with("=?base64?") => "other".to_owned(),
            Err(_) => format!("{value}-other"),
        },
    }
}

/// Returns the names of the parameters with `x-mcp-header` at the top of the schema.
fn annotated(tool: &Value) -> impl Iterator<Item = &str> {
    let properties = tool["inputSchema"]["properties"].as_object().into_iter().flatten();
    properties.filter(|(_, it)| it["x-mcp-header"].is_string()).map(|(name, _)| name.as_str())
}

/// Adds a value for each annotated parameter. Returns `None` if the tool has no mirrored
/// arguments.
fn with_all_arguments(mut tool: CallableTool) -> Option<CallableTool> {
    let names: Vec<String> = annotated(&tool.definition).map(str::to_owned).collect();
    for name in names {
        if !tool.arguments[&name].is_null() && tool.arguments[&name] != "" {
            continue;
        }
        let schema = &tool.definition["inputSchema"]["properties"][&name];
        let sample = sparring_script::sample::samples(schema, true).values.into_iter().next();
        match sample {
            // Servers see an empty value and a missing header as the same.
            Some(Value::String(text)) if text.is_empty() => tool.arguments[&name] = json!("a"),
            Some(sample) => tool.arguments[&name] = sample,
            None => {}
        }
    }
    tool.headers = mirrored_headers(&tool.definition, &tool.arguments)?;
    let is_complete = tool.headers.iter().all(|(_, value)| !value.is_empty());
    (!tool.headers.is_empty() && is_complete).then_some(tool)
}

/// Returns the headers of integers.
fn integers(tool: &CallableTool) -> Vec<(String, String)> {
    let is_integer = |value: &str| value.parse::<i64>().is_ok();
    let schema = &tool.definition["inputSchema"]["properties"];
    let properties = schema.as_object().into_iter().flatten();
    let integers = properties.filter(|(_, it)| it["type"] == "integer");
    let names = integers.filter_map(|(_, it)| it["x-mcp-header"].as_str());
    let names: Vec<String> = names.map(|it| format!("mcp-param-{it}").to_lowercase()).collect();
    let headers = tool
        .headers
        .iter()
        .filter(|(name, value)| names.contains(&name.to_lowercase()) && is_integer(value));
    headers.cloned().collect()
}
