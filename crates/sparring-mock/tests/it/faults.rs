//! What goes wrong on purpose, as a client meets it over each transport.

use std::future::IntoFuture;
use std::time::Duration;

use serde_json::json;
use sparring_mock::{MockServer, ProcessFault};
use sparring_peer::client::Error;
use sparring_peer::{Client, Response};
use sparring_transport::http::{HttpTransport, Serving};
use sparring_wire::Revision;

use crate::fixture::{PATIENCE, connect, listen, mock, over_http, within};

const SCRIPT: &str = "
tools:
  - {name: fine, text: fine}
  - {name: garbage, fault: {garbage: true}}
  - {name: own_garbage, fault: {garbage: \"]]\"}}
  - {name: truncate, text: something, fault: {truncate: true}}
  - {name: raw, raw: \"{\\\"jsonrpc\\\": \\\"1.0\\\"}\"}
  - {name: wrong_id, text: x, fault: {wrong_id: true}}
  - {name: duplicate, text: twice, fault: {duplicate: true}}
  - {name: oversized, text: long, fault: {oversized: 100000}}
  - {name: silent, fault: {silent: true}}
  - {name: slow, text: slowly, fault: {slow: 500}}
  - {name: before, text: x, fault: {disconnect: before}}
  - {name: middle, text: x, fault: {disconnect: middle}}
  - {name: after, text: the last word, fault: {disconnect: after}}
  - {name: noise, text: heard, fault: {stdout_noise: hello from a print}}
  - {name: late, delay: 50ms, text: too late, fault: {late: true}}
  - {name: exit, fault: {exit: 7, stderr_flood: 100}}
  - {name: status, text: x, fault: {status: 503}}
  - {name: content_type, text: x, fault: {bad_content_type: text/html}}
  - {name: drop_sse, text: x, fault: {drop_sse: true}}
  - {name: expire, text: the end, fault: {expire_session: true}}
  - {name: streamed, during: [{log: x}], text: x, fault: {disconnect: middle}}
";

/// Where a mock is met.
struct Place {
    mock: MockServer,
    serving: Option<Serving>,
    revision: Revision,
    transport: HttpTransport,
}

impl Place {
    /// All places: in memory, and over HTTP in each of its ways.
    async fn all() -> Vec<Place> {
        let mut places = Vec::new();
        for (revision, transport) in [
            (Revision::LATEST, None),
            (Revision::LATEST_LEGACY, None),
            (Revision::LATEST, Some(HttpTransport::Streamable)),
            (Revision::LATEST_LEGACY, Some(HttpTransport::Streamable)),
            (Revision::V2024_11_05, Some(HttpTransport::Sse)),
        ] {
            let mock = mock(SCRIPT);
            let serving = match transport {
                Some(_) => Some(listen(&mock).await),
                None => None,
            };
            let transport = transport.unwrap_or(HttpTransport::Auto);
            places.push(Place { mock, serving, revision, transport });
        }
        places
    }

    fn is_memory(&self) -> bool {
        self.serving.is_none()
    }

    fn name(&self) -> String {
        let way =
            if self.is_memory() { "memory".to_owned() } else { format!("{:?}", self.transport) };
        format!("{way} {}", self.revision)
    }

    async fn client(&self) -> Client {
        match &self.serving {
            None => connect(&self.mock, self.revision).await,
            Some(serving) => over_http(&self.mock, serving, self.revision, self.transport).await,
        }
    }

    /// Calls a tool on a fresh connection.
    async fn call(&self, tool: &str) -> (Client, Result<Response, Error>) {
        let client = self.client().await;
        let call = client.call_tool(tool, json!({})).timeout(Duration::from_secs(2));
        let answer = within(call.into_future()).await;
        (client, answer)
    }
}

#[tokio::test]
async fn an_answer_that_is_none_is_no_answer() {
    for place in Place::all().await {
        let tools = [
            "garbage",
            "own_garbage",
            "truncate",
            "raw",
            "wrong_id",
            "before",
            "middle",
            "streamed",
        ];
        for tool in tools {
            let (_client, answer) = place.call(tool).await;
            // A stream of 2025-11-25 says where it is, and the client comes back.
            let resumed = tool == "streamed" && place.name() == "Streamable 2025-11-25";
            assert_eq!(answer.is_ok(), resumed, "{tool} over {}: {answer:?}", place.name());
        }
        // Nothing of that hurts the server.
        let (_client, answer) = place.call("fine").await;
        assert_eq!(answer.unwrap().content(), "fine", "{}", place.name());
    }
}

#[tokio::test]
async fn bytes_are_sent_exactly_as_told() {
    let place = Place::all().await.remove(0);
    for (tool, expected) in [("raw", "{\"jsonrpc\": \"1.0\"}"), ("own_garbage", "]]")] {
        let (client, _) = place.call(tool).await;
        let seen = client.transcript().entries();
        assert!(seen.iter().any(|entry| entry.frame.bytes() == expected.as_bytes()), "{tool}");
    }
}

#[tokio::test]
async fn an_answer_comes_twice_or_too_long_and_is_an_answer_all_the_same() {
    for place in Place::all().await {
        let (client, answer) = place.call("duplicate").await;
        assert_eq!(answer.unwrap().content(), "twice", "{}", place.name());
        if place.is_memory() {
            within(client.ping()).await.unwrap();
            assert_eq!(client.unclaimed().total(), 1, "{}", place.name());
        }
        let (_client, answer) = place.call("oversized").await;
        let answer = answer.unwrap();
        assert_eq!((answer.content(), answer.raw().bytes().len()), ("long".to_owned(), 100_000));
    }
}

#[tokio::test]
async fn silence_is_silence_and_others_are_served_meanwhile() {
    for place in Place::all().await {
        let client = place.client().await;
        let silent = client.call_tool("silent", json!({})).timeout(Duration::from_millis(200));
        let silent = silent.start();
        let fine = within(client.call_tool("fine", json!({})).into_future()).await.unwrap();
        assert_eq!(fine.content(), "fine");
        let silent = within(silent).await;
        let late = matches!(silent, Err(Error::Timeout { .. } | Error::Stalled { .. }));
        assert!(late, "{}: {silent:?}", place.name());
    }
}

#[tokio::test]
async fn bytes_come_slowly_where_there_are_bytes() {
    for place in Place::all().await {
        let began = std::time::Instant::now();
        let (_client, answer) = place.call("slow").await;
        assert_eq!(answer.unwrap().content(), "slowly", "{}", place.name());
        let slow = began.elapsed() > Duration::from_millis(100);
        assert_eq!(slow, !place.is_memory(), "{}: {:?}", place.name(), began.elapsed());
    }
}

#[tokio::test]
async fn a_connection_that_ends_after_the_answer_has_given_it() {
    for place in Place::all().await {
        let (client, answer) = place.call("after").await;
        assert_eq!(answer.unwrap().content(), "the last word", "{}", place.name());
        if !place.is_memory() {
            continue;
        }
        within(client.closed()).await;
        let (client, answer) = place.call("noise").await;
        assert_eq!(answer.unwrap().content(), "heard", "{}", place.name());
        assert!(!client.transcript().violations().is_empty());
    }
}

#[tokio::test]
async fn a_late_answer_comes_although_nobody_wants_it() {
    for place in Place::all().await.into_iter().filter(Place::is_memory) {
        let client = place.client().await;
        let call = client.call_tool("late", json!({})).start();
        within(client.ping()).await.unwrap();
        drop(call);
        let until = tokio::time::Instant::now() + PATIENCE;
        while client.unclaimed().total() == 0 {
            assert!(tokio::time::Instant::now() < until, "{}", place.name());
            within(client.ping()).await.unwrap();
        }
    }
}

#[tokio::test]
async fn over_http_statuses_types_and_streams_are_wrong_as_told() {
    for place in Place::all().await {
        if place.transport != HttpTransport::Streamable {
            continue;
        }
        let (_client, answer) = place.call("status").await;
        let told = format!("{:?}", answer);
        assert!(told.contains("503"), "{}: {told}", place.name());
        for tool in ["content_type", "drop_sse"] {
            let (_client, answer) = place.call(tool).await;
            // A stream of 2025-11-25 says where it is, and the client comes back.
            let resumed = tool == "streamed" && place.name() == "Streamable 2025-11-25";
            assert_eq!(answer.is_ok(), resumed, "{tool} over {}: {answer:?}", place.name());
        }
        let (client, answer) = place.call("expire").await;
        assert_eq!(answer.unwrap().content(), "the end", "{}", place.name());
        let next = within(client.call_tool("fine", json!({})).into_future()).await;
        match place.revision.is_modern() {
            // There are no sessions that could end.
            true => assert_eq!(next.unwrap().content(), "fine"),
            false => assert!(format!("{next:?}").contains("SessionLost"), "{next:?}"),
        }
    }
}

#[tokio::test]
async fn what_is_to_happen_to_the_process_is_told_to_its_owner() {
    let mock = mock(SCRIPT);
    let mut faults = mock.process_faults().unwrap();
    assert!(mock.process_faults().is_none());
    let client = connect(&mock, Revision::LATEST).await;
    let answer = within(client.call_tool("exit", json!({})).into_future()).await;
    assert!(answer.is_err(), "{answer:?}");
    assert_eq!(faults.recv().await, Some(ProcessFault::FloodStderr(100)));
    assert_eq!(faults.recv().await, Some(ProcessFault::Exit(7)));
}

#[test]
fn faults_that_cannot_be_are_told() {
    for (fault, message) in [
        ("fault: {garbage: true, truncate: true}", "only one of raw, garbage"),
        ("fault: {exit: 256}", "at most 255"),
        ("fault: {status: 1000}", "at most 999"),
        ("fault: {disconnect: never}", "before, middle, after"),
        ("fault: {garbge: true}", "did you mean 'garbage'"),
        ("raw: x, text: y", "is the whole answer"),
    ] {
        let script = format!("tools: [{{name: a, {fault}}}]");
        let told = MockServer::from_yaml(&script, ".").err().map(|it| it.to_string());
        assert!(told.as_ref().is_some_and(|told| told.contains(message)), "{fault}: {told:?}");
    }
}
