//! Too much of something: full links, floods, long queues. What is bounded
//! stays bounded, nothing is lost that was said in time, and everything ends.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use serde_json::json;
use sparring_peer::client::{Error, Question};
use sparring_peer::link::{Cut, Fault};
use sparring_peer::server::{Answer, Context as Cx};
use sparring_peer::{
    Cause, Client, Handler, Lines, LinkKind, MemoryTransport, Protocol, Server, memory,
};
use sparring_wire::types::{CallToolResult, Implementation, ServerCapabilities};
use sparring_wire::{Frame, Json, RawJson, Revision};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::sync::mpsc;

use crate::fixture::{Gym, Match, PATIENCE, within};

/// Takes a few bytes, and then its reader is gone.
struct BreaksMidway(usize);

impl AsyncWrite for BreaksMidway {
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
async fn a_write_that_breaks_midway_fails_what_it_carried() {
    let (_far, near) = tokio::io::duplex(64);
    let (reader, _writer) = tokio::io::split(near);
    let link = Lines::new(reader, BreaksMidway(10), sparring_peer::link::LinesOptions::default());
    let client = within(Client::builder().protocol(Protocol::Raw).connect(link)).await.unwrap();
    for method in ["a", "b"] {
        let error = within(client.request(method, None).into_future()).await.unwrap_err();
        assert!(error.to_string().contains("does not read any more"), "{error}");
    }
    within(client.close()).await;
}

#[tokio::test(start_paused = true)]
async fn a_client_with_a_full_link_still_times_out_and_closes() {
    let (_far, near) = tokio::io::duplex(16);
    let client =
        within(Client::builder().protocol(Protocol::Raw).connect(Lines::over(near))).await.unwrap();
    client.send_bytes(vec![b'x'; 5_000_000]);
    let request = client.request("a", None).timeout(Duration::from_secs(1));
    assert!(matches!(within(request.into_future()).await, Err(Error::Timeout { .. })));
    within(client.close()).await;
}

#[tokio::test]
async fn everything_that_a_handler_says_goes_out_before_its_answer() {
    struct Talkative;
    impl Handler for Talkative {
        fn capabilities(&self) -> ServerCapabilities {
            ServerCapabilities::none().tools()
        }
        async fn call_tool(&self, _: &str, _: Json<'_>, cx: &Cx) -> Answer {
            for step in 1..=500 {
                cx.progress(f64::from(step), None, None);
            }
            Ok(CallToolResult::text("done").into())
        }
    }
    let (here, there) = memory(LinkKind::Shared);
    let _running = Server::new(Talkative).spawn(there);
    let client = within(Client::connect(here)).await.unwrap();
    let count = Arc::new(AtomicUsize::new(0));
    let told = Arc::clone(&count);
    let call = client.call_tool("x", json!({})).on_progress(move |_| {
        told.fetch_add(1, Ordering::Relaxed);
    });
    within(call.into_future()).await.unwrap();
    assert_eq!(count.load(Ordering::Relaxed), 500);
}

#[tokio::test]
async fn an_answerer_that_panics_before_it_begins_is_met_like_any_other() {
    let builder = Client::builder().revision(Revision::V2025_11_25);
    let builder = builder.answer(Question::Elicitation, |params: RawJson| {
        assert!(params.text().is_empty(), "never so");
        std::future::ready(Ok(json!({})))
    });
    let bout = Match::with(builder, Gym::default(), LinkKind::Shared).await;
    let response = within(bout.client.call_tool("ask", json!({})).into_future()).await.unwrap();
    assert_eq!(response.error_code(), Some(-32603));
    within(bout.client.ping()).await.unwrap();
}

const HELLO: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"roots":{},"elicitation":{}},"clientInfo":{"name":"c","version":"1"}}}"#;

fn call(id: u32, tool: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}"}}}}"#)
}

#[tokio::test(start_paused = true)]
async fn a_number_of_requests_ends_although_one_hangs_and_another_is_held_back() {
    let (transport, link) = MemoryTransport::new();
    let mut session = Server::new(Gym::default()).on(link);
    for text in [HELLO.to_owned(), call(1, "wait"), call(2, "echo")] {
        transport.queue_incoming(text);
    }
    transport.close();
    assert_eq!(within(session.serve_requests(2)).await, Ok(Cause::EndOfInput));
}

#[tokio::test(start_paused = true)]
async fn a_client_that_asks_and_never_reads_is_given_up() {
    let (far, near) = tokio::io::duplex(64 * 1024);
    let (_reader, mut writer) = tokio::io::split(far);
    let serving =
        tokio::spawn(async move { Server::new(Gym::default()).serve(Lines::over(near)).await });
    writer.write_all(format!("{HELLO}\n").as_bytes()).await.unwrap();
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
    assert!(matches!(cause, Cause::Broken(ref why) if why.contains("does not read")), "{cause}");
}

/// Says something every second, without end.
struct Talker;

impl Handler for Talker {
    fn info(&self) -> Implementation {
        Implementation::new("talker", "1.0.0")
    }

    fn capabilities(&self) -> ServerCapabilities {
        ServerCapabilities::none().tools()
    }

    async fn call_tool(&self, _: &str, _: Json<'_>, cx: &Cx) -> Answer {
        let mut text = "x".repeat(5 * 1024 * 1024);
        let mut clock = tokio::time::interval(Duration::from_secs(1));
        loop {
            clock.tick().await;
            cx.notify("notifications/said", Some(json!({"text": text}).into()));
            text.truncate(10_000);
        }
    }
}

/// A minute of a client that reads so much a second of what the talker says;
/// gives why it was given up, if it was.
async fn minute_with_a_talker(reads: usize) -> Option<Cause> {
    let (mut far, near) = tokio::io::duplex(64 * 1024);
    let serving = tokio::spawn(async move { Server::new(Talker).serve(Lines::over(near)).await });
    let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    far.write_all(format!("{HELLO}\n{ready}\n{}\n", call(1, "talk")).as_bytes()).await.unwrap();
    let mut said = vec![0; reads];
    let mut clock = tokio::time::interval(Duration::from_secs(1));
    for _ in 0..60 {
        clock.tick().await;
        if serving.is_finished() {
            return Some(serving.await.unwrap());
        }
        if reads > 0 {
            far.read_exact(&mut said).await.unwrap();
        }
    }
    None
}

#[tokio::test(start_paused = true)]
async fn that_more_is_said_to_a_client_does_not_mean_that_it_reads() {
    let cause = minute_with_a_talker(0).await;
    assert!(
        matches!(&cause, Some(Cause::Broken(why)) if why.contains("does not read")),
        "{cause:?}"
    );
    // One that reads, and less than is said, is given all the time it needs.
    assert_eq!(minute_with_a_talker(5_000).await, None);
}

/// Says more than fits into a pipe, and leaves.
struct Leaver;

impl Handler for Leaver {
    fn capabilities(&self) -> ServerCapabilities {
        ServerCapabilities::none().tools()
    }

    async fn call_tool(&self, _: &str, _: Json<'_>, cx: &Cx) -> Answer {
        cx.fail_with(Fault { cut: Some(Cut::After), ..Fault::default() }.into());
        Ok(CallToolResult::text("x".repeat(100_000)).into())
    }
}

#[tokio::test]
async fn a_server_that_leaves_after_an_answer_leaves_when_that_was_read_at_last() {
    let (mut far, near) = tokio::io::duplex(1024);
    let serving = tokio::spawn(async move { Server::new(Leaver).serve(Lines::over(near)).await });
    let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    far.write_all(format!("{HELLO}\n{ready}\n{}\n", call(1, "leave")).as_bytes()).await.unwrap();
    let mut said = Vec::new();
    within(far.read_to_end(&mut said)).await.unwrap();
    assert!(said.len() > 100_000, "{}", said.len());
    assert_eq!(within(serving).await.unwrap(), Cause::ByUs);
}

#[tokio::test]
async fn a_notification_given_by_hand_does_not_wait_for_requests() {
    let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
    let mut session = Server::new(Gym { waiting: Some(tell) }).session();
    within(session.process_request(Frame::parse(HELLO))).await.unwrap();
    let slow = session.process_request(Frame::parse(call(1, "wait")));
    assert!(tokio::time::timeout(Duration::from_millis(20), slow).await.is_err());
    assert_eq!(within(told.recv()).await, Some("begun"));
    for text in [
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","id":9,"result":{}}"#,
    ] {
        assert_eq!(within(session.process_request(Frame::parse(text))).await, None);
    }
}

#[tokio::test]
async fn of_two_subscriptions_to_one_resource_one_may_end_alone() {
    let bout = Match::start(Revision::V2025_11_25).await;
    let one = within(bout.client.subscribe("file:///a.txt")).await.unwrap();
    let mut other = within(bout.client.subscribe("file:///a.txt")).await.unwrap();
    drop(one);
    within(bout.client.ping()).await.unwrap();
    bout.server.resource_updated("file:///a.txt");
    other.next(PATIENCE).await.unwrap();
    within(bout.client.close()).await;
    let ended = other.next(PATIENCE).await;
    assert!(matches!(ended, Err(Error::Closed { .. })), "{ended:?}");
}

#[tokio::test]
async fn the_end_of_a_subscription_can_be_asked_twice() {
    let bout = Match::start(Revision::V2026_07_28).await;
    let mut subscription = within(bout.client.subscribe("file:///a.txt")).await.unwrap();
    within(bout.running.stop()).await;
    within(subscription.ended()).await.unwrap();
    within(subscription.ended()).await.unwrap();
}

#[tokio::test]
async fn a_bad_answer_to_a_question_is_met_at_once_also_message_by_message() {
    let (transport, link) = MemoryTransport::new();
    let mut session = Server::new(Gym::default()).on(link);
    transport.queue_incoming(HELLO);
    transport.queue_incoming(call(1, "ask"));
    transport.queue_incoming(
        r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"both"}}"#,
    );
    assert_eq!(within(session.process_one_message(PATIENCE)).await, Ok(true));
    assert_eq!(within(session.process_one_message(PATIENCE)).await, Ok(true));
    let answer = transport.last_sent().unwrap().error_object().unwrap();
    assert!(answer.message.contains("result and error"), "{answer}");
}

/// A reader that always has blank lines.
struct Blank;

impl AsyncRead for Blank {
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
async fn blank_lines_without_end_keep_nobody_from_timing_out() {
    let link = Lines::new(Blank, tokio::io::sink(), sparring_peer::link::LinesOptions::default());
    let client = within(Client::builder().protocol(Protocol::Raw).connect(link)).await.unwrap();
    let request = client.request("a", None).timeout(Duration::from_millis(50));
    assert!(matches!(within(request.into_future()).await, Err(Error::Timeout { .. })));
}

#[tokio::test]
async fn params_of_ours_may_be_deeper_than_anything_read() {
    let mut deep = RawJson::empty_object();
    for _ in 0..2_000 {
        deep = RawJson::empty_object().with_member("a", deep.view());
    }
    let frame = Frame::request(&1.into(), "x", Some(&deep));
    assert!(frame.params().unwrap().get("a").is_some());
}

#[tokio::test]
async fn a_modern_request_has_no_place_in_a_batch() {
    let (transport, link) = MemoryTransport::new();
    let _running = Server::new(Gym::default()).spawn(link);
    transport.queue_incoming(HELLO.replace("2025-11-25", "2025-03-26"));
    transport.wait_sent(PATIENCE).await.unwrap();
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
    transport.queue_incoming(format!(
        r#"[{{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{{{meta},"notifications":{{}}}}}},{{"jsonrpc":"2.0","id":2,"method":"ping"}}]"#
    ));
    let answer = transport.wait_sent(PATIENCE).await.unwrap();
    let codes: Vec<_> =
        answer.batch().map(|frame| frame.error_object().map(|error| error.code)).collect();
    assert_eq!(codes, [Some(-32600), None]);
}

/// Writes nothing while it is shut, and then everything.
struct Gate {
    shut: Arc<AtomicBool>,
    /// Told when something comes to it while it is shut.
    reached: mpsc::UnboundedSender<Waker>,
    out: mpsc::UnboundedSender<Vec<u8>>,
}

impl AsyncWrite for Gate {
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

/// Whose answers are more than a link holds.
struct Big;

impl Handler for Big {
    fn capabilities(&self) -> ServerCapabilities {
        ServerCapabilities::none().tools()
    }

    async fn call_tool(&self, _: &str, _: Json<'_>, _: &Cx) -> Answer {
        Ok(CallToolResult::text("x".repeat(sparring_peer::link::FULL)).into())
    }
}

#[tokio::test(start_paused = true)]
async fn a_change_that_came_while_the_link_was_full_is_told_once_it_is_not() {
    let begun = tokio::time::Instant::now();
    let (mut far, near) = tokio::io::duplex(64 * 1024);
    let shut = Arc::new(AtomicBool::new(false));
    let ((reached, mut at_gate), (out, mut written)) =
        (mpsc::unbounded_channel(), mpsc::unbounded_channel());
    let gate = Gate { shut: Arc::clone(&shut), reached, out };
    let options = sparring_peer::link::LinesOptions::default();
    let server = Server::new(Big);
    let _running = server.spawn(Lines::new(tokio::io::split(near).0, gate, options));
    far.write_all(format!("{HELLO}\n").as_bytes()).await.unwrap();
    let greeting = within(written.recv()).await.expect("a greeting");
    assert!(greeting.starts_with(br#"{"jsonrpc":"2.0","id":0,"result""#));

    shut.store(true, Ordering::SeqCst);
    let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    let sent = format!("{initialized}\n{}\n", call(1, "big"));
    far.write_all(sent.as_bytes()).await.unwrap();
    let session = within(at_gate.recv()).await.expect("the answer comes to the gate");
    server.tools_changed();
    // The session has been woken, and found its link as full as it was.
    within(at_gate.recv()).await.expect("it tries again");
    shut.store(false, Ordering::SeqCst);
    session.wake();
    let mut all = Vec::new();
    let told = br#""method":"notifications/tools/list_changed""#;
    while !all.windows(told.len()).any(|window| window == told) {
        all = within(written.recv()).await.expect("more");
    }
    assert_eq!(begun.elapsed(), Duration::ZERO, "nobody had to wait for the clock");
}
