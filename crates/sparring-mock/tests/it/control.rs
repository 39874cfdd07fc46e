//! Changes to a running mock, in Rust and over HTTP.

use serde_json::{Value, json};
use sparring_mock::{ControlKeys, HttpMock, HttpReply, MockServer, Reply, Settings, ToolMock};
use sparring_peer::Client;
use sparring_peer::client::SubscriptionFilter;
use sparring_transport::http::{
    Credentials, HttpLink, HttpServerHandle, HttpTarget, HttpTransport,
};
use sparring_wire::Revision;

use crate::fixture::{TIMEOUT, call, call_text, connect, listen, mock, over_http, within};

const SCRIPT: &str = "
seed: 1
tools:
  - {name: a, replies: [{text: once, times: 1}, {text: \"${counter.n}\"}]}
  - {name: b, hidden: true, text: x}
";

#[tokio::test]
async fn notifies_clients_of_registered_and_removed_tools() {
    let mock = mock(SCRIPT);
    for revision in [Revision::LATEST_LEGACY, Revision::LATEST] {
        let client = connect(&mock, revision).await;
        let filter =
            SubscriptionFilter { tools_list_changed: true, ..SubscriptionFilter::default() };
        let mut standing = match revision.is_modern() {
            true => Some(within(client.listen(filter)).await.unwrap()),
            false => None,
        };
        let mut count = 0;
        let mut reported = async || match &mut standing {
            Some(standing) => drop(standing.next(TIMEOUT).await.unwrap()),
            None => {
                count += 1;
                let method = "notifications/tools/list_changed";
                client.notifications().wait_for(method, count, TIMEOUT).await.unwrap();
            }
        };
        let names = async || {
            let tools = client.list_tools().await.unwrap();
            tools.into_iter().map(|tool| tool.name).collect::<Vec<_>>().join(" ")
        };
        mock.register(ToolMock::new("new").reply(Reply::text("hi ${args.x:-you}"))).unwrap();
        reported().await;
        assert_eq!(names().await, "a new");
        assert_eq!(call_text(&client, "new", json!({})).await, "hi you");
        mock.register(ToolMock::new("new").reply(Reply::text("other"))).unwrap();
        reported().await;
        assert_eq!(call_text(&client, "new", json!({})).await, "other");
        mock.remove("new").unwrap();
        reported().await;
        assert_eq!(names().await, "a");
        assert_eq!(call(&client, "new", json!({})).await.error_code(), Some(-32602));
    }
    let reported = mock.remove("nwe").unwrap_err().to_string();
    assert!(reported.contains("Tool 'nwe' not found"), "{reported}");
    let reported = mock.register(ToolMock::new("bad").with("txt", "x")).unwrap_err().to_string();
    assert!(reported.contains("unknown key `txt` in a tool"), "{reported}");
}

#[tokio::test]
async fn a_reset_notifies_only_of_changed_lists() {
    let mock = mock("tools: [{name: t, text: a}]\nprompts: [{name: p, text: a}]");
    let client = connect(&mock, Revision::LATEST_LEGACY).await;
    mock.reset();
    mock.register(ToolMock::new("new").reply(Reply::text("x"))).unwrap();
    mock.reset();
    // Notifications before an answer arrive before it.
    assert_eq!(client.list_tools().await.unwrap().len(), 1);
    let reported = client.notifications();
    assert_eq!((reported.count("notifications/tools/list_changed"), reported.total()), (2, 2));
    assert_eq!(client.transcript().violations(), []);
}

#[tokio::test]
async fn gives_enqueued_replies_first_until_a_reset() {
    let mock = mock(SCRIPT);
    let client = connect(&mock, Revision::LATEST).await;
    let next = async || call_text(&client, "a", json!({})).await;
    mock.enqueue("a", Reply::text("first")).unwrap();
    mock.enqueue("a", Reply::text("second")).unwrap();
    let mut answers = Vec::new();
    for _ in 0..4 {
        answers.push(next().await);
    }
    assert_eq!(answers, ["first", "second", "once", "1"]);
    assert!(mock.enqueue("nope", Reply::text("x")).is_err());
    assert!(mock.enqueue("a", Reply::text("${agrs}")).is_err());
    mock.enqueue("a", Reply::text("forgotten")).unwrap();
    mock.reset();
    assert!(mock.received().is_empty());
    assert_eq!((next().await, next().await), ("once".to_owned(), "1".to_owned()));
}

/// Sends a request to `/_spar/`.
async fn ask(
    serving: &HttpServerHandle,
    method: &str,
    path: &str,
    token: Option<&str>,
    body: Option<Value>,
) -> (u16, Value) {
    let url = format!("http://{}{path}", serving.address().unwrap());
    let method = reqwest::Method::from_bytes(method.as_bytes()).unwrap();
    let mut request = reqwest::Client::new().request(method, url);
    if let Some(token) = token {
        request = request.header("authorization", format!("Bearer {token}"));
    }
    if let Some(body) = body {
        request = request.body(body.to_string());
    }
    let response = within(request.send()).await.unwrap();
    let status = response.status().as_u16();
    let text = within(response.text()).await.unwrap();
    (status, serde_json::from_str(&text).unwrap_or(Value::String(text)))
}

#[tokio::test]
async fn changes_the_mock_over_http() {
    let mock = mock(SCRIPT);
    let serving = listen(&mock).await;
    let client = connect(&mock, Revision::LATEST_LEGACY).await;
    let ask = async |method, path: &str, body| ask(&serving, method, path, None, body).await;
    assert_eq!(ask("GET", "/health", None).await.1["status"], "ok");
    let reply = json!({"tool": "a", "reply": {"text": "in advance"}});
    assert_eq!(ask("POST", "/_spar/enqueue", Some(reply)).await.0, 200);
    assert_eq!(call_text(&client, "a", json!({"x": 1})).await, "in advance");
    let tool = json!({"name": "later", "text": "here"});
    assert_eq!(ask("POST", "/_spar/tools", Some(tool)).await.0, 200);
    assert_eq!(call_text(&client, "later", json!({})).await, "here");
    assert_eq!(ask("DELETE", "/_spar/tools/later", None).await.0, 200);
    assert_eq!(ask("DELETE", "/_spar/tools/later", None).await.0, 404);
    let notification = json!({"method": "acme/ready", "params": {"n": 1}});
    assert_eq!(ask("POST", "/_spar/notify", Some(notification)).await.0, 200);
    let reported = client.notifications().wait_for("notifications/acme/ready", 1, TIMEOUT).await;
    assert_eq!(reported.unwrap().len(), 1);
    let journal = ask("GET", "/_spar/journal", None).await.1;
    let received = journal["received"].as_array().unwrap();
    let call = received.iter().find(|it| it["method"] == "tools/call").unwrap();
    assert_eq!(call["params"]["arguments"], json!({"x": 1}));
    assert_eq!(ask("POST", "/_spar/reset", None).await.0, 200);
    assert_eq!(ask("GET", "/_spar/journal", None).await.1["received"], json!([]));
    for (method, path, body, status) in [
        ("POST", "/_spar/tools", Some(json!({"nmae": "x"})), 400),
        ("POST", "/_spar/tools", None, 400),
        ("POST", "/_spar/enqueue", Some(json!({"tool": "nope", "reply": {"text": "x"}})), 404),
        ("POST", "/_spar/notify", Some(json!({})), 400),
        ("GET", "/_spar/nothing", None, 404),
        ("GET", "/_spar", None, 404),
    ] {
        assert_eq!(ask(method, path, body).await.0, status, "{method} {path}");
    }
}

#[tokio::test]
async fn a_tool_that_is_registered_over_http_calls_its_upstream_until_it_is_removed() {
    let upstream = HttpMock::start().await.unwrap();
    let control_keys = ControlKeys { http: true, ..ControlKeys::default() };
    let settings = Settings { control_keys, ..Settings::default() };
    let mock = MockServer::from_yaml_with(SCRIPT, "tests", &settings).unwrap();
    let serving = listen(&mock).await;
    let ask = async |method, path: &str, body| ask(&serving, method, path, None, body).await;
    for (revision, transport) in [
        (Revision::V2024_11_05, HttpTransport::Sse),
        (Revision::LATEST_LEGACY, HttpTransport::Streamable),
        (Revision::LATEST, HttpTransport::Streamable),
    ] {
        let client = over_http(&mock, &serving, revision, transport).await;
        upstream.enqueue(HttpReply::json(&json!({"temperature": 15})));
        let url = upstream.url("/weather");
        let tool = json!({
            "name": "weather-api", "description": "Get weather data", "input": {"city": "string"},
            "http": {"url": url, "query": {"city": "${args.city}"}},
        });
        assert_eq!(ask("POST", "/_spar/tools", Some(tool)).await.0, 200);
        let tools = within(client.list_tools().into_future()).await.unwrap();
        let listed = tools.iter().find(|tool| tool.name == "weather-api").unwrap();
        assert_eq!(listed.description.as_deref(), Some("Get weather data"));
        assert_eq!(listed.input_schema["required"], json!(["city"]));
        let response = call(&client, "weather-api", json!({"city": "London"})).await;
        assert!(!response.is_error());
        assert_eq!(response.content(), "{\"temperature\":15}");
        let request = upstream.take_request(TIMEOUT).await.unwrap();
        assert_eq!((&*request.method, &*request.path), ("GET", "/weather"));
        assert_eq!(request.query.as_deref(), Some("city=London"));
        upstream.enqueue(HttpReply::new(500).body("out of order"));
        let response = call(&client, "weather-api", json!({"city": "Oslo"})).await;
        assert!(response.is_error() && response.content().contains("500"), "{response:?}");
        assert!(upstream.take_request(TIMEOUT).await.is_some());
        assert_eq!(ask("DELETE", "/_spar/tools/weather-api", None).await.0, 200);
        let before = upstream.total();
        let gone = call(&client, "weather-api", json!({"city": "London"})).await;
        assert_eq!(gone.error_code(), Some(-32602));
        assert_eq!(upstream.total(), before);
    }
}

#[tokio::test]
async fn rejects_control_without_permission() {
    let mock = mock("control: {token: secret}\ntools: [{name: a, text: x}]");
    let serving = listen(&mock).await;
    for (token, status) in [(None, 401), (Some("wrong"), 401), (Some("secret"), 200)] {
        assert_eq!(ask(&serving, "GET", "/_spar/journal", token, None).await.0, status);
    }
    assert_eq!(ask(&serving, "GET", "/health", None, None).await.0, 200);
    for (script, status) in [
        ("tools: [{name: a, text: x}]", 403),
        ("control: {anywhere: true, token: t}\ntools: [{name: a, text: x}]", 200),
    ] {
        let mock = crate::fixture::mock(script);
        let serving = mock.listen("0.0.0.0:0".parse().unwrap()).await.unwrap();
        let port = serving.address().unwrap().port();
        let url = format!("http://127.0.0.1:{port}/_spar/journal");
        let request = reqwest::Client::new().get(url).bearer_auth("t").send();
        let response = within(request).await.unwrap();
        assert_eq!(response.status().as_u16(), status, "{script}");
    }
}

#[tokio::test]
async fn control_needs_the_credentials_of_the_mcp_endpoint() {
    for (script, expected) in [
        ("auth: {bearer: good}", [401, 403, 200]),
        // Its own token is another one.
        ("auth: {bearer: good}\ncontrol: {token: own}", [401, 401, 401]),
    ] {
        let mock = mock(&format!("{script}\ntools: [{{name: a, text: x}}]"));
        let serving = listen(&mock).await;
        for (token, status) in [None, Some("bad"), Some("good")].into_iter().zip(expected) {
            let tool = json!({"name": "b", "text": "y"});
            let answer = ask(&serving, "POST", "/_spar/tools", token, Some(tool)).await;
            assert_eq!(answer.0, status, "{script} {token:?}: {answer:?}");
        }
        assert_eq!(ask(&serving, "GET", "/health", None, None).await.0, 200);
    }
    let script = "control: {anywhere: true}\ntools: [{name: a, text: x}]";
    let problems = MockServer::from_yaml(script, "tests").unwrap_err().to_string();
    assert!(problems.contains("`anywhere` needs a `token`"), "{problems}");
}

/// Registers a resource with a file, and returns the status and the answer.
async fn register_file(mock: &MockServer, file: &str) -> (u16, String) {
    let serving = listen(mock).await;
    let tool = json!({
        "name": "f",
        "replies": [{"content": [{"resource": {"uri": "a://b", "file": file}}]}],
    });
    let (status, answer) = ask(&serving, "POST", "/_spar/tools", None, Some(tool)).await;
    (status, answer.to_string())
}

#[tokio::test]
async fn a_change_over_http_reads_files_only_below_the_folder_and_if_allowed() {
    let folder = tempfile::tempdir().unwrap();
    let script_folder = folder.path().join("script");
    std::fs::create_dir(&script_folder).unwrap();
    std::fs::write(script_folder.join("inside"), "in").unwrap();
    std::fs::write(folder.path().join("outside"), "out").unwrap();
    std::os::unix::fs::symlink("../outside", script_folder.join("link")).unwrap();
    std::process::Command::new("mkfifo").arg(script_folder.join("pipe")).status().unwrap();
    let load = |control_keys| {
        let settings = Settings { control_keys, ..Settings::default() };
        MockServer::from_yaml_with("tools: []", &script_folder, &settings).unwrap()
    };
    let refused = register_file(&load(ControlKeys::default()), "inside").await;
    assert!(refused.0 == 400 && refused.1.contains("--allow-control file"), "{refused:?}");
    let mock = load(ControlKeys { file: true, ..ControlKeys::default() });
    let outside = folder.path().join("outside").display().to_string();
    for (file, expected) in [
        ("inside", "done"),
        ("../outside", "no such file below"),
        (&outside, "no such file below"),
        ("link", "no such file below"),
        ("missing", "no such file below"),
        ("pipe", "not a regular file"),
    ] {
        let answer = register_file(&mock, file).await;
        assert!(answer.1.contains(expected), "{file}: {answer:?}");
    }
}

#[tokio::test]
async fn a_change_over_http_cannot_pass_on_credentials() {
    let load = |http| {
        let control_keys = ControlKeys { http, ..ControlKeys::default() };
        let settings = Settings { control_keys, ..Settings::default() };
        MockServer::from_yaml_with("tools: []", "tests", &settings).unwrap()
    };
    let check = async |http: bool, tool: Value, expected: &str| {
        let mock = load(http);
        let serving = listen(&mock).await;
        let (_, answer) = ask(&serving, "POST", "/_spar/tools", None, Some(tool)).await;
        assert!(answer.to_string().contains(expected), "{http} {expected}: {answer}");
    };
    let plain = json!({"name": "t", "http": {"url": "http://127.0.0.1:1/"}});
    check(false, plain.clone(), "a change over HTTP cannot use `http`").await;
    check(true, plain, "done").await;
    let stealing = "http://127.0.0.1:1/${headers.authorization}";
    let stealing = json!({"name": "t", "http": {"url": stealing}});
    check(true, stealing, "a change over HTTP cannot use this header").await;
    let shown = json!({"name": "t", "text": "${headers.Cookie} ${headers.accept}"});
    check(false, shown, "${headers.Cookie}: a change over HTTP cannot use this header").await;
    check(false, json!({"name": "t", "text": "${headers.accept}"}), "done").await;
}

#[tokio::test]
async fn a_change_over_http_does_not_see_the_credentials_of_other_clients() {
    let script = "auth: {bearer: [own, secret-of-the-other]}\n\
                  tools: [{name: a, text: x}, {name: echo, json: \"${headers}\"}]";
    let mock = mock(script);
    let serving = listen(&mock).await;
    let register =
        async |tool: Value| ask(&serving, "POST", "/_spar/tools", Some("own"), Some(tool)).await;
    for tool in [
        json!({"name": "text", "text": "${headers}"}),
        json!({"name": "json", "json": "${headers}"}),
        json!({"name": "structured", "structured": {"h": "${headers}"}}),
        json!({"name": "result", "result": {"content": [], "_meta": {"h": "${headers}"}}}),
    ] {
        let answer = register(tool.clone()).await;
        assert_eq!(answer.0, 200, "{answer:?}");
    }
    let answer = register(json!({"name": "b", "replies": [
        {"when": {"headers": {"Authorization": {"starts_with": "Bearer s"}}}, "text": "yes"},
        {"text": "no"},
    ]}))
    .await;
    let expected = "`Authorization`: a change over HTTP cannot use this header";
    assert!(answer.1.to_string().contains(expected), "{answer:?}");
    let mut target = HttpTarget::new(mock.urls(serving.address().unwrap()).mcp);
    target.credentials = Some(Credentials::Bearer("secret-of-the-other".into()));
    let client = within(Client::connect(HttpLink::new(&target).unwrap())).await.unwrap();
    for tool in ["text", "json", "structured", "result"] {
        let answer = call(&client, tool, json!({})).await;
        let text = String::from_utf8_lossy(answer.raw().bytes()).into_owned();
        assert!(!text.contains("secret-of-the-other"), "{tool}: {text}");
    }
    // The script itself may use them, and the journal does not tell other clients.
    assert!(call_text(&client, "echo", json!({})).await.contains("Bearer secret-of-the-other"));
    let journal = ask(&serving, "GET", "/_spar/journal", Some("own"), None).await.1.to_string();
    assert!(!journal.contains("secret-of-the-other"), "{journal}");
}

#[tokio::test]
async fn limits_what_clients_add_over_http() {
    let mock = mock(SCRIPT);
    let serving = listen(&mock).await;
    let ask = async |method, path: &str, body| ask(&serving, method, path, None, body).await;
    let large = "x".repeat(7 * 1024 * 1024);
    let tool = |name: &str| json!({"name": name, "text": large});
    let reply = json!({"tool": "a", "reply": {"text": large}});
    for number in 0..4 {
        assert_eq!(ask("POST", "/_spar/tools", Some(tool(&number.to_string()))).await.0, 200);
        assert_eq!(ask("POST", "/_spar/enqueue", Some(reply.clone())).await.0, 200);
    }
    assert_eq!(ask("POST", "/_spar/enqueue", Some(reply.clone())).await.0, 200);
    for (path, body) in [("/_spar/tools", tool("more")), ("/_spar/enqueue", reply.clone())] {
        let (status, answer) = ask("POST", path, Some(body)).await;
        assert_eq!(status, 400);
        let expected = "added over HTTP need more than 67108864 bytes";
        assert!(answer.to_string().contains(expected), "{answer}");
    }
    // What is removed, given or replaced counts no more.
    assert_eq!(ask("DELETE", "/_spar/tools/0", None).await.0, 200);
    assert_eq!(ask("POST", "/_spar/tools", Some(tool("more"))).await.0, 200);
    let client = connect(&mock, Revision::LATEST).await;
    call(&client, "a", json!({})).await;
    assert_eq!(ask("POST", "/_spar/enqueue", Some(reply.clone())).await.0, 200);
    mock.enqueue("a", Reply::text("the owner has no limit")).unwrap();
    assert_eq!(ask("POST", "/_spar/reset", None).await.0, 200);
    for number in 0..1_000 {
        let tool = json!({"name": number.to_string(), "text": "x"});
        assert_eq!(ask("POST", "/_spar/tools", Some(tool)).await.0, 200);
    }
    let (status, answer) =
        ask("POST", "/_spar/tools", Some(json!({"name": "t", "text": "x"}))).await;
    assert!(status == 400 && answer.to_string().contains("already 1000 tools"), "{answer}");
    let replaced = json!({"name": "999", "text": "y"});
    assert_eq!(ask("POST", "/_spar/tools", Some(replaced)).await.0, 200);
}
