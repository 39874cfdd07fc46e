//! The journal, its observer and expectations.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use serde_json::json;
use sparring_mock::journal::ReceivedRequest;
use sparring_peer::{Client, LineLink};
use sparring_transport::http::{Credentials, HttpLink, HttpTarget, HttpTransport};
use sparring_wire::Revision;

use crate::fixture::{call, call_text, connect, listen, mock, over_http, within};

const SCRIPT: &str = "
tools:
  - {name: weather, input: {city: string}, text: \"sun in ${args.city}\"}
  - {name: other, error: {code: 5, message: no}}
resources: [{uri: \"a://b\", text: x}]
prompts: [{name: p, text: x}]
";

#[tokio::test]
async fn records_every_request_with_its_answer() {
    let mock = mock(SCRIPT);
    for revision in Revision::ALL {
        let client = connect(&mock, revision).await;
        let before = mock.received().len();
        call_text(&client, "weather", json!({"city": "Oslo"})).await;
        call(&client, "other", json!({})).await;
        client.read_resource("a://b").await.unwrap();
        client.get_prompt("p", json!({})).await.unwrap();
        client.list_tools().await.unwrap();
        let received = mock.received().split_off(before);
        let methods: Vec<&str> = received.iter().map(|it| it.method()).collect();
        let expected = ["tools/call", "tools/call", "resources/read", "prompts/get", "tools/list"];
        assert_eq!(methods, expected, "{revision}");
        assert_eq!(received[0].name().as_deref(), Some("weather"));
        assert_eq!(received[0].arguments(), json!({"city": "Oslo"}));
        assert_eq!(received[0].revision(), revision);
        let result = received[0].result().unwrap().view();
        assert!(result.text().contains("sun in Oslo"), "{result}");
        assert_eq!(received[1].error().unwrap().code, 5);
        assert_eq!(received[2].name().as_deref(), Some("a://b"));
    }
    assert_eq!(mock.received_for("weather").len(), 5);
    assert_eq!(mock.dropped_requests(), 0);
}

#[tokio::test]
async fn records_the_client_and_the_requests_that_the_server_answers_itself() {
    for revision in Revision::ALL {
        let mock = mock(SCRIPT);
        let builder = Client::builder().revision(revision).info("agent", "7").roots(["file:///a"]);
        let client = within(builder.connect(mock.connect())).await.unwrap();
        if revision.is_modern() {
            within(client.request("server/discover", None).into_future()).await.unwrap();
        } else {
            within(client.ping()).await.unwrap();
            let level = json!({"level": "error"});
            let setting = client.request("logging/setLevel", Some(level.into()));
            within(setting.into_future()).await.unwrap();
        }
        let nothing = client.request("tools/call", Some(json!({}).into()));
        within(nothing.into_future()).await.unwrap();
        within(client.request("no/such", None).into_future()).await.unwrap();
        let received = mock.received();
        let methods: Vec<&str> = received.iter().map(ReceivedRequest::method).collect();
        let expected = match revision.is_modern() {
            true => &["server/discover", "tools/call", "no/such"][..],
            false => &["initialize", "ping", "logging/setLevel", "tools/call", "no/such"],
        };
        assert!(methods.ends_with(expected), "{revision}: {methods:?}");
        for request in &received {
            let info = request.client_info().unwrap();
            assert_eq!((&*info.name, &*info.version), ("agent", "7"), "{revision}");
            assert!(request.capabilities().unwrap().get("roots").is_some(), "{revision}");
            let line = request.to_json();
            assert_eq!(line["client_info"]["name"], "agent", "{line}");
            assert!(line["capabilities"]["roots"].is_object(), "{line}");
            // The script has no log messages, so `logging` is not declared.
            let failing = ["logging/setLevel", "tools/call", "no/such"];
            let ends = failing.contains(&request.method());
            let outcome = (request.error().is_some(), request.result().is_some());
            assert_eq!(outcome, (ends, !ends), "{revision}: {line}");
        }
    }
}

#[tokio::test]
async fn records_how_clients_connect_over_http() {
    for (revision, transport, first) in [
        (Revision::V2024_11_05, HttpTransport::Sse, "initialize"),
        (Revision::LATEST_LEGACY, HttpTransport::Streamable, "initialize"),
        (Revision::LATEST, HttpTransport::Streamable, "server/discover"),
    ] {
        let mock = mock(SCRIPT);
        let serving = listen(&mock).await;
        let client = over_http(&mock, &serving, revision, transport).await;
        within(client.request("server/discover", None).into_future()).await.ok();
        let received = mock.received();
        assert_eq!(received[0].method(), first, "{revision}");
        assert!(received[0].client_info().is_some() && received[0].headers().is_some());
        assert!(received[0].capabilities().unwrap().get("sampling").is_some());
    }
}

#[tokio::test]
async fn records_headers_without_secrets() {
    let mock = mock(&format!("auth: {{bearer: [hunter2]}}{SCRIPT}"));
    let serving = listen(&mock).await;
    let mut target = HttpTarget::new(mock.urls(serving.address().unwrap()).mcp);
    target.credentials = Some(Credentials::Bearer("hunter2".into()));
    target.headers.push(("X-Trace".to_owned(), "t1".to_owned()));
    let lines = Arc::new(Mutex::new(Vec::new()));
    let written = Arc::clone(&lines);
    mock.on_received(move |it| written.lock().unwrap().push(it.to_json().to_string()));
    let client = within(Client::connect(HttpLink::new(&target).unwrap())).await.unwrap();
    call_text(&client, "weather", json!({"city": "Oslo"})).await;
    let received = mock.received_for("weather").remove(0);
    assert_eq!(received.headers().and_then(|headers| headers.get("x-trace")), Some("t1"));
    let lines = lines.lock().unwrap();
    let line = lines.iter().find(|line| line.contains("sun in Oslo")).unwrap();
    assert!(line.contains("\"x-trace\":\"t1\"") && line.contains("(hidden)"), "{line}");
    assert!(!line.contains("hunter2"), "{line}");
}

#[tokio::test]
async fn records_transport_and_session() {
    let mock = mock(SCRIPT);
    let serving = listen(&mock).await;
    let (ours, theirs) = tokio::io::duplex(64 * 1024);
    let clients = async {
        let mut clients = Vec::new();
        for revision in [Revision::LATEST, Revision::V2024_11_05] {
            clients.push(connect(&mock, revision).await);
        }
        clients.push(within(Client::connect(LineLink::from_stream(theirs))).await.unwrap());
        for (revision, transport) in [
            (Revision::V2024_11_05, HttpTransport::Sse),
            (Revision::LATEST_LEGACY, HttpTransport::Streamable),
            (Revision::LATEST, HttpTransport::Streamable),
        ] {
            clients.push(over_http(&mock, &serving, revision, transport).await);
        }
        for client in clients.iter().chain(&clients) {
            call(client, "weather", json!({"city": "Oslo"})).await;
        }
    };
    tokio::select! {
        _ = mock.serve(LineLink::from_stream(ours)) => panic!("it ended"),
        () = within(clients) => {}
    }
    let named = |it: &ReceivedRequest| (it.transport(), it.session(), it.headers().is_some());
    let received: Vec<_> = mock.received_for("weather").iter().map(named).collect();
    let (first, second) = received.split_at(6);
    assert_eq!(first, second, "a client that reconnects has the same session");
    let transports: Vec<_> = first.iter().map(|it| (it.0, it.2)).collect();
    let expected = [
        ("memory", false),
        ("memory", false),
        ("stdio", false),
        ("sse", true),
        ("http", true),
        ("http", true),
    ];
    assert_eq!(transports, expected);
    assert_eq!(first[5].1, None, "a request that stands for itself has no session");
    let sessions: HashSet<_> = first[..5].iter().map(|it| it.1.unwrap()).collect();
    assert_eq!(sessions.len(), 5);
    let line = mock.received_for("weather")[3].to_json();
    assert_eq!((&line["transport"], &line["session"]), (&json!("sse"), &json!(first[3].1)));
}

#[tokio::test]
async fn a_failed_expectation_shows_the_nearest_call() {
    let mock = mock(SCRIPT);
    let reported = |expectation: sparring_mock::journal::Expectation| {
        expectation.check().map_err(|miss| miss.to_string())
    };
    let none = reported(mock.expect_called("weather")).unwrap_err();
    assert_eq!(none, "'weather' was called 0 times, expected at least 1; no tool was called");
    let client = connect(&mock, Revision::LATEST).await;
    for city in ["Oslo", "Paris", "Oslo"] {
        call_text(&client, "weather", json!({"city": city})).await;
    }
    mock.expect_called("weather").verify();
    mock.expect_called("weather").times(3).verify();
    mock.expect_called("weather").with(json!({"city": "Oslo"})).times(2).verify();
    mock.expect_called("weather").with(json!({"city": {"starts_with": "P"}})).times(1).verify();
    mock.expect_called("weather").at_least(2).verify();
    mock.expect_called("other").never().verify();
    let near = reported(mock.expect_called("weather").with(json!({"city": "London"}))).unwrap_err();
    assert_eq!(
        near,
        "'weather' was called 0 times with {\"city\":\"London\"}, expected at least 1; nearest \
         call: {\"city\":\"Oslo\"}\n  at city: expected \"London\", found \"Oslo\""
    );
    let often = reported(mock.expect_called("weather").times(1)).unwrap_err();
    assert_eq!(often, "'weather' was called 3 times, expected 1");
    let misspelt = reported(mock.expect_called("wether")).unwrap_err();
    assert!(misspelt.ends_with("did you mean 'weather'?"), "{misspelt}");
    let wrong = reported(mock.expect_called("weather").with(json!({"city": {"matches": "("}})));
    assert!(wrong.unwrap_err().contains("invalid regular expression"));
    let long = "a".repeat(40) + "!";
    call_text(&client, "weather", json!({"city": long})).await;
    let slow = json!({"city": {"matches": "^(?:(?=a)a+)+$"}});
    let doubt = reported(mock.expect_called("weather").with(slow).never()).unwrap_err();
    assert!(doubt.contains("gave up after too many steps"), "{doubt}");
}

#[tokio::test]
async fn records_requests_without_an_answer() {
    let mock = mock("tools: [{name: silent, fault: {silent: true}}]");
    let lines = Arc::new(Mutex::new(Vec::new()));
    let written = Arc::clone(&lines);
    mock.on_received(move |it| written.lock().unwrap().push(it.to_json()));
    let client = connect(&mock, Revision::LATEST).await;
    let call = client.call_tool("silent", json!({"x": 1})).start();
    client.list_tools().await.unwrap();
    mock.expect_called("silent").with(json!({"x": 1})).times(1).verify();
    let received = mock.received_for("silent").remove(0);
    assert!(received.result().is_none() && received.error().is_none());
    drop(call);
    while !lines.lock().unwrap().iter().any(|line| line["unanswered"] == true) {
        within(client.ping()).await.unwrap();
    }
}

#[tokio::test]
async fn drops_the_oldest_requests() {
    let mock = mock(SCRIPT);
    let client = connect(&mock, Revision::LATEST).await;
    // The first request is `server/discover`.
    for _ in 0..10_049 {
        client.get_prompt("p", json!({})).await.unwrap();
    }
    assert_eq!((mock.received().len(), mock.dropped_requests()), (10_000, 50));
}
