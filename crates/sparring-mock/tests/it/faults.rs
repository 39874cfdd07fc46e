//! Faults, over each transport.

use std::future::IntoFuture;
use std::time::Duration;

use serde_json::json;
use sparring_mock::{MockServer, ProcessFault};
use sparring_peer::client::Error;
use sparring_peer::{Client, Response};
use sparring_transport::http::{HttpServerHandle, HttpTransport};
use sparring_wire::Revision;

use crate::fixture::{TIMEOUT, connect, listen, mock, over_http, within};

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

/// A mock on one transport and revision.
struct TransportCase {
    mock: MockServer,
    serving: Option<HttpServerHandle>,
    revision: Revision,
    transport: HttpTransport,
}

impl TransportCase {
    /// Returns a mock for each combination: in memory and over each HTTP transport.
    async fn all() -> Vec<TransportCase> {
        let mut cases = Vec::new();
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
            cases.push(TransportCase { mock, serving, revision, transport });
        }
        cases
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

    /// Calls a tool on a new connection.
    async fn call(&self, tool: &str) -> (Client, Result<Response, Error>) {
        let client = self.client().await;
        let call = client.call_tool(tool, json!({})).timeout(Duration::from_secs(2));
        let answer = within(call.into_future()).await;
        (client, answer)
    }
}

#[tokio::test]
async fn a_faulty_answer_fails_the_call() {
    for case in TransportCase::all().await {
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
            let (_client, answer) = case.call(tool).await;
            // A stream of 2025-11-25 has event ids, so the client resumes it.
            let resumed = tool == "streamed" && case.name() == "Streamable 2025-11-25";
            assert_eq!(answer.is_ok(), resumed, "{tool} over {}: {answer:?}", case.name());
        }
        // The server survives all of them.
        let (_client, answer) = case.call("fine").await;
        assert_eq!(answer.unwrap().content(), "fine", "{}", case.name());
    }
}

#[tokio::test]
async fn sends_raw_bytes_exactly() {
    let case = TransportCase::all().await.remove(0);
    for (tool, expected) in [("raw", "{\"jsonrpc\": \"1.0\"}"), ("own_garbage", "]]")] {
        let (client, _) = case.call(tool).await;
        let seen = client.transcript().entries();
        assert!(seen.iter().any(|entry| entry.frame.bytes() == expected.as_bytes()), "{tool}");
    }
}

#[tokio::test]
async fn a_duplicate_or_oversized_answer_is_still_an_answer() {
    for case in TransportCase::all().await {
        let (client, answer) = case.call("duplicate").await;
        assert_eq!(answer.unwrap().content(), "twice", "{}", case.name());
        if case.is_memory() {
            within(client.ping()).await.unwrap();
            assert_eq!(client.unclaimed().total(), 1, "{}", case.name());
        }
        let (_client, answer) = case.call("oversized").await;
        let answer = answer.unwrap();
        assert_eq!((answer.content(), answer.raw().bytes().len()), ("long".to_owned(), 100_000));
    }
}

#[tokio::test]
async fn a_silent_reply_does_not_block_other_requests() {
    for case in TransportCase::all().await {
        let client = case.client().await;
        let silent = client.call_tool("silent", json!({})).timeout(Duration::from_millis(200));
        let silent = silent.start();
        let fine = within(client.call_tool("fine", json!({})).into_future()).await.unwrap();
        assert_eq!(fine.content(), "fine");
        let silent = within(silent).await;
        let late = matches!(silent, Err(Error::Timeout { .. } | Error::Stalled { .. }));
        assert!(late, "{}: {silent:?}", case.name());
    }
}

#[tokio::test]
async fn sends_slowly_over_byte_transports() {
    for case in TransportCase::all().await {
        let began = std::time::Instant::now();
        let (_client, answer) = case.call("slow").await;
        assert_eq!(answer.unwrap().content(), "slowly", "{}", case.name());
        let slow = began.elapsed() > Duration::from_millis(100);
        assert_eq!(slow, !case.is_memory(), "{}: {:?}", case.name(), began.elapsed());
    }
}

#[tokio::test]
async fn answers_before_it_disconnects_after_the_answer() {
    for case in TransportCase::all().await {
        let (client, answer) = case.call("after").await;
        assert_eq!(answer.unwrap().content(), "the last word", "{}", case.name());
        if !case.is_memory() {
            continue;
        }
        within(client.closed()).await;
        let (client, answer) = case.call("noise").await;
        assert_eq!(answer.unwrap().content(), "heard", "{}", case.name());
        assert!(!client.transcript().violations().is_empty());
    }
}

#[tokio::test]
async fn sends_a_late_answer_after_a_cancellation() {
    for case in TransportCase::all().await.into_iter().filter(TransportCase::is_memory) {
        let client = case.client().await;
        let call = client.call_tool("late", json!({})).start();
        within(client.ping()).await.unwrap();
        drop(call);
        let until = tokio::time::Instant::now() + TIMEOUT;
        while client.unclaimed().total() == 0 {
            assert!(tokio::time::Instant::now() < until, "{}", case.name());
            within(client.ping()).await.unwrap();
        }
    }
}

#[tokio::test]
async fn sends_wrong_statuses_types_and_streams_over_http() {
    for case in TransportCase::all().await {
        if case.transport != HttpTransport::Streamable {
            continue;
        }
        let (_client, answer) = case.call("status").await;
        let reported = format!("{:?}", answer);
        assert!(reported.contains("503"), "{}: {reported}", case.name());
        for tool in ["content_type", "drop_sse"] {
            let (_client, answer) = case.call(tool).await;
            // A stream of 2025-11-25 has event ids, so the client resumes it.
            let resumed = tool == "streamed" && case.name() == "Streamable 2025-11-25";
            assert_eq!(answer.is_ok(), resumed, "{tool} over {}: {answer:?}", case.name());
        }
        let (client, answer) = case.call("expire").await;
        assert_eq!(answer.unwrap().content(), "the end", "{}", case.name());
        let next = within(client.call_tool("fine", json!({})).into_future()).await;
        match case.revision.is_modern() {
            // This revision has no sessions.
            true => assert_eq!(next.unwrap().content(), "fine"),
            false => assert!(format!("{next:?}").contains("SessionLost"), "{next:?}"),
        }
    }
}

#[tokio::test]
async fn passes_process_faults_to_the_owner() {
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
fn rejects_invalid_faults() {
    for (fault, message) in [
        ("fault: {garbage: true, truncate: true}", "only one of raw, garbage"),
        ("fault: {exit: 256}", "at most 255"),
        ("fault: {status: 1000}", "at most 999"),
        ("fault: {disconnect: never}", "before, middle, after"),
        ("fault: {garbge: true}", "did you mean 'garbage'"),
        ("raw: x, text: y", "is the complete answer"),
    ] {
        let script = format!("tools: [{{name: a, {fault}}}]");
        let reported = MockServer::from_yaml(&script, ".").err().map(|it| it.to_string());
        assert!(
            reported.as_ref().is_some_and(|reported| reported.contains(message)),
            "{fault}: {reported:?}"
        );
    }
}
