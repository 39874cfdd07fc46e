//! The servers of these tests: the same greeter as a handler, as a mock, with the
//! official SDK, and as a program.

use std::path::Path;
use std::process::Command;

use sparring::server::{Context, HandlerResult};
use sparring::types::{CallToolResult, ServerCapabilities, Tool};
use sparring::{ChildTarget, Handler, Json};

/// Greets a person by name.
pub(crate) struct Greeter;

impl Handler for Greeter {
    fn capabilities(&self) -> ServerCapabilities {
        ServerCapabilities::none().tools()
    }

    async fn list_tools(&self, _: Option<&str>, _: &Context) -> HandlerResult {
        Ok(vec![Tool::new("greet")].into())
    }

    async fn call_tool(&self, _: &str, arguments: Json<'_>, _: &Context) -> HandlerResult {
        let name = arguments.get("name").and_then(Json::as_str).unwrap_or_default();
        Ok(CallToolResult::text(format!("hello {name}")).into())
    }
}

/// The greeter as a mock.
#[cfg(feature = "mock")]
pub(crate) fn mock() -> sparring::MockServer {
    let script = "tools: [{name: greet, input: {name: string}, text: \"hello ${args.name}\"}]";
    sparring::MockServer::from_yaml(script, ".").unwrap()
}

/// The greeter with the official SDK.
#[cfg(feature = "rmcp")]
pub(crate) mod rmcp_greeter {
    use rmcp::model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ListToolsResult,
        PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
    };
    use rmcp::service::RequestContext;
    use rmcp::{ErrorData, RoleServer, ServerHandler};

    pub(crate) struct Greeter;

    impl ServerHandler for Greeter {
        fn get_info(&self) -> ServerConfig {
            ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
        }

        async fn list_tools(
            &self,
            _: Option<PaginatedRequestParams>,
            _: RequestContext<RoleServer>,
        ) -> Result<ListToolsResult, ErrorData> {
            let schema = serde_json::Map::from_iter([("type".to_owned(), "object".into())]);
            let greet = Tool::new("greet", "greets", schema);
            Ok(ListToolsResult::with_all_items(vec![greet]))
        }

        async fn call_tool(
            &self,
            request: CallToolRequestParams,
            _: RequestContext<RoleServer>,
        ) -> Result<CallToolResponse, ErrorData> {
            let arguments = request.arguments.unwrap_or_default();
            match arguments.get("name").and_then(|name| name.as_str()) {
                Some(name) => {
                    let text = ContentBlock::text(format!("hello {name}"));
                    Ok(CallToolResult::success(vec![text]).into())
                }
                None => Err(ErrorData::invalid_params("name must be a string", None)),
            }
        }
    }
}

/// Returns the example `greeter` as a program, built if it does not exist.
pub(crate) fn program() -> ChildTarget {
    let test = std::env::current_exe().unwrap();
    let profile = test.parent().and_then(Path::parent).expect("target/PROFILE/deps/it");
    let path = profile.join("examples/greeter");
    if !path.exists() {
        let mut build = Command::new(env!("CARGO"));
        build.args(["build", "--quiet", "--package", "sparring", "--example", "greeter"]);
        build.arg("--target-dir").arg(profile.parent().expect("target/PROFILE"));
        assert!(build.status().unwrap().success(), "cannot build the example");
    }
    ChildTarget::new(path.to_string_lossy())
}
