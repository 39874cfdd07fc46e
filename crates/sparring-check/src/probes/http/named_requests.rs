//! Requests of the modern era, with the headers that mirror them: those with `Mcp-Name` (tools
//! that may be called, resources and prompts), and those without.

use serde_json::{Map, Value, json};
use sparring_transport::http::RawRequest;
use sparring_wire::RawJson;
use sparring_wire::mirrored_headers::MirroredArguments;

use crate::context::Context;
use crate::http::{HttpServer, RequestExt, modern_body, request, with_metadata};
use crate::probes::messages::LISTS;
use crate::tool_policy::{good_arguments, reason_against_call};

/// A tool that may be called, with arguments for it.
pub(super) struct CallableTool {
    pub(super) name: String,
    pub(super) arguments: Value,
    /// The headers that mirror the arguments.
    pub(super) headers: Vec<(String, String)>,
    pub(super) definition: Value,
}

/// Returns the tools that may be called. Tools with invalid annotations of headers are left out,
/// because clients must leave them out too.
pub(super) fn callable_tools(context: &Context) -> Vec<CallableTool> {
    let allowed = |tool: &&Value| reason_against_call(context, tool).is_none();
    let tools = context.facts().tools.iter().filter(allowed);
    tools.filter_map(|tool| CallableTool::new(context, tool)).collect()
}

impl CallableTool {
    fn new(context: &Context, tool: &Value) -> Option<Self> {
        let name = tool["name"].as_str()?.to_owned();
        let arguments = good_arguments(context, tool).values.swap_remove(0);
        let headers = mirrored_headers(tool, &arguments)?;
        Some(CallableTool { name, arguments, headers, definition: tool.clone() })
    }
}

/// Returns the headers that mirror the arguments of a tool. `None` if its annotations are
/// invalid.
pub(super) fn mirrored_headers(tool: &Value, arguments: &Value) -> Option<Vec<(String, String)>> {
    let schema = RawJson::from(tool["inputSchema"].clone());
    let mirrored = MirroredArguments::from_schema(schema.view()).ok()?;
    let arguments = RawJson::from(arguments.clone());
    let headers = mirrored.headers(arguments.view());
    Some(headers.map(|(name, value)| (name.to_owned(), value)).collect())
}

/// A request that mirrors its method, and perhaps its name and arguments, in headers.
pub(super) struct NamedRequest {
    pub(super) method: &'static str,
    pub(super) params: Value,
    /// The name or URI in the body; empty in a request without `Mcp-Name`.
    pub(super) name: String,
    /// The headers that mirror the arguments.
    pub(super) headers: Vec<(String, String)>,
}

impl NamedRequest {
    fn unnamed(method: &'static str) -> Self {
        NamedRequest { method, params: json!({}), name: String::new(), headers: Vec::new() }
    }

    /// Builds the request.
    pub(super) fn build(&self, context: &Context, server: &HttpServer) -> RawRequest {
        self.build_with(server, with_metadata(self.params.clone(), context.revision))
    }

    /// Builds the request with other metadata: all of the params.
    pub(super) fn build_with(&self, server: &HttpServer, params: Value) -> RawRequest {
        let request = modern_body(request(server.next_id(), self.method, Some(params)));
        self.headers.iter().fold(request, |request, (name, value)| request.with(name, value))
    }

    /// Names the method at the end of a message. `server/discover` is not named, since it is in
    /// every check.
    pub(super) fn of_method(&self) -> String {
        match self.method {
            "server/discover" => String::new(),
            method => format!(" of {method}"),
        }
    }
}

/// Returns `server/discover`, the first list that the server declares, and one request for each
/// method with the header `Mcp-Name`.
pub(super) fn all_requests(context: &Context) -> Vec<NamedRequest> {
    let declared = LISTS.iter().find(|(capability, _)| context.facts().declares(capability));
    let unnamed = ["server/discover"].into_iter().chain(declared.map(|(_, method)| *method));
    unnamed.map(NamedRequest::unnamed).chain(named_requests(context)).collect()
}

/// Returns one request for each method that needs the header, if the server has an item for it.
pub(super) fn named_requests(context: &Context) -> Vec<NamedRequest> {
    let facts = context.facts();
    let mut requests = Vec::new();
    if let Some(tool) = callable_tools(context).into_iter().next() {
        requests.push(NamedRequest {
            method: "tools/call",
            params: json!({"name": tool.name, "arguments": tool.arguments}),
            name: tool.name,
            headers: tool.headers,
        });
    }
    if let Some(uri) = facts.resources.first().and_then(|it| it["uri"].as_str()) {
        requests.push(NamedRequest {
            method: "resources/read",
            params: json!({"uri": uri}),
            name: uri.to_owned(),
            headers: Vec::new(),
        });
    }
    if let Some((name, prompt)) =
        facts.prompts.first().and_then(|it| Some((it["name"].as_str()?, it)))
    {
        requests.push(NamedRequest {
            method: "prompts/get",
            params: json!({"name": name, "arguments": prompt_arguments(prompt)}),
            name: name.to_owned(),
            headers: Vec::new(),
        });
    }
    requests
}

fn prompt_arguments(prompt: &Value) -> Value {
    let arguments = prompt["arguments"].as_array().into_iter().flatten();
    let required = arguments.filter(|it| it["required"] == true);
    let names = required.filter_map(|it| it["name"].as_str());
    Value::Object(names.map(|name| (name.to_owned(), json!("text"))).collect::<Map<_, _>>())
}
