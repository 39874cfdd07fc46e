//! The client of the official conformance suite: one program for all scenarios,
//! written with the public API.
//!
//! The suite passes the scenario in `MCP_CONFORMANCE_SCENARIO`, its parameters in
//! `MCP_CONFORMANCE_CONTEXT`, the revision in `MCP_CONFORMANCE_PROTOCOL_VERSION`, and
//! the server's URL as the last argument.

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};
use sparring::client::{ServerRequest, accept_with_defaults};
use sparring::types::Tool;
use sparring::{
    BrowserOpener, Client, ClientAuth, ClientBuilder, Credentials, HttpLink, HttpTarget, OAuth,
    Revision,
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let variable = |name: &str| std::env::var(name).ok();
    let scenario = variable("MCP_CONFORMANCE_SCENARIO").context("MCP_CONFORMANCE_SCENARIO")?;
    let context: Value = match variable("MCP_CONFORMANCE_CONTEXT") {
        Some(text) => serde_json::from_str(&text).context("MCP_CONFORMANCE_CONTEXT")?,
        None => Value::Null,
    };
    let version = variable("MCP_CONFORMANCE_PROTOCOL_VERSION");
    let revision = version.as_deref().and_then(Revision::from_name);
    let url = std::env::args().next_back().context("the URL of the server")?;

    let mut target = HttpTarget::new(url);
    target.credentials = Some(Credentials::OAuth(Box::new(authorization(&scenario, &context))));
    let client = builder(revision).connect(HttpLink::new(&target)?).await?;
    let tools = client.list_tools().await?;
    run(&scenario, &context, &client, &tools).await?;
    client.close().await;
    Ok(())
}

/// Returns the OAuth settings of a scenario.
fn authorization(scenario: &str, context: &Value) -> OAuth {
    let text = |name: &str| context.get(name).and_then(Value::as_str).map(str::to_owned);
    let client_id = text("client_id");
    let proof = match (text("client_secret"), text("private_key_pem")) {
        (Some(secret), _) => ClientAuth::Secret(secret.into()),
        (None, Some(key)) => ClientAuth::Key(key),
        (None, None) => ClientAuth::None,
    };
    if scenario.starts_with("auth/client-credentials") {
        return OAuth::client_credentials(client_id.unwrap_or_default(), proof);
    }
    // The suite's login pages grant access without a user.
    let visitor = BrowserOpener::new(|url| drop(tokio::spawn(reqwest::get(url.to_owned()))));
    let document = Some("https://conformance-test.local/client-metadata.json".to_owned());
    OAuth {
        client_id,
        client_auth: proof,
        client_metadata_url: document,
        ..OAuth::authorization_code(visitor)
    }
}

/// Returns a builder of a client that answers all kinds of requests.
fn builder(revision: Option<Revision>) -> ClientBuilder {
    let builder = Client::builder()
        .info("sparring", env!("CARGO_PKG_VERSION"))
        .roots(["file:///tmp"])
        .answer(
            ServerRequest::Elicitation,
            |params| async move { Ok(accept_with_defaults(&params)) },
        )
        .answer(ServerRequest::Sampling, |_| async {
            let content = json!({"type": "text", "text": "a word"});
            Ok(json!({"role": "assistant", "content": content, "model": "none"}))
        });
    match revision {
        Some(revision) => builder.revision(revision),
        None => builder,
    }
}

async fn run(scenario: &str, context: &Value, client: &Client, tools: &[Tool]) -> Result<()> {
    match scenario {
        "initialize" | "json-schema-ref-no-deref" | "request-metadata" => Ok(()),
        "json-schema-2020-12-preservation" => {
            let rich = tools.iter().find(|tool| tool.name == "json_schema_2020_12_tool");
            let schema = &rich.context("the tool with the rich schema")?.input_schema;
            call(client, "json_schema_echo", json!({"schema": schema})).await
        }
        "http-custom-headers" => {
            let calls = context.get("toolCalls").and_then(Value::as_array);
            for wanted in calls.context("toolCalls in the context")? {
                let name = wanted.get("name").and_then(Value::as_str).context("a name")?;
                call(client, name, wanted.get("arguments").cloned().unwrap_or_default()).await?;
            }
            Ok(())
        }
        "http-standard-headers" => {
            for resource in client.list_resources().await? {
                client.read_resource(&resource.uri).await?.require_result()?;
            }
            for prompt in client.list_prompts().await? {
                client.get_prompt(&prompt.name, json!({})).await?.require_result()?;
            }
            call_all(client, tools).await
        }
        "tools_call"
        | "sse-retry"
        | "elicitation-sep1034-client-defaults"
        | "http-invalid-tool-headers"
        | "sep-2322-client-request-state" => call_all(client, tools).await,
        auth if auth.starts_with("auth/") => call_all(client, tools).await,
        other => bail!("unknown scenario: {other}"),
    }
}

async fn call_all(client: &Client, tools: &[Tool]) -> Result<()> {
    for tool in tools {
        call(client, &tool.name, make_arguments(&tool.input_schema)).await?;
    }
    Ok(())
}

async fn call(client: &Client, name: &str, arguments: Value) -> Result<()> {
    let response = client.call_tool(name, arguments).await?;
    match response.error() {
        Some(error) => bail!("{name} returned an error: {error}"),
        None => Ok(()),
    }
}

/// Makes arguments for a schema of simple properties.
fn make_arguments(schema: &Value) -> Value {
    let properties = schema.get("properties").and_then(Value::as_object);
    let arguments = properties.into_iter().flatten().map(|(name, property)| {
        let value = match property.get("type").and_then(Value::as_str) {
            Some("integer" | "number") => json!(2),
            Some("boolean") => json!(true),
            Some("array") => json!([]),
            Some("object") => json!({}),
            Some("null") => Value::Null,
            _ => json!("text"),
        };
        (name.clone(), value)
    });
    Value::Object(arguments.collect())
}
