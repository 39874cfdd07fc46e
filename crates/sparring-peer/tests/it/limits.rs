//! Limits: full links, floods, long queues. Memory stays bounded, messages sent
//! in time are not lost, and everything ends.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use serde_json::json;
use sparring_peer::client::{Error, ServerRequest};
use sparring_peer::link::{Disconnect, Fault};
use sparring_peer::server::{Context as Cx, HandlerResult};
use sparring_peer::{
    Cause, Client, Handler, LineLink, LinkKind, MemoryTransport, Protocol, Server, memory,
};
use sparring_wire::types::{CallToolResult, Implementation, ServerCapabilities};
use sparring_wire::{Frame, Json, RawJson, Revision};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::sync::mpsc;

use crate::fixture::{TEST_TIMEOUT, TestConnection, TestServer, within};

/// A writer that takes a few bytes and then breaks.
struct BreakingWriter(usize);

impl AsyncWrite for BreakingWriter {
    fn poll_write(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match std::mem::take(&mut self.0) {
            0 => Poll::Ready(Err(io::ErrorKind::BrokenPipe.into())),
            room => Poll::Ready(Ok(room.min(bytes.len()))),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[tokio::test]
async fn a_broken_write_fails_its_requests() {
    let (_far, near) = tokio::io::duplex(64);
    let (reader, _writer) = tokio::io::split(near);
    let link =
        LineLink::new(reader, BreakingWriter(10), sparring_peer::link::LineLinkOptions::default());
    let client = within(Client::builder().protocol(Protocol::Raw).connect(link)).await.unwrap();
    for method in ["a", "b"] {
        let error = within(client.request(method, None).into_future()).await.unwrap_err();
        assert!(error.to_string().contains("stopped reading"), "{error}");
    }
    within(client.close()).await;
}

#[tokio::test(start_paused = true)]
async fn a_client_with_a_full_link_still_times_out_and_closes() {
    let (_far, near) = tokio::io::duplex(16);
    let client =
        within(Client::builder().protocol(Protocol::Raw).connect(LineLink::from_stream(near)))
            .await
            .unwrap();
    client.send_bytes(vec![b'x'; 5_000_000]);
    let request = client.request("a", None).timeout(Duration::from_secs(1));
    assert!(matches!(within(request.into_future()).await, Err(Error::Timeout { .. })));
    within(client.close()).await;
}

#[tokio::test]
async fn all_messages_of_a_handler_are_sent_before_its_response() {
    struct VerboseServer;
    impl Handler for VerboseServer {
        fn capabilities(&self) -> ServerCapabilities {
            ServerCapabilities::none().tools()
        }
        async fn call_tool(&self, _: &str, _: Json<'_>, cx: &Cx) -> HandlerResult {
            for step in 1..=500 {
                cx.progress(f64::from(step), None, None);
            }
            Ok(CallToolResult::text("done").into())
        }
    }
    let (here, there) = memory(LinkKind::Shared);
    let _running = Server::new(VerboseServer).spawn(there);
    let client = within(Client::connect(here)).await.unwrap();
    let count = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&count);
    let call = client.call_tool("x", json!({})).on_progress(move |_| {
        counter.fetch_add(1, Ordering::Relaxed);
    });
    within(call.into_future()).await.unwrap();
    assert_eq!(count.load(Ordering::Relaxed), 500);
}

#[tokio::test]
async fn a_handler_that_panics_before_it_returns_its_future_is_caught() {
    let builder = Client::builder().revision(Revision::V2025_11_25);
    let builder = builder.answer(ServerRequest::Elicitation, |params: RawJson| {
        assert!(params.text().is_empty(), "never so");
        std::future::ready(Ok(json!({})))
    });
    let connection = TestConnection::with(builder, TestServer::default(), LinkKind::Shared).await;
    let response =
        within(connection.client.call_tool("ask", json!({})).into_future()).await.unwrap();
    assert_eq!(response.error_code(), Some(-32603));
    within(connection.client.ping()).await.unwrap();
}

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"roots":{},"elicitation":{}},"clientInfo":{"name":"c","version":"1"}}}"#;

fn call(id: u32, tool: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}"}}}}"#)
}

#[tokio::test(start_paused = true)]
async fn serving_a_number_of_requests_ends_although_one_hangs_and_another_is_held_back() {
    let (transport, link) = MemoryTransport::new();
    let mut session = Server::new(TestServer::default()).session_on(link);
    for text in [INITIALIZE.to_owned(), call(1, "wait"), call(2, "echo")] {
        transport.queue_incoming(text);
    }
    transport.close();
    assert_eq!(within(session.serve_requests(2)).await, Ok(Cause::EndOfInput));
}

#[tokio::test(start_paused = true)]
async fn a_client_that_never_reads_is_disconnected() {
    let (far, near) = tokio::io::duplex(64 * 1024);
    let (_reader, mut writer) = tokio::io::split(far);
    let serving = tokio::spawn(async move {
        Server::new(TestServer::default()).serve(LineLink::from_stream(near)).await
    });
    writer.write_all(format!("{INITIALIZE}\n").as_bytes()).await.unwrap();
    let message = "x".repeat(200_000);
    for id in 1..=40 {
        let call = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"echo","arguments":{{"message":"{message}"}}}}}}"#
        );
        let written = tokio::time::timeout(
            Duration::from_secs(2),
            writer.write_all(format!("{call}\n").as_bytes()),
        )
        .await;
        if written.is_err() {
            break;
        }
    }
    let cause = tokio::time::timeout(Duration::from_secs(60), serving).await.unwrap().unwrap();
    assert!(matches!(cause, Cause::Broken(ref why) if why.contains("stopped reading")), "{cause}");
}

/// A server whose tool logs every second, without end.
struct LoggingServer;

impl Handler for LoggingServer {
    fn info(&self) -> Implementation {
        Implementation::new("talker", "1.0.0")
    }

    fn capabilities(&self) -> ServerCapabilities {
        ServerCapabilities::none().tools()
    }

    async fn call_tool(&self, _: &str, _: Json<'_>, cx: &Cx) -> HandlerResult {
        let mut text = "x".repeat(5 * 1024 * 1024);
        let mut clock = tokio::time::interval(Duration::from_secs(1));
        loop {
            clock.tick().await;
            cx.notify("notifications/said", Some(json!({"text": text}).into()));
            text.truncate(10_000);
        }
    }
}

/// Runs a client that reads this many bytes a second for a minute. Returns the
/// reason if the server disconnects it.
async fn run_for_a_minute(reads: usize) -> Option<Cause> {
    let (mut far, near) = tokio::io::duplex(64 * 1024);
    let serving =
        tokio::spawn(
            async move { Server::new(LoggingServer).serve(LineLink::from_stream(near)).await },
        );
    let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    far.write_all(format!("{INITIALIZE}\n{ready}\n{}\n", call(1, "ours")).as_bytes())
        .await
        .unwrap();
    let mut bytes = vec![0; reads];
    let mut clock = tokio::time::interval(Duration::from_secs(1));
    for _ in 0..60 {
        clock.tick().await;
        if serving.is_finished() {
            return Some(serving.await.unwrap());
        }
        if reads > 0 {
            far.read_exact(&mut bytes).await.unwrap();
        }
    }
    None
}

#[tokio::test(start_paused = true)]
async fn a_growing_backlog_does_not_count_as_reading() {
    let cause = run_for_a_minute(0).await;
    assert!(
        matches!(&cause, Some(Cause::Broken(why)) if why.contains("stopped reading")),
        "{cause:?}"
    );
    // A client that reads, but more slowly than the server writes, is never
    // disconnected.
    assert_eq!(run_for_a_minute(5_000).await, None);
}

/// A server that sends more than fits into a pipe, and ends.
struct LeavingServer;

impl Handler for LeavingServer {
    fn capabilities(&self) -> ServerCapabilities {
        ServerCapabilities::none().tools()
    }

    async fn call_tool(&self, _: &str, _: Json<'_>, cx: &Cx) -> HandlerResult {
        cx.set_faults(Fault { disconnect: Some(Disconnect::After), ..Fault::default() }.into());
        Ok(CallToolResult::text("x".repeat(100_000)).into())
    }
}

#[tokio::test]
async fn a_server_ends_only_after_its_last_response_was_read() {
    let (mut far, near) = tokio::io::duplex(1024);
    let serving =
        tokio::spawn(
            async move { Server::new(LeavingServer).serve(LineLink::from_stream(near)).await },
        );
    let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    far.write_all(format!("{INITIALIZE}\n{ready}\n{}\n", call(1, "leave")).as_bytes())
        .await
        .unwrap();
    let mut bytes = Vec::new();
    within(far.read_to_end(&mut bytes)).await.unwrap();
    assert!(bytes.len() > 100_000, "{}", bytes.len());
    assert_eq!(within(serving).await.unwrap(), Cause::ClosedLocally);
}

#[tokio::test]
async fn processing_a_notification_does_not_wait_for_requests() {
    let (sender, mut events) = tokio::sync::mpsc::unbounded_channel();
    let mut session = Server::new(TestServer { waiting: Some(sender) }).session();
    within(session.process_request(Frame::parse(INITIALIZE))).await.unwrap();
    let slow = session.process_request(Frame::parse(call(1, "wait")));
    assert!(tokio::time::timeout(Duration::from_millis(20), slow).await.is_err());
    assert_eq!(within(events.recv()).await, Some("started"));
    for text in [
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","id":9,"result":{}}"#,
    ] {
        assert_eq!(within(session.process_request(Frame::parse(text))).await, None);
    }
}

#[tokio::test]
async fn ending_one_of_two_subscriptions_to_a_resource_keeps_the_other() {
    let connection = TestConnection::start(Revision::V2025_11_25).await;
    let one = within(connection.client.subscribe("file:///a.txt")).await.unwrap();
    let mut other = within(connection.client.subscribe("file:///a.txt")).await.unwrap();
    drop(one);
    within(connection.client.ping()).await.unwrap();
    connection.server.resource_updated("file:///a.txt");
    other.next(TEST_TIMEOUT).await.unwrap();
    within(connection.client.close()).await;
    let ended = other.next(TEST_TIMEOUT).await;
    assert!(matches!(ended, Err(Error::Closed { .. })), "{ended:?}");
}

#[tokio::test]
async fn the_end_of_a_subscription_can_be_read_twice() {
    let connection = TestConnection::start(Revision::V2026_07_28).await;
    let mut subscription = within(connection.client.subscribe("file:///a.txt")).await.unwrap();
    within(connection.running.stop()).await;
    within(subscription.ended()).await.unwrap();
    within(subscription.ended()).await.unwrap();
}

#[tokio::test]
async fn an_invalid_response_to_a_server_request_fails_it_at_once() {
    let (transport, link) = MemoryTransport::new();
    let mut session = Server::new(TestServer::default()).session_on(link);
    transport.queue_incoming(INITIALIZE);
    transport.queue_incoming(call(1, "ask"));
    transport.queue_incoming(
        r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"both"}}"#,
    );
    assert_eq!(within(session.process_one_message(TEST_TIMEOUT)).await, Ok(true));
    assert_eq!(within(session.process_one_message(TEST_TIMEOUT)).await, Ok(true));
    let answer = transport.last_sent().unwrap().error_object().unwrap();
    assert!(answer.message.contains("result and error"), "{answer}");
}

/// A reader that always has blank lines.
struct BlankLineReader;

impl AsyncRead for BlankLineReader {
    fn poll_read(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        buffer.put_slice(b"\n\n\n");
        Poll::Ready(Ok(()))
    }
}

#[tokio::test]
async fn endless_blank_lines_do_not_prevent_timeouts() {
    let link = LineLink::new(
        BlankLineReader,
        tokio::io::sink(),
        sparring_peer::link::LineLinkOptions::default(),
    );
    let client = within(Client::builder().protocol(Protocol::Raw).connect(link)).await.unwrap();
    let request = client.request("a", None).timeout(Duration::from_millis(50));
    assert!(matches!(within(request.into_future()).await, Err(Error::Timeout { .. })));
}

#[tokio::test]
async fn sent_params_may_exceed_the_depth_limit_of_reading() {
    let mut deep = RawJson::empty_object();
    for _ in 0..2_000 {
        deep = RawJson::empty_object().with_member("a", deep.view());
    }
    let frame = Frame::request(&1.into(), "x", Some(&deep));
    assert!(frame.params().unwrap().get("a").is_some());
}

#[tokio::test]
async fn a_modern_request_in_a_batch_is_refused() {
    let (transport, link) = MemoryTransport::new();
    let _running = Server::new(TestServer::default()).spawn(link);
    transport.queue_incoming(INITIALIZE.replace("2025-11-25", "2025-03-26"));
    transport.wait_sent(TEST_TIMEOUT).await.unwrap();
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
    transport.queue_incoming(format!(
        r#"[{{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{{{meta},"notifications":{{}}}}}},{{"jsonrpc":"2.0","id":2,"method":"ping"}}]"#
    ));
    let answer = transport.wait_sent(TEST_TIMEOUT).await.unwrap();
    let codes: Vec<_> =
        answer.batch_items().map(|frame| frame.error_object().map(|error| error.code)).collect();
    assert_eq!(codes, [Some(-32600), None]);
}

/// A writer that writes nothing while it is blocked, and everything afterwards.
struct BlockedWriter {
    shut: Arc<AtomicBool>,
    /// Receives the waker when something is written while it is blocked.
    reached: mpsc::UnboundedSender<Waker>,
    out: mpsc::UnboundedSender<Vec<u8>>,
}

impl AsyncWrite for BlockedWriter {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if self.shut.load(Ordering::SeqCst) {
            let _ = self.reached.send(cx.waker().clone());
            return Poll::Pending;
        }
        let _ = self.out.send(bytes.to_vec());
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// A server whose responses are larger than a link's backlog limit.
struct LargeResponseServer;

impl Handler for LargeResponseServer {
    fn capabilities(&self) -> ServerCapabilities {
        ServerCapabilities::none().tools()
    }

    async fn call_tool(&self, _: &str, _: Json<'_>, _: &Cx) -> HandlerResult {
        Ok(CallToolResult::text("x".repeat(sparring_peer::link::BACKLOG_LIMIT)).into())
    }
}

#[tokio::test(start_paused = true)]
async fn a_change_is_sent_once_a_full_link_has_room() {
    let start = tokio::time::Instant::now();
    let (mut far, near) = tokio::io::duplex(64 * 1024);
    let shut = Arc::new(AtomicBool::new(false));
    let ((reached, mut at_gate), (out, mut written)) =
        (mpsc::unbounded_channel(), mpsc::unbounded_channel());
    let gate = BlockedWriter { shut: Arc::clone(&shut), reached, out };
    let options = sparring_peer::link::LineLinkOptions::default();
    let server = Server::new(LargeResponseServer);
    let _running = server.spawn(LineLink::new(tokio::io::split(near).0, gate, options));
    far.write_all(format!("{INITIALIZE}\n").as_bytes()).await.unwrap();
    let greeting = within(written.recv()).await.expect("a greeting");
    assert!(greeting.starts_with(br#"{"jsonrpc":"2.0","id":0,"result""#));

    shut.store(true, Ordering::SeqCst);
    let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    let sent = format!("{initialized}\n{}\n", call(1, "big"));
    far.write_all(sent.as_bytes()).await.unwrap();
    let session = within(at_gate.recv()).await.expect("the answer comes to the gate");
    server.tools_changed();
    // The session was woken, and found its link still full.
    within(at_gate.recv()).await.expect("it tries again");
    shut.store(false, Ordering::SeqCst);
    session.wake();
    let mut all = Vec::new();
    let expected = br#""method":"notifications/tools/list_changed""#;
    while !all.windows(expected.len()).any(|window| window == expected) {
        all = within(written.recv()).await.expect("more");
    }
    assert_eq!(start.elapsed(), Duration::ZERO, "no timer was involved");
}
