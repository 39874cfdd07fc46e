//! Results of servers as files.

use std::fs;
use std::sync::Arc;

use serde_json::{Value, json};
use sparring_host::artifacts::{Artifact, Call, Settings, Store};
use sparring_mock::{MockServer, directives};
use sparring_wire::RawJson;

use crate::manager::fixture::{TestConnector, entry, within};

/// A PNG of one pixel.
const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

#[tokio::test]
async fn results_of_a_server_become_typed_files() {
    let connector = TestConnector::default();
    let mock = Arc::new(MockServer::for_interactions(&Default::default()).unwrap());
    connector.put("data", move || mock.connect());
    let manager = connector.manager([entry("data")]);
    let connection = within(manager.connect("data")).await.unwrap();
    let turns = json!([
        {"content": [
            {"type": "text", "text": "{\"temperature\": 15}"},
            {"type": "text", "text": "city,degrees\nLondon,15\nRome,25"},
        ]},
        {"content": [{"type": "image", "data": PIXEL, "mime_type": "image/png"}]},
        {"content": [{"type": "image", "data": "iVBOR%", "mime_type": "image/png"}]},
    ]);
    let folder = tempfile::tempdir().unwrap();
    let store = Store::new(folder.path(), Settings::default());
    let mut kinds = Vec::new();
    for _ in 0..3 {
        let arguments = json!({"task_description": directives("case", &turns)});
        let response = within(connection.call_tool("get_data", arguments.clone()).into_future());
        let response = response.await.unwrap();
        let arguments = RawJson::from(arguments);
        let call = Call { server: "data", tool: "get_data", arguments: &arguments };
        let taken = store.process(call, response.result().unwrap());
        kinds.extend(taken.artifacts.iter().map(describe));
    }
    assert_eq!(
        kinds,
        [
            "application/json saved get_data-1.json",
            "text/csv saved get_data-2.csv",
            "image/png saved get_data-3.png",
            "application/json raw get_data-4.raw.json",
        ]
    );
    assert!(fs::read(folder.path().join("get_data-3.png")).unwrap().starts_with(b"\x89PNG"));
    let beside = fs::read(folder.path().join("get_data-4.raw.json.meta.json")).unwrap();
    let metadata: Value = serde_json::from_slice(&beside).unwrap();
    assert_eq!((&metadata["server"], &metadata["tool"]), (&json!("data"), &json!("get_data")));
    assert!(
        metadata["why"].as_str().unwrap().starts_with("`data` is not valid Base64: "),
        "{metadata}"
    );
}

#[tokio::test]
async fn a_store_in_memory_has_the_artifacts_of_an_agent_for_assertions() {
    let connector = TestConnector::default();
    let turns = json!([{"content": [
        {"type": "image", "data": PIXEL, "mime_type": "image/png"},
        {"type": "text", "text": "city,degrees\nLondon,15\nRome,25"},
    ]}]);
    let mock = Arc::new(MockServer::for_interactions(&Default::default()).unwrap());
    connector.put("data", move || mock.connect());
    let manager = connector.manager([entry("data")]);
    let connection = within(manager.connect("data")).await.unwrap();
    let arguments = json!({"task_description": directives("case", &turns)});
    let response = within(connection.call_tool("get_data", arguments.clone()).into_future());
    let response = response.await.unwrap();
    let store = Store::in_memory(Settings::default());
    let arguments = RawJson::from(arguments);
    let call = Call { server: "data", tool: "get_data", arguments: &arguments };
    for _ in 0..2 {
        store.process(call, response.result().unwrap());
    }
    let stored = store.stored();
    let names: Vec<&str> = stored.iter().map(|it| &*it.name).collect();
    let expected = ["get_data-1.png", "get_data-2.csv", "get_data-3.png", "get_data-4.csv"];
    assert_eq!(names, expected);
    let [image, table, ..] = &stored[..] else { panic!("{names:?}") };
    assert!(image.bytes.starts_with(b"\x89PNG"));
    assert_eq!(image.metadata["mime_type"], "image/png");
    assert_eq!(table.bytes, b"city,degrees\nLondon,15\nRome,25");
    let of_table = ["file", "kind", "server", "tool"].map(|key| table.metadata[key].clone());
    assert_eq!(of_table, ["get_data-2.csv", "csv", "data", "get_data"].map(Value::from));
    // Nothing is in a folder.
    assert!(Store::without_folder(Settings::default()).stored().is_empty());
}

fn describe(artifact: &Artifact) -> String {
    let file = artifact.file().unwrap().file_name().unwrap().to_string_lossy();
    format!("{} {} {file}", artifact.mime_type, artifact.status.name())
}
