//! Strict clients reject a whole list for one item, and some pass everything in a
//! result on to a model.

use serde_json::json;
use sparring_host::gateway::unlisted_items;
use sparring_mock::MockServer;
use sparring_peer::Server;
use sparring_peer::server::{Context, Handler, HandlerResult};
use sparring_wire::types::ServerCapabilities;
use sparring_wire::{Json, RawJson};

use super::{ERAS, GatewayFixture, answering, call, list, names, plain, server_in_revision};
use crate::manager::fixture::{TestConnector, within};

/// A server with valid items among others.
struct Sloppy;

impl Handler for Sloppy {
    fn capabilities(&self) -> ServerCapabilities {
        ServerCapabilities::none().tools().resources().prompts()
    }

    async fn list_tools(&self, _: Option<&str>, _: &Context) -> HandlerResult {
        let tools = json!({"tools": [
            {"name": "no schema"},
            {"name": "null", "title": null, "inputSchema": {"type": "object"}},
            {"name": "array", "inputSchema": {"type": "array"}},
            ["not a tool"],
            {"name": "good", "inputSchema": {"type": "object"}, "x": 1},
        ]});
        Ok(tools.into())
    }

    async fn call_tool(&self, _: &str, _: Json<'_>, _: &Context) -> HandlerResult {
        let result = json!({
            "content": [{"type": "text", "text": "called"}],
            "_meta": {"own": 1, "io.modelcontextprotocol/serverInfo": {"name": "s", "version": "1"}},
        });
        Ok(result.into())
    }

    async fn list_resources(&self, _: Option<&str>, _: &Context) -> HandlerResult {
        let resources = json!({"resources": [
            {"uri": "mcp+desk+desk://note", "name": "in the name of another server"},
            {"uri": "MCP+desk+desk://note", "name": "the same scheme"},
            {"uri": "a://1", "name": "annotated", "annotations": null},
            {"uri": "a://2", "name": "good"},
        ]});
        Ok(resources.into())
    }

    async fn list_resource_templates(&self, _: Option<&str>, _: &Context) -> HandlerResult {
        let templates = json!({"resourceTemplates": [
            {"uriTemplate": "mcp+desk+{+rest}", "name": "in the name of another server"},
            {"uriTemplate": "{+all}", "name": "good"},
        ]});
        Ok(templates.into())
    }

    async fn read_resource(&self, uri: &str, _: &Context) -> HandlerResult {
        Ok(json!({"contents": [{"uri": uri, "text": "read"}]}).into())
    }

    async fn list_prompts(&self, _: Option<&str>, _: &Context) -> HandlerResult {
        Ok(json!({"prompts": [{"name": "null", "title": null}, {"name": "good"}]}).into())
    }
}

async fn start_sloppy(inner: sparring_wire::Revision) -> GatewayFixture {
    let connector = TestConnector::default();
    let server = Server::new(Sloppy);
    connector.put("sloppy", move || {
        let (here, there) = sparring_peer::memory(sparring_peer::LinkKind::Shared);
        let served = server.clone();
        tokio::spawn(async move { served.serve(there).await });
        here
    });
    GatewayFixture::open(&connector, &[server_in_revision("sloppy", inner)]).await
}

#[tokio::test]
async fn items_that_a_strict_client_rejects_are_left_out_with_a_note() {
    for inner in ERAS {
        let fixture = start_sloppy(inner).await;
        for era in ERAS {
            let client = fixture.connect(plain(era)).await;
            let tools = list(&client, "tools/list", "tools").await;
            assert_eq!(
                tools,
                [json!({"name": "mcp__sloppy__good", "inputSchema": {"type": "object"}, "x": 1})]
            );
            let resources = list(&client, "resources/list", "resources").await;
            assert_eq!(names(&resources, "uri"), ["a://2"]);
            let templates = list(&client, "resources/templates/list", "resourceTemplates").await;
            assert_eq!(names(&templates, "uriTemplate"), ["{+all}"]);
            let prompts = list(&client, "prompts/list", "prompts").await;
            assert_eq!(names(&prompts, "name"), ["mcp__sloppy__good"]);
            assert!(client.transcript().violations().is_empty());
        }
        let notes = unlisted_items(&fixture.manager.get("sloppy").unwrap());
        for expected in [
            "'no schema' of tools/list is not listed: inputSchema: inputSchema is required",
            "'null' of tools/list is not listed: title: expected a string, found null",
            "'mcp+desk+desk://note' of resources/list is not listed: \
             URIs that begin with mcp+SERVER+ belong to the gateway",
            "'a://1' of resources/list is not listed: annotations: ",
            "'null' of prompts/list is not listed: title: ",
        ] {
            assert!(notes.iter().any(|note| note.starts_with(expected)), "{expected}: {notes:#?}");
        }
        assert_eq!(notes.len(), 8, "{notes:#?}");
    }
}

#[tokio::test]
async fn a_uri_with_the_prefix_of_a_server_goes_to_no_other_server() {
    let fixture = start_sloppy(ERAS[0]).await;
    let client = fixture.connect(plain(ERAS[1])).await;
    within(client.read_resource("mcp+sloppy+any://thing")).await.unwrap();
    within(client.read_resource("any://thing")).await.unwrap();
    for uri in ["mcp+desk+desk://note", "MCP+desk+desk://note"] {
        let refused = within(client.read_resource(uri)).await.unwrap_err();
        assert!(refused.to_string().contains("no resource"), "{refused}");
    }
}

#[tokio::test]
async fn clients_of_earlier_revisions_do_not_get_the_name_of_the_server_in_results() {
    let key = "io.modelcontextprotocol/serverInfo";
    for inner in ERAS {
        let fixture = start_sloppy(inner).await;
        let client = fixture.connect(plain(ERAS[0])).await;
        let called = client.call_tool("mcp__sloppy__good", json!({}));
        let called = within(called.into_future()).await.unwrap();
        assert_eq!(
            called.result().unwrap().get("_meta").map(RawJson::from).unwrap().text(),
            r#"{"own":1}"#
        );
        let client = fixture.connect(plain(ERAS[1])).await;
        let called = client.call_tool("mcp__sloppy__good", json!({}));
        let called = within(called.into_future()).await.unwrap();
        assert!(called.result().unwrap().get("_meta").unwrap().get(key).is_some());
    }
    // Every result of a server of 2026-07-28 has it.
    let connector = TestConnector::default();
    let mock = MockServer::from_yaml("tools: [{name: echo, text: hi}]", ".").unwrap();
    connector.put("desk", move || mock.connect());
    let fixture = GatewayFixture::open(&connector, &[server_in_revision("desk", ERAS[1])]).await;
    let client = fixture.connect(plain(ERAS[0])).await;
    let called =
        within(client.call_tool("mcp__desk__echo", json!({})).into_future()).await.unwrap();
    assert!(!called.raw().text().contains("serverInfo"), "{}", called.raw().text());
}

/// Returns the capabilities that its requests declare.
struct CapabilityEcho;

impl Handler for CapabilityEcho {
    fn capabilities(&self) -> ServerCapabilities {
        ServerCapabilities::none().tools()
    }

    async fn list_tools(&self, _: Option<&str>, _: &Context) -> HandlerResult {
        Ok(json!({"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]}).into())
    }

    async fn call_tool(&self, _: &str, _: Json<'_>, cx: &Context) -> HandlerResult {
        let declared = cx.client_capabilities().map(RawJson::from).unwrap();
        Ok(json!({"content": [{"type": "text", "text": declared.text()}]}).into())
    }
}

#[tokio::test]
async fn a_server_without_a_handshake_gets_the_capabilities_of_the_client_that_calls() {
    let connector = TestConnector::default();
    let server = Server::new(CapabilityEcho);
    connector.put("caps", move || {
        let (here, there) = sparring_peer::memory(sparring_peer::LinkKind::Shared);
        let served = server.clone();
        tokio::spawn(async move { served.serve(there).await });
        here
    });
    let fixture = GatewayFixture::open(&connector, &[server_in_revision("caps", ERAS[1])]).await;
    for era in ERAS {
        let silent = fixture.connect(plain(era)).await;
        assert_eq!(call(&silent, "mcp__caps__echo").await, "{}", "{era}");
        let answering = fixture.connect(answering(era, "Ada")).await;
        let declared = call(&answering, "mcp__caps__echo").await;
        let declared: serde_json::Value = serde_json::from_str(&declared).unwrap();
        let mut names: Vec<&String> = declared.as_object().unwrap().keys().collect();
        names.sort();
        assert_eq!(names, ["elicitation", "roots", "sampling"], "{era}");
        assert_eq!(call(&silent, "mcp__caps__echo").await, "{}", "{era}");
    }
}
