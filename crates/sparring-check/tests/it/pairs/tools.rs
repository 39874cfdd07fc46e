//! Tools.

use serde_json::{Value, json};
use sparring_wire::{Revision, Rule};

use super::Case;
use super::definitions::set_tool;
use super::lists::{answer, refuse};
use crate::support::{Action, AlteredServer};

const V2024_11_05: Revision = Revision::V2024_11_05;
const V2025_03_26: Revision = Revision::V2025_03_26;
const V2025_06_18: Revision = Revision::V2025_06_18;
const V2025_11_25: Revision = Revision::V2025_11_25;
const V2026_07_28: Revision = Revision::V2026_07_28;

/// A correct server without resources, one of whose tools returns one.
const NO_RESOURCES: &str = "
server: {name: correct, version: 1.0.0, title: Correct}
cache: {ttl: 5m, scope: public}
tools:
  - name: document
    description: Returns an embedded resource.
    annotations: {read_only_hint: true}
    resource: {uri: 'test://document', mime_type: text/plain, text: A document.}
";

/// Answers calls that fit.
fn on_calls(
    server: AlteredServer,
    fits: fn(&Value) -> bool,
    answer: fn(&Value) -> Action,
) -> AlteredServer {
    server.on_method("tools/call", move |request| match fits(&request["params"]) {
        true => answer(request),
        false => Action::Pass,
    })
}

fn is_unknown(params: &Value) -> bool {
    params["name"] == "sparring-unknown-tool"
}

fn succeed(request: &Value) -> Action {
    answer(request, json!({"content": [{"type": "text", "text": "Done."}]}))
}

fn fail(request: &Value) -> Action {
    answer(request, json!({"content": [{"type": "text", "text": "It failed."}], "isError": true}))
}

/// Alters the results of the tool `add`.
fn on_sum(server: AlteredServer, alter: fn(&mut Value)) -> AlteredServer {
    server.on_response("tools/call", move |request, response| {
        let result = response.get_mut("result").filter(|it| it["isError"] != true);
        if let Some(result) = result.filter(|_| request["params"]["name"] == "add") {
            alter(result);
        }
    })
}

/// Mirrors the parameter of the tool `echo` into this header.
fn mirror(server: AlteredServer, name: &'static str, header: &'static str) -> AlteredServer {
    let text = json!({"type": "string", "description": "A text.", "x-mcp-header": header});
    let server = set_tool(server, "/tools/0/inputSchema/required", json!([]));
    set_tool(server, "/tools/0/inputSchema/properties", json!({name: text}))
}

/// Other rules about malformed params and invalid arguments.
const MALFORMED: &[Rule] = &[Rule::InvalidParams, Rule::InvalidParamsCode];

pub(super) const CALLS: &[Case] = &[
    Case::lines(Rule::UnknownToolAccepted, V2024_11_05, |server| {
        on_calls(server, is_unknown, succeed)
    }),
    Case::lines(Rule::UnknownToolAccepted, V2026_07_28, |server| {
        on_calls(server, is_unknown, succeed)
    }),
    Case::http(Rule::UnknownToolAccepted, V2025_06_18, |server| {
        server.on_body(|_, request, body| {
            let request: Value = serde_json::from_slice(request).unwrap_or_default();
            if !is_unknown(&request["params"]) {
                return body;
            }
            let (start, rest) = body.split_once(r#""error":"#).unwrap();
            let end = &rest[rest.find('}').unwrap() + 1..];
            format!(r#"{start}"result":{{"content":[]}}{end}"#)
        })
    }),
    Case::lines(Rule::UnknownToolResult, V2025_03_26, |server| on_calls(server, is_unknown, fail)),
    Case::lines(Rule::UnknownToolResult, V2026_07_28, |server| on_calls(server, is_unknown, fail)),
    Case::lines(Rule::UnknownToolCode, V2026_07_28, |server| {
        on_calls(server, is_unknown, |request| refuse(request, -32603))
    }),
    Case::lines(Rule::CaseInsensitiveToolName, V2025_11_25, |server| {
        on_calls(server, |params| params["name"] == "ECHO", succeed)
    }),
    Case::lines(Rule::CaseInsensitiveToolName, V2026_07_28, |server| {
        on_calls(server, |params| params["name"] == "ECHO", succeed)
    }),
    Case::lines(Rule::MalformedCall, V2024_11_05, |server| {
        on_calls(server, |params| params.get("name").is_none(), succeed)
    })
    .also(MALFORMED),
    Case::lines(Rule::MalformedCall, V2025_03_26, |server| {
        on_calls(server, Value::is_null, succeed)
    })
    .also(MALFORMED),
    Case::lines(Rule::MalformedCall, V2025_06_18, |server| {
        on_calls(server, |params| params["name"].is_number(), succeed)
    })
    .also(MALFORMED),
    Case::lines(Rule::MalformedCall, V2025_11_25, |server| {
        on_calls(server, |params| params["arguments"].is_string(), succeed)
    })
    .also(MALFORMED),
    Case::lines(Rule::MalformedCall, V2025_11_25, |server| {
        on_calls(server, |params| params.get("name").is_none(), fail)
    })
    .also(MALFORMED),
    Case::lines(Rule::MalformedCall, V2026_07_28, |server| {
        on_calls(server, |params| params["arguments"].is_array(), succeed)
    })
    .also(MALFORMED),
    Case::lines(Rule::ToolErrorResponse, V2025_06_18, |server| {
        on_calls(server, |params| params["name"] == "failing", |request| refuse(request, -32000))
    }),
    Case::lines(Rule::ToolErrorResponse, V2025_11_25, |server| {
        on_calls(server, |params| params["name"] == "failing", |request| refuse(request, -32602))
    }),
    Case::lines(Rule::ToolErrorResponse, V2026_07_28, |server| {
        on_calls(server, |params| params["name"] == "failing", |request| refuse(request, -32603))
    }),
];

pub(super) const RESULTS: &[Case] = &[
    Case::lines(Rule::OutputSchema, V2025_06_18, |server| {
        on_sum(server, |result| result["structuredContent"]["a"] = json!("one"))
    }),
    Case::lines(Rule::OutputSchema, V2025_11_25, |server| {
        on_sum(server, |result| drop(result.as_object_mut().unwrap().remove("structuredContent")))
    }),
    Case::lines(Rule::OutputSchema, V2026_07_28, |server| {
        on_sum(server, |result| result["structuredContent"] = json!([1, 2]))
    }),
    Case::lines(Rule::MissingStructuredText, V2025_06_18, |server| {
        on_sum(server, |result| result["content"] = json!([]))
    }),
    Case::lines(Rule::MissingStructuredText, V2026_07_28, |server| {
        on_sum(server, |result| result["content"] = json!([]))
    }),
    Case::lines(Rule::UndeclaredResources, V2025_06_18, |_| AlteredServer::new(NO_RESOURCES)),
    Case::lines(Rule::UndeclaredResources, V2026_07_28, |_| AlteredServer::new(NO_RESOURCES)),
];

pub(super) const DEFINITIONS: &[Case] = &[
    Case::lines(Rule::InvalidToolName, V2025_11_25, |server| {
        set_tool(server, "/tools/2/name", json!("a picture"))
    })
    .also(&[Rule::ItemNotImplemented, Rule::ToolErrorResponse]),
    Case::lines(Rule::InvalidToolName, V2026_07_28, |server| {
        set_tool(server, "/tools/2/name", json!("bild,gemälde"))
    })
    .also(&[Rule::ItemNotImplemented, Rule::ToolErrorResponse, Rule::LookalikeName]),
    Case::lines(Rule::DuplicateToolName, V2025_11_25, |server| {
        server.on_result("tools/list", |result| {
            if let Some(tools) = result["tools"].as_array_mut() {
                tools.push(tools[2].clone());
            }
        })
    }),
    Case::lines(Rule::SensitiveHeader, V2026_07_28, |server| mirror(server, "password", "Pass")),
    Case::lines(Rule::SensitiveHeader, V2026_07_28, |server| mirror(server, "text", "Api-Key")),
];
