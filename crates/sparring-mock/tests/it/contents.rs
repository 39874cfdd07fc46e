//! Content of every kind, from texts, Base64 and files.

use serde_json::{Value, json};
use sparring_wire::Revision;

use crate::fixture::{connect, everywhere, mock, result};

/// The script, with tools for every kind of content.
const SCRIPT: &str = "
tools:
  - {name: text, text: \"hi ${args.who:-you}\"}
  - {name: json, json: {n: \"${args.n:-0}\", deep: [1, {a_b: true}]}}
  - {name: structured, structured: {snake_case: \"${args.n:-0}\"}}
  - {name: image, image: {data: AAEC, mime_type: image/png}}
  - {name: audio, audio: {data: AAEC, mime_type: audio/wav}}
  - {name: resource, resource: {uri: \"a://b\", mime_type: text/plain, text: inside}}
  - {name: link, resource_link: {uri: \"a://b\", name: b, mime_type: text/plain}}
  - name: several
    content:
      - {text: one, annotations: {audience: [user], last_modified: \"2026-01-01T00:00:00Z\"}}
      - {json: [2], _meta: {a_b: 1}}
  - {name: whole, result: {content: [], isError: false, _meta: {\"x/y\": \"${args.n:-0}\"}}}
  - {name: meta, replies: [{text: x, _meta: {a_b: 1}}]}
resources:
  - {uri: \"a://b\", mime_type: text/plain, text: inside}
";

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

#[tokio::test]
async fn structured_content_and_its_text_have_the_same_random_values() {
    let script = "tools: [{name: t, structured: {id: \"${random.uuid}\", n: \"${counter.n}\"}}]";
    let mock = mock(script);
    let client = connect(&mock, Revision::LATEST).await;
    for n in 1..=2 {
        let result = result(&client, "t", json!({})).await;
        let structured = &result["structuredContent"];
        let found: Value =
            serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(found, *structured);
        assert_eq!(structured["n"], n);
    }
}

#[tokio::test]
async fn sends_content_of_every_kind() {
    let mock = mock(SCRIPT);
    for revision in [Revision::LATEST_LEGACY, Revision::LATEST] {
        let client = connect(&mock, revision).await;
        let expected = [
            ("text", json!({"content": [text("hi Ada")]})),
            ("json", json!({"content": [text("{\"n\":3,\"deep\":[1,{\"a_b\":true}]}")]})),
            (
                "structured",
                json!({"content": [text("{\"snake_case\":3}")], "structuredContent": {"snake_case": 3}}),
            ),
            (
                "image",
                json!({"content": [{"type": "image", "data": "AAEC", "mimeType": "image/png"}]}),
            ),
            (
                "audio",
                json!({"content": [{"type": "audio", "data": "AAEC", "mimeType": "audio/wav"}]}),
            ),
            (
                "resource",
                json!({"content": [{"type": "resource", "resource":
                    {"uri": "a://b", "mimeType": "text/plain", "text": "inside"}}]}),
            ),
            (
                "link",
                json!({"content": [{"type": "resource_link", "uri": "a://b", "name": "b",
                    "mimeType": "text/plain"}]}),
            ),
            (
                "several",
                json!({"content": [
                    {"type": "text", "text": "one", "annotations":
                        {"audience": ["user"], "lastModified": "2026-01-01T00:00:00Z"}},
                    {"type": "text", "text": "[2]", "_meta": {"a_b": 1}}]}),
            ),
            ("whole", json!({"content": [], "isError": false, "_meta": {"x/y": 3}})),
            ("meta", json!({"content": [text("x")], "_meta": {"a_b": 1}})),
        ];
        for (tool, expected) in expected {
            let given = result(&client, tool, json!({"who": "Ada", "n": 3})).await;
            assert_eq!(given, expected, "{tool} in {revision}");
        }
        assert_eq!(client.transcript().violations(), [], "{revision}");
    }
}

#[tokio::test]
async fn reads_files_from_the_folder_of_the_script_and_guesses_their_type() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("dot.png"), [0, 159, 146, 150]).unwrap();
    std::fs::write(folder.path().join("notes.md"), "# Notes").unwrap();
    let script = "
tools: [{name: show, image: {file: dot.png}}]
resources:
  - {uri: \"file:///notes.md\", file: notes.md}
  - {uri: \"file:///dot.png\", file: dot.png}
";
    std::fs::write(folder.path().join("a.mock.yaml"), script).unwrap();
    let path = folder.path().join("a.mock.yaml");
    let mock = sparring_mock::MockServer::from_file(path, &Default::default()).unwrap();
    let client = connect(&mock, Revision::LATEST).await;
    let shown = result(&client, "show", json!({})).await;
    assert_eq!(shown["content"][0]["data"], "AJ+Slg==");
    assert_eq!(shown["content"][0]["mimeType"], "image/png");
    let notes = client.read_resource("file:///notes.md").await.unwrap().contents.remove(0);
    assert_eq!(notes.text.as_deref(), Some("# Notes"));
    assert_eq!(notes.mime_type.as_deref(), Some("text/markdown"));
    let dot = client.read_resource("file:///dot.png").await.unwrap().contents.remove(0);
    assert_eq!((dot.blob.as_deref(), dot.text), (Some("AJ+Slg=="), None));
}

#[tokio::test]
async fn answers_with_resources_templates_and_prompts() {
    let script = "
resources:
  - {uri: \"a://text\", name: t, mime_type: text/plain, text: \"read ${call} times, ${uri}\"}
  - {uri: \"a://json\", json: {a: 1}}
  - {uri: \"a://blob\", blob: AAEC}
  - {uri: \"a://gone\", error: {code: 17, message: gone}}
templates:
  - {uri_template: \"a://items/{id}{?full}\", json: {id: \"${args.id}\", full: \"${args.full:-no}\"}}
prompts:
  - {name: short, description: one message, text: hello}
  - name: long
    arguments: [{name: who}]
    messages:
      - {role: assistant, text: \"hello ${args.who:-you}\"}
      - {image: {data: AAEC, mime_type: image/png}}
completions:
  - {prompt: long, argument: who, values: [Ada, Alan, Bob], total: 9, has_more: true}
  - {template: \"a://items/{id}{?full}\", argument: id, values: [\"1\", \"2\"]}
";
    everywhere(script, async |client, _| {
        for count in 1..=2 {
            let read = client.read_resource("a://text").await.unwrap().contents.remove(0);
            assert_eq!(read.text.unwrap(), format!("read {count} times, a://text"));
            assert_eq!(read.mime_type.as_deref(), Some("text/plain"));
        }
        let json = client.read_resource("a://json").await.unwrap().contents.remove(0);
        assert_eq!(json.mime_type.as_deref(), Some("application/json"));
        let blob = client.read_resource("a://blob").await.unwrap().contents.remove(0);
        assert_eq!(blob.blob.as_deref(), Some("AAEC"));
        assert!(client.read_resource("a://gone").await.unwrap_err().to_string().contains("gone"));
        let item =
            client.read_resource("a://items/7%20b?full=yes").await.unwrap().contents.remove(0);
        assert_eq!(item.uri, "a://items/7%20b?full=yes");
        assert_eq!(item.text.as_deref(), Some(r#"{"id":"7 b","full":"yes"}"#));
        let short = client.get_prompt("short", json!({})).await.unwrap();
        assert_eq!(short.rest["description"], "one message");
        assert_eq!(short.messages[0].content.as_text(), Some("hello"));
        let long = client.get_prompt("long", json!({"who": "Ada"})).await.unwrap().messages;
        assert_eq!((&*long[0].role, long[0].content.as_text()), ("assistant", Some("hello Ada")));
        let reference = json!({"type": "ref/prompt", "name": "long"});
        let completed = client.complete(reference, "who", "a").await.unwrap();
        assert_eq!(completed.values, ["Ada", "Alan"]);
        assert_eq!((completed.total, completed.has_more), (Some(9), Some(true)));
        let reference = json!({"type": "ref/resource", "uri": "a://items/{id}{?full}"});
        assert_eq!(client.complete(reference, "id", "").await.unwrap().values, ["1", "2"]);
    })
    .await;
}
