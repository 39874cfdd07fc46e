//! Built-in tools that let a model list and read resources, and list and get prompts.
//!
//! They are subject to the same permissions as tools: the rules name `resources/read` and
//! `prompts/get` of a server, and `mcp__SERVER` covers both. A denied server is not listed.

use std::fmt::Write as _;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use sparring_wire::types::{GetPromptResult, ReadResourceResult, Tool};
use sparring_wire::{Json, RawJson};

use super::agent_loop::Agent;
use crate::artifacts::Call;
use crate::manager::Connection;
use crate::registry::{PROMPTS_GET, RESOURCES_READ, RegisteredTool};
use crate::text::truncate;

/// The maximum number of characters of a list.
const MAX_LIST_CHARS: usize = 20_000;

const LIST_RESOURCES: &str = "list_resources";
const READ_RESOURCE: &str = "read_resource";
const LIST_PROMPTS: &str = "list_prompts";
const GET_PROMPT: &str = "get_prompt";

/// A request of a built-in tool, after its arguments were checked.
pub(super) struct BuiltinRequest {
    pub(super) connection: Connection,
    pub(super) method: &'static str,
    params: RawJson,
}

impl Agent<'_> {
    /// The built-in tools that have something to offer.
    pub(super) fn builtin_tools(&self) -> Vec<RegisteredTool> {
        let offers =
            |method, has: fn(&Connection) -> bool| self.visible_connections(method).iter().any(has);
        let mut tools = Vec::new();
        if offers(RESOURCES_READ, has_resources) {
            tools.push(list_tool(LIST_RESOURCES, "Lists the resources of the servers."));
            let about = "Reads a resource of a server.";
            let properties = json!({"server": {"type": "string"}, "uri": {"type": "string"}});
            tools.push(builtin(READ_RESOURCE, about, properties, &["server", "uri"]));
        }
        if offers(PROMPTS_GET, has_prompts) {
            tools.push(list_tool(LIST_PROMPTS, "Lists the prompts of the servers."));
            let about = "Gets a prompt of a server.";
            let arguments = json!({"type": "object", "additionalProperties": {"type": "string"}});
            let properties = json!({
                "server": {"type": "string"}, "name": {"type": "string"}, "arguments": arguments,
            });
            tools.push(builtin(GET_PROMPT, about, properties, &["server", "name"]));
        }
        tools
    }

    /// The answer of a list; `None` if it is another tool.
    pub(super) fn builtin_list(&self, tool: &str, arguments: &Value) -> Option<String> {
        let server = arguments["server"].as_str();
        let of_server =
            |connection: &&Connection| server.is_none_or(|server| **connection.server() == *server);
        let mut text = String::new();
        match tool {
            LIST_RESOURCES => {
                let connections = self.visible_connections(RESOURCES_READ);
                connections.iter().filter(of_server).for_each(|it| add_resources(it, &mut text));
            }
            LIST_PROMPTS => {
                let connections = self.visible_connections(PROMPTS_GET);
                connections.iter().filter(of_server).for_each(|it| add_prompts(it, &mut text));
            }
            _ => return None,
        }
        if text.is_empty() {
            text.push_str("none");
        }
        Some(truncate(&text, MAX_LIST_CHARS))
    }

    /// The request of a built-in tool; `None` if it is another tool.
    ///
    /// # Errors
    /// If the arguments are wrong.
    pub(super) fn builtin_request(
        &self,
        tool: &str,
        arguments: &Value,
    ) -> Option<Result<BuiltinRequest, String>> {
        let (method, key) = match tool {
            READ_RESOURCE => (RESOURCES_READ, "uri"),
            GET_PROMPT => (PROMPTS_GET, "name"),
            _ => return None,
        };
        let text = |key: &str| {
            arguments[key].as_str().ok_or_else(|| format!("the argument `{key}` must be a string"))
        };
        let request = || {
            let (server, subject) = (text("server")?, text(key)?);
            let connection = self.manager.get(server);
            let connection =
                connection.ok_or_else(|| format!("no connected server named `{server}`"))?;
            let mut params = Map::from_iter([(key.to_owned(), subject.into())]);
            if method == PROMPTS_GET && arguments["arguments"].is_object() {
                params.insert("arguments".to_owned(), arguments["arguments"].clone());
            }
            Ok(BuiltinRequest { connection, method, params: Value::Object(params).into() })
        };
        Some(request())
    }

    /// Sends a permitted request, and returns the text for the model.
    pub(super) async fn send_builtin(&self, request: &BuiltinRequest) -> Result<String, String> {
        let BuiltinRequest { connection, method, params } = request;
        let sent = connection.request(method, params.clone());
        let answered = self.with_questions(connection.server(), sent).await;
        let response = answered.map_err(|error| error.to_string())?;
        let contents: Vec<Value> = if *method == RESOURCES_READ {
            let result: ReadResourceResult = response.to().map_err(|error| error.to_string())?;
            let block = |contents| json!({"type": "resource", "resource": contents});
            result.contents.into_iter().map(block).collect()
        } else {
            let result: GetPromptResult = response.to().map_err(|error| error.to_string())?;
            let messages = result.messages.into_iter();
            let block = |role: String| json!({"type": "text", "text": format!("{role}:")});
            messages.flat_map(|it| [block(it.role), json!(it.content)]).collect()
        };
        let result = RawJson::from(json!({"content": contents}));
        let source = Call { server: connection.server(), tool: method, arguments: params };
        Ok(self.store.process(source, result.view()).for_model)
    }

    /// The connections whose requests of that kind are not denied.
    fn visible_connections(&self, method: &str) -> Vec<Connection> {
        let mut connections = self.manager.connections();
        connections.retain(|it| !self.registry.hides_request(it.server(), method));
        connections
    }
}

impl BuiltinRequest {
    /// The arguments of the question about its permission.
    pub(super) fn arguments(&self) -> Json<'_> {
        self.params.view()
    }
}

fn has_resources(connection: &Connection) -> bool {
    !connection.resources().items.is_empty() || !connection.templates().items.is_empty()
}

fn has_prompts(connection: &Connection) -> bool {
    !connection.prompts().items.is_empty()
}

fn list_tool(name: &str, about: &str) -> RegisteredTool {
    builtin(name, about, json!({"server": {"type": "string"}}), &[])
}

fn builtin(name: &str, about: &str, properties: Value, required: &[&str]) -> RegisteredTool {
    let mut tool = Tool::new(name);
    tool.description = Some(about.to_owned());
    tool.input_schema = json!({"type": "object", "properties": properties, "required": required});
    RegisteredTool { name: name.into(), server: "spar".into(), tool: Arc::new(tool) }
}

fn add_resources(connection: &Connection, text: &mut String) {
    let server = connection.server();
    for it in connection.resources().items.iter() {
        let (uri, name) = (&it.uri, &it.name);
        let line = json!({
            "server": **server, "uri": uri, "name": name, "mimeType": it.mime_type,
            "description": it.description,
        });
        let _ = writeln!(text, "{}", without_nulls(line));
    }
    for it in connection.templates().items.iter() {
        let line = json!({
            "server": **server, "uriTemplate": it.uri_template, "name": it.name,
            "description": it.rest.get("description"),
        });
        let _ = writeln!(text, "{}", without_nulls(line));
    }
}

fn add_prompts(connection: &Connection, text: &mut String) {
    for it in connection.prompts().items.iter() {
        let arguments = it.arguments.iter();
        let arguments: Vec<Value> = arguments
            .map(|argument| json!({"name": argument.name, "required": argument.required}))
            .collect();
        let line = json!({
            "server": **connection.server(), "name": it.name, "description": it.description,
            "arguments": arguments,
        });
        let _ = writeln!(text, "{}", without_nulls(line));
    }
}

fn without_nulls(mut object: Value) -> Value {
    if let Value::Object(members) = &mut object {
        members.retain(|_, value| !value.is_null());
    }
    object
}
