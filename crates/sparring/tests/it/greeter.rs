//! The servers that the tests here meet: one greeter, written in every way there
//! is, and a program of the same.

use std::path::Path;
use std::process::Command;

use sparring::server::{Answer, Context};
use sparring::types::{CallToolResult, ServerCapabilities, Tool};
use sparring::{ChildTarget, Handler, Json};

/// Greets whoever is named.
pub(crate) struct Greeter;

impl Handler for Greeter {
    fn capabilities(&self) -> ServerCapabilities {
        ServerCapabilities::none().tools()
    }

    async fn list_tools(&self, _: Option<&str>, _: &Context) -> Answer {
        Ok(vec![Tool::new("greet")].into())
    }

    async fn call_tool(&self, _: &str, arguments: Json<'_>, _: &Context) -> Answer {
        let name = arguments.get("name").and_then(Json::as_str).unwrap_or_default();
        Ok(CallToolResult::text(format!("hello {name}")).into())
    }
}

/// The same as a script.
#[cfg(feature = "mock")]
pub(crate) fn mock() -> sparring::MockServer {
    let script = "tools: [{name: greet, input: {name: string}, text: \"hello ${args.name}\"}]";
    sparring::MockServer::from_yaml(script, ".").unwrap()
}

/// The same by the official SDK.
#[cfg(feature = "rmcp")]
pub(crate) mod of_rmcp {
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
                None => Err(ErrorData::invalid_params("name is a text", None)),
            }
        }
    }
}

/// The example of that name as a program, built if it is not there.
pub(crate) fn program() -> ChildTarget {
    let test = std::env::current_exe().unwrap();
    let profile = test.parent().and_then(Path::parent).expect("target/PROFILE/deps/it");
    let path = profile.join("examples/greeter");
    if !path.exists() {
        let mut build = Command::new(env!("CARGO"));
        build.args(["build", "--quiet", "--package", "sparring", "--example", "greeter"]);
        build.arg("--target-dir").arg(profile.parent().expect("target/PROFILE"));
        assert!(build.status().unwrap().success(), "the example does not build");
    }
    ChildTarget::new(path.to_string_lossy())
}
