//! Lists: entries, pages and changes.

use serde_json::{Value, json};
use sparring_peer::client::{ListKind, SubscriptionFilter};
use sparring_wire::Revision;

use crate::fixture::{TIMEOUT, call_text, connect, everywhere, mock, within};

const SCRIPT: &str = "
server: {name: all, version: 1.2.3, title: All of it, website_url: \"https://example.com\",
         icons: [{src: \"https://example.com/i.png\", mime_type: image/png}]}
instructions: Use it well.
page_size: 2
cache: {ttl: 5m, scope: public}
tools:
  - name: one
    title: One
    description: the first
    input: {city: string, units: \"string?\"}
    output: {n: integer}
    annotations: {read_only_hint: true}
    icons: [{src: \"https://example.com/i.png\", sizes: [any]}]
    _meta: {\"a/b\": {c_d: 1}}
    structured: {n: 1}
  - {name: two, text: x}
  - {name: three, hidden: true, text: hidden until shown}
  - {name: show, after: [{show: {tool: three}}], text: shown}
  - {name: hide, after: [{hide: {tool: three}}], text: hidden}
resources: [{uri: \"a://b\", size: 3, mime_type: text/plain, annotations: {priority: 0.5}, text: abc}]
templates: [{uri_template: \"a://{x}\", text: x}]
prompts: [{name: p, title: P, arguments: [{name: a, description: an A, required: true}], text: x}]
completions: [{prompt: p, argument: a, values: [x]}]
";

#[tokio::test]
async fn lists_entries_with_all_their_keys() {
    everywhere(SCRIPT, async |client, revision| {
        let list = async |what| -> Vec<Value> {
            let all = within(client.list(what)).await.unwrap();
            all.iter().map(|it| it.view().deserialize().unwrap()).collect()
        };
        let tools = list(ListKind::Tools).await;
        let expected = json!({
            "name": "one", "title": "One", "description": "the first",
            "icons": [{"src": "https://example.com/i.png", "sizes": ["any"]}],
            "annotations": {"readOnlyHint": true}, "_meta": {"a/b": {"c_d": 1}},
            "inputSchema": {"type": "object", "properties": {"city": {"type": "string"},
                "units": {"type": "string"}}, "required": ["city"]},
            "outputSchema": {"type": "object", "properties": {"n": {"type": "integer"}},
                "required": ["n"]},
        });
        assert_eq!(tools[0], expected, "{revision}");
        let names: Vec<&str> = tools.iter().filter_map(|tool| tool["name"].as_str()).collect();
        assert_eq!(names, ["one", "two", "show", "hide"], "over two pages, and without `three`");
        let resource = json!({"uri": "a://b", "name": "a://b", "annotations": {"priority": 0.5},
            "mimeType": "text/plain", "size": 3});
        assert_eq!(list(ListKind::Resources).await, [resource]);
        assert_eq!(list(ListKind::ResourceTemplates).await[0]["uriTemplate"], "a://{x}");
        let prompt = json!({"name": "p", "title": "P",
            "arguments": [{"name": "a", "description": "an A", "required": true}]});
        assert_eq!(list(ListKind::Prompts).await, [prompt]);
    })
    .await;
}

#[tokio::test]
async fn declares_info_and_capabilities_of_the_script() {
    everywhere(SCRIPT, async |client, _| {
        let session = client.session().unwrap();
        let info = session.server_info.clone().unwrap();
        assert_eq!((&*info.name, &*info.version), ("all", "1.2.3"));
        assert_eq!(info.title.as_deref(), Some("All of it"));
        assert_eq!(info.rest["icons"][0]["mimeType"], "image/png");
        let expected = json!({
            "tools": {"listChanged": true},
            "resources": {"subscribe": true, "listChanged": true},
            "prompts": {"listChanged": true}, "completions": {},
        });
        assert_eq!(json!(client.capabilities()), expected);
        assert_eq!(session.instructions.as_deref(), Some("Use it well."));
    })
    .await;
}

#[tokio::test]
async fn capabilities_can_be_added_changed_and_removed() {
    let script = "
capabilities: {tools: {list_changed: false}, prompts: false, logging: true, experimental: {x: {a_b: 1}}}
tools: [{name: a, text: x}]
prompts: [{name: p, text: x}]
";
    let client = connect(&mock(script), Revision::LATEST).await;
    let expected =
        json!({"tools": {"listChanged": false}, "logging": {}, "experimental": {"x": {"aB": 1}}});
    assert_eq!(json!(client.capabilities()), expected);
}

#[tokio::test]
async fn supports_only_the_named_revisions() {
    let mock = mock("protocol: [2025-06-18, 2025-11-25]\ntools: [{name: a, text: x}]");
    let builder = sparring_peer::Client::builder();
    let client = within(builder.connect(mock.connect())).await.unwrap();
    assert_eq!(client.revision(), Some(Revision::V2025_11_25));
}

#[tokio::test]
async fn rejects_an_unknown_cursor() {
    everywhere(SCRIPT, async |client, _| {
        for wrong in ["x", "", "0", "-1", "99999999999999999999999", "4"] {
            let params = json!({"cursor": wrong}).into();
            let response = client.request("tools/list", Some(params)).await.unwrap();
            assert_eq!(response.error_code(), Some(-32602), "{wrong}");
        }
    })
    .await;
}

#[tokio::test]
async fn sends_caching_hints_where_results_have_them() {
    let script = "
cache: {ttl: 5m, scope: public}
tools: [{name: a, text: x}]
resources:
  - {uri: \"a://b\", text: x}
  - {uri: \"a://c\", text: x, cache: {ttl: 1s}}
";
    let mock = mock(script);
    for revision in [Revision::LATEST_LEGACY, Revision::LATEST] {
        let client = connect(&mock, revision).await;
        let hint = async |method: &'static str, params: Value| {
            let response = client.request(method, Some(params.into())).await.unwrap();
            let result: Value = response.to().unwrap();
            (result["ttlMs"].as_u64(), result["cacheScope"].as_str().map(str::to_owned))
        };
        let (all, own) = match revision.is_modern() {
            true => ((Some(300_000), Some("public")), (Some(1_000), Some("private"))),
            false => ((None, None), (None, None)),
        };
        let spelled = |(ttl, scope): (Option<u64>, Option<&str>)| (ttl, scope.map(str::to_owned));
        assert_eq!(hint("tools/list", json!({})).await, spelled(all));
        assert_eq!(hint("resources/read", json!({"uri": "a://b"})).await, spelled(all));
        assert_eq!(hint("resources/read", json!({"uri": "a://c"})).await, spelled(own));
    }
}

#[tokio::test]
async fn a_shown_entry_is_listed_and_clients_are_notified() {
    everywhere(SCRIPT, async |client, revision| {
        let changed = "notifications/tools/list_changed";
        let filter =
            SubscriptionFilter { tools_list_changed: true, ..SubscriptionFilter::default() };
        let mut standing = match revision.is_modern() {
            true => Some(within(client.listen(filter)).await.unwrap()),
            false => None,
        };
        for (count, tool, expected) in [(1, "show", true), (2, "hide", false), (3, "show", true)] {
            call_text(client, tool, json!({})).await;
            match &mut standing {
                Some(standing) => {
                    let reported = standing.next(TIMEOUT).await.unwrap();
                    assert_eq!(reported.method(), Some(changed));
                }
                None => {
                    let reported = client.notifications().wait_for(changed, count, TIMEOUT).await;
                    assert!(reported.is_ok(), "{revision}: {reported:?}");
                }
            }
            let listed = within(client.list_tools()).await.unwrap();
            assert_eq!(listed.iter().any(|tool| tool.name == "three"), expected, "{revision}");
            let error = crate::fixture::call(client, "three", json!({})).await.error_code();
            assert_eq!(error.is_none(), expected, "{revision}");
        }
    })
    .await;
}
