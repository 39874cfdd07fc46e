//! A server with tools, a resource, a prompt, progress and a question, for the examples and the
//! tests.

use serde_json::json;
use sparring_peer::client::ServerRequest;
use sparring_peer::server::{Context, HandlerResult};
use sparring_peer::{Handler, Server};
use sparring_wire::types::{
    CallToolResult, GetPromptResult, Implementation, Prompt, PromptMessage, ReadResourceResult,
    Resource, ResourceContents, ServerCapabilities, Tool,
};
use sparring_wire::{ErrorObject, Json, Revision};

/// The handler.
pub(crate) struct ExampleHandler;

/// Returns a server with all revisions, or with the given ones.
pub(crate) fn server(revisions: &[Revision]) -> Server<ExampleHandler> {
    match revisions {
        [] => Server::new(ExampleHandler),
        revisions => Server::with_revisions(ExampleHandler, revisions),
    }
}

impl Handler for ExampleHandler {
    fn info(&self) -> Implementation {
        Implementation::new("desk", "1.0.0")
    }

    fn capabilities(&self) -> ServerCapabilities {
        ServerCapabilities::none().tools().resources().prompts()
    }

    async fn list_tools(&self, _: Option<&str>, _: &Context) -> HandlerResult {
        let number = json!({"type": "number"});
        let numbers = json!({"type": "object", "properties": {"a": number, "b": number}});
        Ok(vec![
            Tool::new("echo").described("gives its message back"),
            Tool::new("add").described("adds a and b").taking(numbers),
            Tool::new("progress").described("tells of three steps"),
            Tool::new("ask").described("asks for a name, and greets"),
        ]
        .into())
    }

    async fn call_tool(&self, name: &str, arguments: Json<'_>, cx: &Context) -> HandlerResult {
        let number = |name| arguments.get(name).and_then(Json::as_f64);
        let result = match name {
            "echo" => {
                let message = arguments.get("message").and_then(Json::as_str);
                CallToolResult::text(message.unwrap_or_default())
            }
            "add" => match (number("a"), number("b")) {
                (Some(a), Some(b)) => CallToolResult::text((a + b).to_string()),
                _ => CallToolResult::failure("a and b must be numbers"),
            },
            "progress" => {
                for step in 1..=3 {
                    cx.progress(f64::from(step), Some(3.0), None);
                }
                CallToolResult::text("done")
            }
            "ask" => {
                let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}});
                let params = json!({"message": "Who are you?", "requestedSchema": schema});
                let answer = cx.ask("name", ServerRequest::Elicitation, params).await?;
                let name = answer.view().get_path(&["content", "name"]).and_then(Json::as_str);
                CallToolResult::text(format!("hello {}", name.as_deref().unwrap_or("nobody")))
            }
            name => return Err(ErrorObject::invalid_params(format!("no tool {name:?}")).into()),
        };
        Ok(result.into())
    }

    async fn list_resources(&self, _: Option<&str>, _: &Context) -> HandlerResult {
        Ok(vec![Resource::new("desk://note", "note")].into())
    }

    async fn read_resource(&self, uri: &str, cx: &Context) -> HandlerResult {
        match uri {
            "desk://note" => {
                let note = ResourceContents::text(uri, "water the plants");
                Ok(ReadResourceResult::new(vec![note]).into())
            }
            _ => {
                let code = cx.revision().resource_not_found_code();
                Err(ErrorObject::new(code, format!("no resource {uri:?}")).into())
            }
        }
    }

    async fn list_prompts(&self, _: Option<&str>, _: &Context) -> HandlerResult {
        Ok(vec![Prompt::new("greet")].into())
    }

    async fn get_prompt(&self, name: &str, _: Json<'_>, _: &Context) -> HandlerResult {
        match name {
            "greet" => Ok(GetPromptResult::new(vec![PromptMessage::user("Say hello.")]).into()),
            _ => Err(ErrorObject::invalid_params(format!("no prompt {name:?}")).into()),
        }
    }
}
