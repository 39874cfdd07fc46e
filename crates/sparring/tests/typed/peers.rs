//! Typed calls of servers of other implementations, if they are installed: their
//! modules are up to date, and calls succeed.

use std::path::{Path, PathBuf};

use serde_json::Value;
use sparring::client::ListKind;
use sparring::{ChildTarget, Client};
use sparring_codegen::{ModuleSource, generate_module};

use crate::generated::everything::{Echo, EverythingClient, GetStructuredContent, GetSum};
use crate::generated::time::{GetCurrentTime, McpTimeClient};
use crate::generated::{check, fastmcp, python_sdk, tests_folder};

/// Finds a file of the installed peers; `None` if it is not installed.
fn find_installed(path: &str) -> Option<PathBuf> {
    let found = std::env::var_os("SPAR_PEERS_DIR").map(|folder| Path::new(&folder).join(path));
    let found = found.filter(|path| path.exists());
    if found.is_none() {
        eprintln!("SKIPPED: {path} is not installed; run `cargo xtask peers`");
    }
    found
}

/// Connects to a server, and compares its module with the stored one.
async fn connect_and_check(target: ChildTarget, name: &str) -> Client {
    let client = Client::connect(target).await.unwrap();
    let tools = client.list(ListKind::Tools).await.unwrap();
    let tools: Vec<Value> = tools.iter().map(|tool| tool.view().deserialize().unwrap()).collect();
    let info = client.session().and_then(|session| session.server_info.clone()).unwrap();
    let (server, version) = (&*info.name, &*info.version);
    check(
        name,
        &generate_module(&ModuleSource { server, version, name: None, flags: "", tools: &tools })
            .unwrap(),
    );
    client
}

#[tokio::test]
async fn server_everything_is_called_by_its_methods() {
    let script = "node/node_modules/@modelcontextprotocol/server-everything/dist/index.js";
    let Some(script) = find_installed(script) else { return };
    let target = ChildTarget::new("node").args([script.to_string_lossy()]);
    let client = EverythingClient::new(connect_and_check(target, "everything").await);
    assert_eq!(client.echo(Echo::new("hi")).await.unwrap().content(), "Echo: hi");
    let sum = client.get_sum(GetSum::new(2, 3)).await.unwrap();
    assert!(sum.content().contains('5'), "{}", sum.content());
    let location = crate::generated::everything::GetStructuredContentLocation::Chicago;
    let weather = client.get_structured_content(GetStructuredContent::new(location)).await.unwrap();
    assert!(!weather.conditions.is_empty());
    client.client.close().await;
}

#[tokio::test]
async fn mcp_server_time_is_called_by_its_methods() {
    let Some(program) = find_installed("python/bin/mcp-server-time") else { return };
    let target = ChildTarget::new(program.to_string_lossy()).args(["--local-timezone", "UTC"]);
    let client = McpTimeClient::new(connect_and_check(target, "time").await);
    let now = client.get_current_time(GetCurrentTime::new("Asia/Tokyo")).await.unwrap();
    assert_eq!(now.timezone, "Asia/Tokyo");
    assert!(!now.is_dst);
    client.client.close().await;
}

fn tools_in_python(arguments: &[&str]) -> Option<ChildTarget> {
    let python = find_installed("python/bin/python")?;
    let script = tests_folder().join("tools.py");
    let target = ChildTarget::new(python.to_string_lossy()).args([script.to_string_lossy()]);
    Some(target.args(arguments.iter().copied()))
}

#[tokio::test]
async fn a_server_of_fastmcp_is_called_by_its_methods() {
    use fastmcp::{
        Count, CountBy, Depth, DepthTree, Fail, PythonToolsClient, Weather, WeatherOutputUnit,
        WeatherPlace, WeatherUnit,
    };
    let Some(target) = tools_in_python(&["fastmcp"]) else { return };
    let client = PythonToolsClient::new(connect_and_check(target, "fastmcp").await);
    let place = WeatherPlace::new("Oslo").country("Norway");
    let weather = Weather::new(place).days(2).unit(WeatherUnit::Fahrenheit);
    let weather = client.weather(weather).await.unwrap();
    assert_eq!((weather.temperature, weather.unit), (68.0, WeatherOutputUnit::Fahrenheit));
    assert_eq!(weather.notes, ["2 days", "Norway"]);
    let tree = DepthTree::new("root").children([DepthTree::new("leaf")]);
    assert_eq!(client.depth(Depth::new(tree)).await.unwrap().result, 2);
    let counted = client.count(Count::new(["a", "bc", "d"]).by(CountBy::Length)).await.unwrap();
    assert_eq!(counted["1"], 2);
    let error = client.fail(Fail::new().limit(3)).await.unwrap_err().to_string();
    assert!(error.contains("tools/call fail"), "{error}");
    assert!(error.contains("no place within 3"), "{error}");
    client.client.close().await;
}

#[tokio::test]
async fn a_server_of_the_python_sdk_is_called_by_its_methods() {
    use python_sdk::{Count, CountBy, PythonToolsClient, Weather, WeatherPlace};
    let Some(target) = tools_in_python(&[]) else { return };
    let client = PythonToolsClient::new(connect_and_check(target, "python_sdk").await);
    let weather = client.weather(Weather::new(WeatherPlace::new("Oslo"))).await.unwrap();
    assert_eq!(weather.place, "Oslo");
    assert_eq!(weather.notes, ["1 days"]);
    let counted = client.count(Count::new(["ab", "ac"]).by(CountBy::Letter)).await.unwrap();
    assert_eq!(counted.len(), 1);
    client.client.close().await;
}
