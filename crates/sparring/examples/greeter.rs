//! A small server on stdin and stdout. It greets, and returns its working folder.
//!
//! `tests/it/greeter.rs` starts it.

use sparring::server::{Context, HandlerResult};
use sparring::transport::stdio;
use sparring::types::{CallToolResult, ServerCapabilities, Tool};
use sparring::{Handler, Json, Server};

struct Greeter;

impl Handler for Greeter {
    fn capabilities(&self) -> ServerCapabilities {
        ServerCapabilities::none().tools()
    }

    async fn list_tools(&self, _: Option<&str>, _: &Context) -> HandlerResult {
        Ok(vec![Tool::new("greet"), Tool::new("where")].into())
    }

    async fn call_tool(&self, name: &str, arguments: Json<'_>, _: &Context) -> HandlerResult {
        let text = match name {
            "where" => std::env::current_dir()
                .map_or_else(|error| error.to_string(), |folder| folder.display().to_string()),
            _ => {
                let name = arguments.get("name").and_then(Json::as_str).unwrap_or("you".into());
                let greeting = std::env::var("GREETING").unwrap_or_else(|_| "hello".to_owned());
                format!("{greeting} {name}")
            }
        };
        Ok(CallToolResult::text(text).into())
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let link = stdio(sparring::link::LineLinkOptions::default());
    Server::new(Greeter).serve(link).await;
}
