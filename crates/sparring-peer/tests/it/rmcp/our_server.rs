//! A server of this project with all features, for rmcp's client.

use serde_json::json;
use sparring_peer::Handler;
use sparring_peer::client::ServerRequest;
use sparring_peer::server::{Context, HandlerError, HandlerResult, Page, Reply};
use sparring_wire::types::{
    CallToolResult, GetPromptResult, Implementation, LogLevel, Prompt, PromptMessage,
    ReadResourceResult, Resource, ResourceContents, ResourceTemplate, ServerCapabilities, Tool,
};
use sparring_wire::{ErrorObject, Json, Revision};
use tokio::sync::Barrier;

use super::EventLog;

/// The number of calls of the tool `meet` that must be in flight before any is
/// answered.
pub(super) const MEET_CALLS: usize = 64;

pub(super) const TOOLS: [&str; 7] = ["echo", "fail", "count", "log", "wait", "meet", "ask"];

/// A server that the test controls, and that logs its events.
pub(super) struct OurServer {
    meeting: Barrier,
    pub(super) log: EventLog,
}

impl Default for OurServer {
    fn default() -> Self {
        OurServer { meeting: Barrier::new(MEET_CALLS), log: EventLog::default() }
    }
}

impl Handler for OurServer {
    fn info(&self) -> Implementation {
        Implementation::new("handler", "1.0")
    }

    fn capabilities(&self) -> ServerCapabilities {
        ServerCapabilities::none().tools().resources().prompts().completions().logging()
    }

    fn instructions(&self) -> Option<String> {
        Some("pay at once".to_owned())
    }

    async fn list_tools(&self, cursor: Option<&str>, _: &Context) -> HandlerResult {
        let start = start_of(cursor)?;
        let items = TOOLS.iter().skip(start).take(3).map(|name| Tool::new(*name)).collect();
        let next_cursor = (start + 3 < TOOLS.len()).then(|| (start + 3).to_string());
        Ok(Page { items, next_cursor }.into())
    }

    async fn call_tool(&self, name: &str, arguments: Json<'_>, cx: &Context) -> HandlerResult {
        let message = || arguments.get("message").and_then(Json::as_str).unwrap_or_default();
        Ok(match name {
            "echo" => CallToolResult::text(message()),
            "fail" => CallToolResult::failure("no luck"),
            "count" => {
                for step in 1..=3 {
                    cx.progress(f64::from(step), Some(3.0), Some(&format!("step {step}")));
                }
                CallToolResult::text("counted")
            }
            "log" => {
                for level in [LogLevel::Debug, LogLevel::Info, LogLevel::Error] {
                    cx.log(level, &json!({"said": level.name()}));
                }
                CallToolResult::text("logged")
            }
            "wait" => {
                let _given_up = DropLogger(self.log.clone());
                self.log.note("wait began");
                std::future::pending().await
            }
            "meet" => {
                self.meeting.wait().await;
                CallToolResult::text(message())
            }
            "ask" => CallToolResult::text(interview(cx).await?),
            name => return Err(ErrorObject::invalid_params(format!("no tool {name:?}")).into()),
        }
        .into())
    }

    async fn list_resources(&self, cursor: Option<&str>, _: &Context) -> HandlerResult {
        let start = start_of(cursor)?;
        let names = ["a", "b", "c"];
        let resource = |name: &&str| Resource::new(format!("handler://{name}"), *name);
        let items = names.iter().skip(start).take(2).map(resource).collect();
        let next_cursor = (start + 2 < names.len()).then(|| (start + 2).to_string());
        Ok(Page { items, next_cursor }.into())
    }

    async fn list_resource_templates(&self, _: Option<&str>, _: &Context) -> HandlerResult {
        let template = json!({"uriTemplate": "handler://{shelf}", "name": "shelf"});
        let template: ResourceTemplate = serde_json::from_value(template).expect("a template");
        Ok(vec![template].into())
    }

    async fn read_resource(&self, uri: &str, cx: &Context) -> HandlerResult {
        let text = match uri {
            "handler://a" => "a text".to_owned(),
            "handler://ask" => name_of(cx).await?,
            _ => {
                let code = cx.revision().resource_not_found_code();
                return Err(ErrorObject::new(code, format!("no resource {uri:?}")).into());
            }
        };
        Ok(ReadResourceResult::new(vec![ResourceContents::text(uri, text)]).into())
    }

    async fn list_prompts(&self, _: Option<&str>, _: &Context) -> HandlerResult {
        Ok(vec![Prompt::new("greet"), Prompt::new("ask")].into())
    }

    async fn get_prompt(&self, prompt: &str, arguments: Json<'_>, cx: &Context) -> HandlerResult {
        let text = match prompt {
            "greet" => {
                let tone = arguments.get("tone").and_then(Json::as_str).unwrap_or_default();
                format!("hello in a {tone} tone")
            }
            "ask" => name_of(cx).await?,
            _ => return Err(ErrorObject::invalid_params(format!("no prompt {prompt:?}")).into()),
        };
        Ok(GetPromptResult::new(vec![PromptMessage::user(&*text)]).into())
    }

    async fn complete(&self, _: Json<'_>, argument: Json<'_>, _: &Context) -> HandlerResult {
        let value = argument.get("value").and_then(Json::as_str).unwrap_or_default();
        let known = ["red", "rose", "green"].into_iter();
        Ok(Reply::completion(&known.filter(|it| it.starts_with(&*value)).collect::<Vec<_>>()))
    }

    fn on_notification(&self, method: &str, params: Option<Json<'_>>) {
        let reason = params.and_then(|params| params.get("reason")).and_then(Json::as_str);
        self.log.note(format!("{method} {}", reason.unwrap_or_default()).trim_end());
    }
}

fn start_of(cursor: Option<&str>) -> Result<usize, ErrorObject> {
    let start = cursor.map_or(Ok(0), str::parse);
    start.map_err(|_| ErrorObject::invalid_params("cursor"))
}

/// Sends every kind of server request, one after the other.
async fn interview(cx: &Context) -> Result<String, HandlerError> {
    let roots = cx.ask("roots", ServerRequest::Roots, json!({})).await?;
    let roots = roots.view().get("roots").into_iter().flat_map(Json::items);
    let uris: String =
        roots.filter_map(|root| Some(root.get("uri")?.as_str()?.into_owned())).collect();

    let message = json!({"role": "user", "content": {"type": "text", "text": "capital?"}});
    let params = json!({"messages": [message], "maxTokens": 10});
    let sampled = cx.ask("sample", ServerRequest::Sampling, params).await?;
    let text =
        sampled.view().get_path(&["content", "text"]).and_then(Json::as_str).unwrap_or_default();

    // Elicitation came with 2025-06-18.
    let name = match cx.revision() >= Revision::V2025_06_18 {
        true => name_of(cx).await?,
        false => "nobody".to_owned(),
    };
    Ok(format!("{uris} {text} {name}"))
}

async fn name_of(cx: &Context) -> Result<String, HandlerError> {
    let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}});
    let params = json!({"message": "who?", "requestedSchema": schema});
    let answer = cx.ask("who", ServerRequest::Elicitation, params).await?;
    let name = answer.view().get_path(&["content", "name"]).and_then(Json::as_str);
    Ok(name.unwrap_or_default().into_owned())
}

/// Logs that a handler was dropped before its end.
struct DropLogger(EventLog);

impl Drop for DropLogger {
    fn drop(&mut self) {
        self.0.note("wait was given up");
    }
}
