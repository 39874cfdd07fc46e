//! Abnormal ends: peers that do not read, links that break, callbacks that panic.
//! Nothing hangs, and no failure affects other requests.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use serde_json::json;
use sparring_peer::client::{Error, ServerRequest};
use sparring_peer::server::{Context as Cx, HandlerResult};
use sparring_peer::{
    Cause, Client, Handler, LineLink, LinkKind, MemoryTransport, Protocol, Server, memory,
};
use sparring_wire::types::{CallToolResult, ServerCapabilities};
use sparring_wire::{Frame, Json, Revision};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufWriter, ReadBuf};

use crate::fixture::{TEST_TIMEOUT, TestConnection, TestServer, within};

#[tokio::test(start_paused = true)]
async fn connecting_to_a_peer_that_never_reads_ends_in_time() {
    let (_far, near) = tokio::io::duplex(16);
    let connecting =
        Client::builder().timeout(Duration::from_secs(1)).connect(LineLink::from_stream(near));
    let error = within(connecting).await.unwrap_err();
    assert!(matches!(error, Error::Timeout { .. }), "{error}");
}

#[tokio::test]
async fn closing_does_not_wait_for_a_peer_that_keeps_its_side_open() {
    let (mut far, near) = tokio::io::duplex(1024);
    let client =
        within(Client::builder().protocol(Protocol::Raw).connect(LineLink::from_stream(near)))
            .await
            .unwrap();
    client.notify("a", None);
    let reading = tokio::spawn(async move {
        let mut all = Vec::new();
        far.read_to_end(&mut all).await.unwrap();
        (far, all)
    });
    within(client.close()).await;
    let (_far, all) = within(reading).await.unwrap();
    assert!(all.starts_with(b"{"), "what was queued went out before the end");
}

#[tokio::test(start_paused = true)]
async fn closing_does_not_wait_for_a_peer_that_never_reads() {
    let (_far, near) = tokio::io::duplex(16);
    let client =
        within(Client::builder().protocol(Protocol::Raw).connect(LineLink::from_stream(near)))
            .await
            .unwrap();
    client.notify("a/long/method/that/does/not/fit", None);
    within(client.close()).await;
    assert!(!client.is_connected());
}

#[tokio::test(start_paused = true)]
async fn a_server_stops_although_its_client_does_not_read() {
    let (mut far, near) = tokio::io::duplex(16);
    let running = Server::new(TestServer::default()).spawn(LineLink::from_stream(near));
    far.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n").await.unwrap();
    within(running.stop()).await;
}

#[tokio::test(start_paused = true)]
async fn a_server_ends_after_the_end_of_input_although_its_client_does_not_read() {
    let (far, near) = tokio::io::duplex(16);
    let (_reader, mut writer) = tokio::io::split(far);
    let serving = tokio::spawn(async move {
        Server::new(TestServer::default()).serve(LineLink::from_stream(near)).await
    });
    writer.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n").await.unwrap();
    writer.shutdown().await.unwrap();
    assert_eq!(within(serving).await.unwrap(), Cause::EndOfInput);
}

#[tokio::test]
async fn a_buffering_writer_is_flushed() {
    let (far, near) = tokio::io::duplex(64);
    let _running = Server::new(TestServer::default()).spawn(LineLink::from_stream(far));
    let (reader, writer) = tokio::io::split(near);
    let link = LineLink::new(
        reader,
        BufWriter::new(writer),
        sparring_peer::link::LineLinkOptions::default(),
    );
    let client = within(Client::connect(link)).await.unwrap();
    within(client.ping()).await.unwrap();
}

/// A writer that is broken.
struct Broken;

impl AsyncWrite for Broken {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, _: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[tokio::test]
async fn a_failed_write_fails_its_request_at_once_and_closing_still_ends() {
    let (_far, near) = tokio::io::duplex(64);
    let (reader, _writer) = tokio::io::split(near);
    let link = LineLink::new(reader, Broken, sparring_peer::link::LineLinkOptions::default());
    let client = within(Client::builder().protocol(Protocol::Raw).connect(link)).await.unwrap();
    for method in ["a", "b"] {
        let error = within(client.request(method, None).into_future()).await.unwrap_err();
        assert!(error.to_string().contains("stopped reading"), "{error}");
    }
    within(client.close()).await;
}

/// A reader that always has data, and never the response.
struct Flood;

impl AsyncRead for Flood {
    fn poll_read(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        buffer.put_slice(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}\n");
        Poll::Ready(Ok(()))
    }
}

#[tokio::test]
async fn a_flood_does_not_keep_a_request_from_timing_out() {
    let link =
        LineLink::new(Flood, tokio::io::sink(), sparring_peer::link::LineLinkOptions::default());
    let client = within(Client::builder().protocol(Protocol::Raw).connect(link)).await.unwrap();
    let request = client.request("a", None).timeout(Duration::from_millis(50));
    let error = within(request.into_future()).await.unwrap_err();
    assert!(matches!(error, Error::Timeout { .. }), "{error}");
}

#[tokio::test]
async fn a_panic_in_a_callback_fails_its_request_and_nothing_else() {
    let connection = TestConnection::start(Revision::V2025_11_25).await;
    let call = connection
        .client
        .call_tool("progress", json!({}))
        .on_progress(|_| panic!("as a test does"));
    let error = within(call.into_future()).await.unwrap_err();
    assert_eq!(error.to_string(), "a callback of tools/call panicked: as a test does");
    within(connection.client.ping()).await.unwrap();
}

#[tokio::test]
async fn a_panic_in_a_handler_is_an_error_response_to_the_server() {
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        let builder = Client::builder().revision(revision);
        let builder = builder.answer(ServerRequest::Elicitation, |_| async { panic!("no idea") });
        let connection =
            TestConnection::with(builder, TestServer::default(), LinkKind::Shared).await;
        let outcome = within(connection.client.call_tool("ask", json!({})).into_future()).await;
        match outcome {
            Ok(response) => assert_eq!(response.error_code(), Some(-32603)),
            Err(error) => assert!(error.to_string().contains("no idea"), "{error}"),
        }
        within(connection.client.ping()).await.unwrap();
    }
}

#[tokio::test]
async fn a_panic_in_a_notification_handler_leaves_the_session_alive() {
    struct PanickingServer;
    impl Handler for PanickingServer {
        fn on_notification(&self, method: &str, _: Option<Json<'_>>) {
            assert_ne!(method, "notifications/boo", "boo");
        }
    }
    let (here, there) = memory(LinkKind::Shared);
    let _running = Server::new(PanickingServer).spawn(there);
    let client =
        within(Client::builder().revision(Revision::V2025_11_25).connect(here)).await.unwrap();
    client.notify("notifications/boo", None);
    within(client.ping()).await.unwrap();
}

#[tokio::test]
async fn the_reason_of_an_end_can_be_read_twice() {
    let (transport, link) = MemoryTransport::new();
    let mut running = Server::new(TestServer::default()).spawn(link);
    transport.close();
    assert_eq!(within(running.wait()).await, Cause::EndOfInput);
    assert_eq!(within(running.wait()).await, Cause::EndOfInput);
    assert_eq!(within(running.stop()).await, Cause::EndOfInput);
}

#[tokio::test]
async fn a_second_link_starts_a_new_connection() {
    let server = Server::new(TestServer::default());
    let mut session = server.session();
    for _ in 0..2 {
        let (here, there) = memory(LinkKind::Shared);
        session.set_link(there);
        let connecting =
            tokio::spawn(Client::builder().revision(Revision::V2025_11_25).connect(here));
        within(session.serve_requests(1)).await.unwrap();
        within(connecting).await.unwrap().unwrap();
    }
}

/// A server whose only tool asks the client before it answers.
struct AskingServer;

impl Handler for AskingServer {
    fn capabilities(&self) -> ServerCapabilities {
        ServerCapabilities::none().tools()
    }

    async fn call_tool(&self, _: &str, _: Json<'_>, cx: &Cx) -> HandlerResult {
        let roots = cx.ask("roots", ServerRequest::Roots, json!({})).await?;
        Ok(CallToolResult::text(roots.text()).into())
    }
}

#[tokio::test]
async fn a_server_request_is_answered_while_requests_are_counted() {
    let (here, there) = memory(LinkKind::Shared);
    let builder = Client::builder().revision(Revision::V2025_11_25).roots(["file:///r"]);
    let mut session = Server::new(AskingServer).session_on(there);
    let client_task = tokio::spawn(async move {
        let client = builder.connect(here).await?;
        for _ in 0..2 {
            let response = client.call_tool("x", json!({})).await?;
            assert!(response.content().contains("file:///r"), "{response:?}");
        }
        client.ping().await
    });
    // The handshake and its notification, the first call one message at a time,
    // the second within a number of requests, and the ping that was held back.
    for _ in 0..3 {
        assert!(within(session.process_one_message(TEST_TIMEOUT)).await.unwrap());
    }
    assert_eq!(within(session.serve_requests(1)).await, Ok(Cause::ClosedLocally));
    assert_eq!(within(session.serve_requests(1)).await, Ok(Cause::ClosedLocally));
    within(client_task).await.unwrap().unwrap();
}

#[tokio::test]
async fn a_response_never_answers_another_request() {
    let (sender, mut events) = tokio::sync::mpsc::unbounded_channel();
    let mut session = Server::new(TestServer { waiting: Some(sender) }).session();
    let initialize = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
    within(session.process_request(Frame::parse(initialize))).await.unwrap();
    let slow =
        Frame::parse(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wait"}}"#);
    let outcome =
        tokio::time::timeout(Duration::from_millis(20), session.process_request(slow)).await;
    assert!(outcome.is_err());
    assert_eq!(within(events.recv()).await, Some("started"));
    let next = Frame::parse(r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#);
    let response = within(session.process_request(next)).await.unwrap();
    assert_eq!(response.id().unwrap().to_string(), "2");
}

#[tokio::test]
async fn all_tasks_that_wait_for_the_peer_are_woken() {
    let (transport, link) = MemoryTransport::new();
    let _running = Server::new(TestServer::default()).spawn(link);
    let waiters: Vec<_> = (0..2)
        .map(|_| {
            let transport = transport.clone();
            tokio::spawn(async move { transport.wait_sent(TEST_TIMEOUT).await })
        })
        .collect();
    tokio::task::yield_now().await;
    for id in 1..=2 {
        transport.queue_incoming(format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#));
    }
    for waiter in waiters {
        assert!(within(waiter).await.unwrap().is_some());
    }
}
