//! The client's functions, on this project's server, in every revision.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use sparring_peer::client::{ClientOptions, Error, Protocol, TypedList};
use sparring_peer::server::{Context, HandlerResult, Page, Reply};
use sparring_peer::{Client, ClientBuilder, Handler, LinkKind, MemoryTransport, Server, memory};
use sparring_wire::types::{LogLevel, ServerCapabilities, Tool};
use sparring_wire::{Frame, RawJson, Revision};

use crate::fixture::{TEST_TIMEOUT, TestConnection, TestServer, within};

fn methods(client: &Client) -> Vec<String> {
    let entries = client.transcript().entries();
    entries.iter().filter_map(|entry| entry.frame.method().map(str::to_owned)).collect()
}

/// Runs a check on a new connection in each revision, and expects no violations.
async fn in_every_revision<F: Future<Output = ()>>(check: impl Fn(Client, Revision) -> F) {
    for revision in Revision::ALL {
        let connection = TestConnection::start(revision).await;
        within(check(connection.client.clone(), revision)).await;
        assert_eq!(connection.client.transcript().violations(), [], "{revision}");
    }
}

#[tokio::test]
async fn connecting_sends_initialize_and_initialized_and_learns_the_server() {
    in_every_revision(async |client, revision| {
        let expected: &[&str] = match revision.is_modern() {
            true => &["server/discover"],
            false => &["initialize", "notifications/initialized"],
        };
        client.call_tool("echo", json!({"message": "x"})).await.unwrap();
        assert_eq!(methods(&client)[..expected.len()], *expected);
        let session = client.session().unwrap();
        assert_eq!(session.revision, revision);
        assert_eq!(session.server_info.as_ref().unwrap().name, "test_server");
        assert_eq!(session.instructions.as_deref(), Some("hit precisely"));
        assert!(
            client.capabilities().has("tools") && client.capabilities().has("resources.subscribe")
        );
    })
    .await;
}

#[tokio::test]
async fn auto_finds_the_newest_revision_of_a_server() {
    for revision in Revision::ALL {
        let (here, there) = memory(LinkKind::Shared);
        let _running = Server::with_revisions(TestServer::default(), &[revision]).spawn(there);
        let client = within(Client::connect(here)).await.unwrap();
        assert_eq!(client.revision(), Some(revision));
        assert_eq!(client.transcript().violations(), [], "{revision}");
    }
}

#[tokio::test]
async fn lists_tools_with_name_description_and_schema_over_all_pages() {
    in_every_revision(async |client, _| {
        let tools = client.list_tools().await.unwrap();
        assert_eq!(tools.len(), 7);
        assert_eq!(tools[0].name, "echo");
        assert_eq!(tools[0].description.as_deref(), Some("a tool"));
        assert_eq!(tools[0].input_schema["type"], "object");
        assert_eq!(methods(&client).iter().filter(|method| *method == "tools/list").count(), 3);
    })
    .await;
}

#[tokio::test]
async fn a_tool_call_gives_a_response_with_its_text_joined() {
    in_every_revision(async |client, _| {
        let response = client.call_tool("echo", json!({"message": "hi"})).await.unwrap();
        assert!(response.success() && !response.is_error());
        assert_eq!(response.content(), "hi!");
        assert_eq!((response.error_code(), response.error_message()), (None, None));
        assert!(response.raw().text().contains("image/png"));
    })
    .await;
}

#[tokio::test]
async fn a_tool_failure_is_not_a_json_rpc_error() {
    in_every_revision(async |client, _| {
        let failure = client.call_tool("fail", json!({})).await.unwrap();
        assert!(!failure.success() && failure.is_error());
        assert_eq!(failure.content(), "it broke");
        assert_eq!(failure.error_code(), None);

        let error = client.call_tool("nope", json!({})).await.unwrap();
        assert!(!error.success() && !error.is_error());
        assert_eq!(error.error_code(), Some(-32602));
        assert_eq!(error.error_message().as_deref(), Some("unknown tool: nope"));
    })
    .await;
}

#[tokio::test]
async fn missing_and_wrong_arguments_come_back_as_failures() {
    in_every_revision(async |client, _| {
        for arguments in [json!({}), json!({"message": 7})] {
            let response = client.call_tool("echo", arguments).await.unwrap();
            assert_eq!(response.error_code(), Some(-32602));
        }
    })
    .await;
}

#[tokio::test]
async fn lists_resources_and_templates() {
    in_every_revision(async |client, _| {
        let resources = client.list_resources().await.unwrap();
        assert_eq!((&*resources[0].uri, &*resources[0].name), ("file:///a.txt", "a"));
        let templates = client.list_resource_templates().await.unwrap();
        assert_eq!(templates[0].uri_template, "file:///{name}");
        let sent = methods(&client);
        assert_eq!(sent[sent.len() - 2..], ["resources/list", "resources/templates/list"]);
    })
    .await;
}

#[tokio::test]
async fn reads_resources() {
    in_every_revision(async |client, revision| {
        let read = client.read_resource("file:///a.txt").await.unwrap();
        assert_eq!(read.contents[0].text.as_deref(), Some("contents"));
        match client.read_resource("file:///none").await.unwrap_err() {
            Error::ErrorResponse { error, .. } => {
                assert_eq!(error.code, revision.resource_not_found_code());
            }
            other => panic!("{other}"),
        }
    })
    .await;
}

#[tokio::test]
async fn lists_prompts() {
    in_every_revision(async |client, _| {
        assert_eq!(client.list_prompts().await.unwrap()[0].name, "summarize");
        assert_eq!(methods(&client).last().unwrap(), "prompts/list");
    })
    .await;
}

#[tokio::test]
async fn gets_prompts() {
    in_every_revision(async |client, _| {
        let prompt = client.get_prompt("summarize", json!({"length": "short"})).await.unwrap();
        assert_eq!(prompt.messages[0].content.as_text(), Some("summarize in short"));
        assert_eq!(prompt.messages[0].role, "user");
    })
    .await;
}

#[tokio::test]
async fn completes_pings_and_sends_any_method() {
    in_every_revision(async |client, _| {
        let reference = json!({"type": "ref/prompt", "name": "summarize"});
        assert_eq!(client.complete(reference, "length", "s").await.unwrap().values, ["s1", "s2"]);
        client.ping().await.unwrap();
        let params = RawJson::parse(r#"{"n":1.50}"#).unwrap();
        let response = client.request("test_server/reverse", Some(params)).await.unwrap();
        let echoed: Value = response.to().unwrap();
        assert!(echoed["echoed"].as_str().unwrap().starts_with(r#"{"n":1.50"#));
        let unknown = client.request("test_server/unknown", None).await.unwrap();
        assert_eq!(unknown.error_code(), Some(-32601));
    })
    .await;
}

#[tokio::test]
async fn progress_is_passed_to_the_callback() {
    in_every_revision(async |client, _| {
        let received = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&received);
        let call = client.call_tool("progress", json!({}));
        call.on_progress(move |progress| log.lock().unwrap().push(progress)).await.unwrap();
        let received = std::mem::take(&mut *received.lock().unwrap());
        assert_eq!(received.len(), 2);
        assert_eq!((received[0].progress, received[0].total), (0.5, Some(1.0)));
        assert_eq!(received[0].message.as_deref(), Some("half"));

        client.call_tool("progress", json!({})).await.unwrap();
        assert_eq!(
            client.notifications().count("notifications/progress"),
            2,
            "the second call did not ask for progress"
        );
    })
    .await;
}

#[tokio::test]
async fn the_server_sends_only_logs_of_the_requested_level() {
    in_every_revision(async |client, revision| {
        let logged = || client.notifications().count("notifications/message");
        client.call_tool("log", json!({})).await.unwrap();
        assert_eq!(logged(), if revision.is_modern() { 0 } else { 2 }, "{revision}");
        let before = logged();
        client.set_log_level(LogLevel::Warning).await.unwrap();
        client.call_tool("log", json!({})).await.unwrap();
        assert_eq!(logged() - before, 1, "{revision}");
        let last = client.notifications().by_name("notifications/message").pop().unwrap();
        assert_eq!(last.params().unwrap().get("data").unwrap().as_str().unwrap(), "loud");
    })
    .await;
}

#[tokio::test]
async fn many_requests_from_many_tasks_get_their_own_answers() {
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        let connection = TestConnection::start(revision).await;
        let tasks: Vec<_> = (0..64)
            .map(|task| {
                let client = connection.client.clone();
                tokio::spawn(async move {
                    for call in 0..20 {
                        let message = format!("{task}/{call}");
                        let response =
                            client.call_tool("echo", json!({"message": message})).await.unwrap();
                        assert_eq!(response.content(), format!("{message}!"));
                    }
                })
            })
            .collect();
        for task in tasks {
            within(task).await.unwrap();
        }
        assert_eq!(connection.server.counts().requests, 64 * 20 + 1);
    }
}

#[tokio::test]
async fn a_notification_or_foreign_reply_never_becomes_the_answer() {
    let (transport, link) = MemoryTransport::new();
    let connecting = tokio::spawn(Client::builder().protocol(Protocol::Raw).connect(link));
    let client = within(connecting).await.unwrap().unwrap();
    let request = client.request("tools/call", None).start();
    let sent = transport.wait_sent(TEST_TIMEOUT).await.unwrap();
    let id = sent.id().unwrap();
    transport.queue_incoming(
        r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}"#,
    );
    transport.queue_incoming(r#"{"jsonrpc":"2.0","id":4711,"result":{"wrong":true}}"#);
    transport.queue_incoming(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"right":true}}}}"#));
    let response = within(request).await.unwrap();
    assert!(response.result().unwrap().get("right").is_some());
    assert_eq!(client.notifications().count("notifications/message"), 1);
    assert_eq!(client.unclaimed().total(), 1);
}

#[tokio::test]
async fn any_bytes_can_be_sent() {
    let connection = TestConnection::start(Revision::V2025_11_25).await;
    connection.client.send_bytes("this is no json");
    connection.client.send_bytes([0xff, 0xfe]);
    let odd = r#"{ "jsonrpc":"2.0", "id":"mine", "method":"ping", "extra":1.0 }"#;
    let response = within(connection.client.request_bytes(odd).into_future()).await.unwrap();
    assert!(response.success());
    let sent = connection.client.transcript().entries();
    assert!(sent.iter().any(|entry| entry.frame.bytes() == odd.as_bytes()), "sent byte for byte");
    let nothing = within(connection.client.request_bytes("[]").into_future()).await.unwrap_err();
    assert!(nothing.to_string().contains("not a request"), "{nothing}");
}

#[tokio::test(start_paused = true)]
async fn a_request_times_out_after_thirty_seconds_by_default() {
    let (sender, _events) = tokio::sync::mpsc::unbounded_channel();
    let test_server = TestServer { waiting: Some(sender) };
    let connection = TestConnection::with(Client::builder(), test_server, LinkKind::Shared).await;
    let before = tokio::time::Instant::now();
    let error = connection.client.call_tool("wait", json!({})).await.unwrap_err();
    assert_eq!(error.to_string(), "no answer to tools/call within 30s");
    assert_eq!(before.elapsed().as_secs(), 30);
    let before = tokio::time::Instant::now();
    let quick = connection
        .client
        .call_tool("wait", json!({}))
        .timeout(Duration::from_millis(20))
        .await
        .unwrap_err();
    assert!(matches!(quick, Error::Timeout { .. }));
    assert!(before.elapsed() < Duration::from_millis(30));
}

#[tokio::test]
async fn closing_ends_the_link_and_the_driver() {
    let connection = TestConnection::start(Revision::V2025_11_25).await;
    assert!(connection.client.is_connected());
    within(connection.client.close()).await;
    assert!(!connection.client.is_connected());
    let error = within(connection.client.request("ping", None).into_future()).await.unwrap_err();
    assert!(matches!(error, Error::Closed { .. }), "{error}");
    let mut running = connection.running;
    within(running.wait()).await;
}

#[tokio::test]
async fn dropping_the_last_client_closes_the_link() {
    let TestConnection { client, mut running, .. } =
        TestConnection::start(Revision::V2025_11_25).await;
    let clone = client.clone();
    drop(client);
    within(clone.ping()).await.unwrap();
    drop(clone);
    within(running.wait()).await;
}

#[tokio::test]
async fn the_end_of_a_server_fails_requests_in_flight_at_once() {
    let (sender, mut events) = tokio::sync::mpsc::unbounded_channel();
    let test_server = TestServer { waiting: Some(sender) };
    let connection = TestConnection::with(Client::builder(), test_server, LinkKind::Shared).await;
    let call = connection.client.call_tool("wait", json!({})).start();
    within(events.recv()).await.unwrap();
    drop(connection.running);
    let error = within(call).await.unwrap_err();
    assert!(matches!(error, Error::Closed { .. }), "{error}");
    within(connection.client.closed()).await;
}

/// A server that declares nothing.
struct Empty;

impl Handler for Empty {}

/// Checks that a list is empty, and that the server receives only the ping after it.
async fn check_sends_no_request(list: impl AsyncFn(&Client) -> usize) {
    for revision in Revision::ALL {
        let (here, there) = memory(LinkKind::Shared);
        let server = Server::new(Empty);
        let _running = server.spawn(there);
        let client = within(Client::builder().revision(revision).connect(here)).await.unwrap();
        let before = server.counts().requests;
        assert_eq!(within(list(&client)).await, 0);
        within(client.ping()).await.unwrap();
        assert_eq!(server.counts().requests, before + 1, "only the ping");
    }
}

#[tokio::test]
async fn a_server_without_tools_gives_an_empty_list_and_gets_no_request() {
    check_sends_no_request(async |client| client.list_tools().await.unwrap().len()).await;
}

#[tokio::test]
async fn a_server_without_resources_gives_empty_lists_and_gets_no_request() {
    check_sends_no_request(async |client| client.list_resources().await.unwrap().len()).await;
    check_sends_no_request(async |client| client.list_resource_templates().await.unwrap().len())
        .await;
}

#[tokio::test]
async fn a_server_without_prompts_gives_an_empty_list_and_gets_no_request() {
    check_sends_no_request(async |client| client.list_prompts().await.unwrap().len()).await;
}

/// A server that lists a good item, one with a duplicate member, an array, and another
/// good one.
struct Malformed;

/// Its items, with the member that each kind of item must have.
fn malformed(field: &str, key: &str) -> HandlerResult {
    let name = if key == "name" { "" } else { r#""name":"n","# };
    let item = |end: &str| format!(r#"{{"inputSchema":{{"type":"object"}},{name}{end}}}"#);
    let items = [
        item(&format!(r#""{key}":"first""#)),
        item(&format!(r#""{key}":"a","{key}":"b""#)),
        r#"["array","array"]"#.to_owned(),
        item(&format!(r#""{key}":"last","unknown":[1.50]"#)),
    ];
    let result = format!(r#"{{"{field}":[{}]}}"#, items.join(","));
    Ok(Reply::from(RawJson::parse(&result).unwrap()))
}

impl Handler for Malformed {
    fn capabilities(&self) -> ServerCapabilities {
        ServerCapabilities::none().tools().resources().prompts()
    }

    async fn list_tools(&self, _: Option<&str>, _: &Context) -> HandlerResult {
        malformed("tools", "name")
    }

    async fn list_resources(&self, _: Option<&str>, _: &Context) -> HandlerResult {
        malformed("resources", "uri")
    }

    async fn list_resource_templates(&self, _: Option<&str>, _: &Context) -> HandlerResult {
        malformed("resourceTemplates", "uriTemplate")
    }

    async fn list_prompts(&self, _: Option<&str>, _: &Context) -> HandlerResult {
        malformed("prompts", "name")
    }
}

/// Checks that the list has the two good items and reports the two others.
fn keeps_the_good_ones<T>(field: &str, key: &str, list: &TypedList<T>, name: impl Fn(&T) -> &str) {
    let names: Vec<_> = list.iter().map(name).collect();
    assert_eq!(names, ["first", "last"], "{field}");
    let [duplicate, array] = &list.malformed[..] else { panic!("{:?}", list.malformed) };
    let expected = format!("{field}[1]: duplicate field `{key}`");
    assert!(duplicate.starts_with(&expected), "{duplicate}");
    let expected = format!("{field}[2]: invalid type: sequence");
    assert!(array.starts_with(&expected), "{array}");
    let summary = list.malformed_summary().unwrap();
    assert_eq!(summary, format!("{duplicate}; {array}"));
}

#[tokio::test]
async fn a_malformed_item_is_reported_and_the_others_are_kept() {
    for revision in Revision::ALL {
        let (here, there) = memory(LinkKind::Shared);
        let _running = Server::new(Malformed).spawn(there);
        let client = within(Client::builder().revision(revision).connect(here)).await.unwrap();
        let tools = within(client.list_tools()).await.unwrap();
        keeps_the_good_ones("tools", "name", &tools, |tool| &tool.name);
        assert_eq!(json!(tools[1].rest), json!({"unknown": [1.5]}));
        let resources = within(client.list_resources()).await.unwrap();
        keeps_the_good_ones("resources", "uri", &resources, |resource| &resource.uri);
        let templates = within(client.list_resource_templates()).await.unwrap();
        keeps_the_good_ones("resourceTemplates", "uriTemplate", &templates, |it| &it.uri_template);
        let prompts = within(client.list_prompts()).await.unwrap();
        keeps_the_good_ones("prompts", "name", &prompts, |prompt| &prompt.name);
        let violations = client.transcript().violations();
        let found = |rule: &str| violations.iter().filter(|it| it.rule.to_string() == rule).count();
        assert_eq!(found("wire/duplicate-key"), 4, "{revision}: {violations:?}");
    }
}

#[tokio::test]
async fn a_summary_of_many_malformed_items_is_short() {
    let malformed: Vec<_> = (0..9).map(|n| format!("tools[{n}]: bad")).collect();
    let list = TypedList::<Tool> { items: Vec::new(), malformed };
    let expected = "tools[0]: bad; tools[1]: bad; tools[2]: bad; and 6 more";
    assert_eq!(list.malformed_summary().as_deref(), Some(expected));
}

/// A server whose list never ends, in one of several ways.
struct Endless(&'static str);

impl Handler for Endless {
    fn capabilities(&self) -> ServerCapabilities {
        ServerCapabilities::none().tools()
    }

    async fn list_tools(&self, cursor: Option<&str>, _: &Context) -> HandlerResult {
        let page = cursor.and_then(|cursor| cursor.parse::<u64>().ok()).unwrap_or_default();
        let next =
            if self.0 == "same cursor" { "again".to_owned() } else { (page + 1).to_string() };
        let count = if self.0 == "items" { 50 } else { 1 };
        let name = if self.0 == "bytes" { "x".repeat(3_000) } else { String::new() };
        let items = (0..count).map(|n| Tool::new(format!("{name}{page}-{n}"))).collect();
        Ok(Page { items, next_cursor: Some(next) }.into())
    }
}

#[tokio::test]
async fn a_list_without_an_end_is_an_error() {
    let cases = [
        ("same cursor", "\"again\" repeats"),
        ("pages", "more than 40 pages"),
        ("items", "more than 500 items"),
        ("bytes", "more than 60000 bytes"),
    ];
    for (way, message) in cases {
        let (here, there) = memory(LinkKind::Shared);
        let _running = Server::new(Endless(way)).spawn(there);
        let options = ClientOptions {
            max_pages: 40,
            max_items: 500,
            max_list_bytes: 60_000,
            ..ClientOptions::default()
        };
        let client = within(ClientBuilder::with_options(options).connect(here)).await.unwrap();
        let error = within(client.list_tools()).await.unwrap_err().to_string();
        assert!(error.contains("tools/list") && error.contains(message), "{error}");
    }
}

#[tokio::test]
async fn notifications_are_awaited_and_counted() {
    let connection = TestConnection::start(Revision::V2025_11_25).await;
    connection.client.ping().await.unwrap();
    let inbox = connection.client.notifications().clone();
    let waiting = tokio::spawn(async move {
        inbox.wait_for("notifications/tools/list_changed", 3, TEST_TIMEOUT).await
    });
    for _ in 0..3 {
        connection.server.tools_changed();
    }
    assert_eq!(within(waiting).await.unwrap().unwrap().len(), 3);
    let inbox = connection.client.notifications();
    assert_eq!(inbox.count("notifications/tools/list_changed"), 3);
    let none =
        inbox.wait_for("notifications/prompts/list_changed", 1, Duration::from_millis(5)).await;
    assert!(none.unwrap_err().to_string().contains("0 of 1 received"));
}

#[tokio::test]
async fn the_transcript_has_every_frame_both_ways() {
    let connection = TestConnection::start(Revision::V2026_07_28).await;
    connection.client.call_tool("echo", json!({"message": "hi"})).await.unwrap();
    let entries = connection.client.transcript().entries();
    let kinds: Vec<_> = entries
        .iter()
        .map(|entry| (entry.from.name(), entry.frame.method().unwrap_or("reply")))
        .collect();
    let expected = [
        ("client", "server/discover"),
        ("server", "reply"),
        ("client", "tools/call"),
        ("server", "reply"),
    ];
    assert_eq!(kinds, expected);
    assert!(entries.windows(2).all(|pair| pair[0].at <= pair[1].at));
}

#[tokio::test]
async fn tasks_pass_through_raw() {
    struct Tasks;
    impl Handler for Tasks {
        fn capabilities(&self) -> ServerCapabilities {
            let tasks = json!({"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}});
            ServerCapabilities::none().tools().with("tasks", tasks)
        }
        async fn other_request(&self, cx: &Context) -> HandlerResult {
            match cx.method() {
                "tasks/list" => Ok(json!({"tasks": []}).into()),
                other => Err(sparring_wire::ErrorObject::method_not_found(other).into()),
            }
        }
    }
    let (here, there) = memory(LinkKind::Shared);
    let _running = Server::new(Tasks).spawn(there);
    let client =
        within(Client::builder().revision(Revision::V2025_11_25).connect(here)).await.unwrap();
    let listed: Value = client.request("tasks/list", None).await.unwrap().to().unwrap();
    assert_eq!(listed, json!({"tasks": []}));
    assert_eq!(client.transcript().violations(), []);
}

#[tokio::test]
async fn the_client_never_uses_an_id_twice() {
    let connection = TestConnection::start(Revision::V2025_11_25).await;
    for _ in 0..50 {
        connection.client.ping().await.unwrap();
    }
    let entries = connection.client.transcript().entries();
    let ids: Vec<_> = entries
        .iter()
        .filter(|entry| entry.frame.method().is_some())
        .filter_map(|entry| entry.frame.id().cloned())
        .collect();
    assert_eq!(ids.len(), ids.iter().collect::<HashSet<_>>().len());
    assert_eq!(ids.len(), 51);
    let frame = Frame::request(&ids[0], "x", None);
    assert_eq!(frame.id(), Some(&ids[0]));
}
