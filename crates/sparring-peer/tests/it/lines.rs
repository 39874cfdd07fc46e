//! Newline-delimited frames over byte streams with arbitrary chunks.

use std::time::Duration;

use serde_json::json;
use sparring_peer::link::LineLinkOptions;
use sparring_peer::{Client, Incoming, LineLink, Link, Server};
use sparring_wire::{Frame, Revision};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};

use crate::fixture::{TEST_TIMEOUT, TestServer, within};

fn lines(stream: DuplexStream, max_line: usize) -> impl Link {
    let (reader, writer) = tokio::io::split(stream);
    LineLink::new(reader, writer, LineLinkOptions { max_line_bytes: max_line })
}

async fn next(link: &mut impl Link) -> Incoming {
    within(std::future::poll_fn(|cx| link.poll_receive(cx))).await
}

fn frame(incoming: Incoming) -> Frame {
    match incoming {
        Incoming::Frame { frame, .. } => frame,
        other => panic!("expected a frame, found {other:?}"),
    }
}

#[tokio::test]
async fn a_reply_a_byte_at_a_time_is_read() {
    let (mut far, near) = tokio::io::duplex(1);
    let mut link = lines(near, 1024);
    let writing = tokio::spawn(async move {
        for byte in b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\r\n\n  \nlast" {
            far.write_all(&[*byte]).await.unwrap();
        }
    });
    assert_eq!(frame(next(&mut link).await).bytes(), br#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    assert!(
        matches!(next(&mut link).await, Incoming::Noise { frame: noise, .. } if noise.bytes() == b"last")
    );
    assert!(matches!(next(&mut link).await, Incoming::Closed(_)));
    within(writing).await.unwrap();
}

#[tokio::test]
async fn the_link_delivers_many_frames_of_one_chunk_one_by_one() {
    let (mut far, near) = tokio::io::duplex(64 * 1024);
    let mut link = lines(near, 1024);
    let chunk: String = (0..100)
        .map(|id| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{}}}}\n"))
        .collect();
    far.write_all(chunk.as_bytes()).await.unwrap();
    for id in 0..100 {
        assert_eq!(frame(next(&mut link).await).id().unwrap().to_string(), id.to_string());
    }
}

#[tokio::test]
async fn a_line_that_is_too_long_is_noise_and_the_next_is_read() {
    let (mut far, near) = tokio::io::duplex(4096);
    let mut link = lines(near, 1000);
    let writing = tokio::spawn(async move {
        far.write_all(&vec![b'x'; 3_000_000]).await.unwrap();
        far.write_all(b"\n{\"jsonrpc\":\"2.0\",\"method\":\"a\"}\n").await.unwrap();
        far
    });
    let Incoming::Noise { frame: noise, .. } = next(&mut link).await else {
        panic!("expected noise")
    };
    assert_eq!(noise.violations()[0].rule.id(), "wire/too-large");
    assert!(noise.violations()[0].message.contains("1000"));
    assert!(noise.bytes().len() <= 4096, "only the beginning is kept");
    assert_eq!(frame(next(&mut link).await).method(), Some("a"));
    within(writing).await.unwrap();
}

#[tokio::test]
async fn a_reply_that_is_too_long_fails_the_request_it_answers_at_once() {
    let (far, near) = tokio::io::duplex(64 * 1024);
    let client =
        Client::builder().protocol(sparring_peer::Protocol::Raw).connect(lines(near, 10_000));
    let client = within(client).await.unwrap();
    let request = client.request("tools/call", None).start();
    let (mut reader, mut writer) = tokio::io::split(far);
    let mut asked = [0; 1024];
    let length = within(reader.read(&mut asked)).await.unwrap();
    let id = Frame::parse(asked[..length].trim_ascii()).id().unwrap().to_string();
    let reply = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"x\":\"{}\"}}}}\n",
        "y".repeat(50_000)
    );
    writer.write_all(reply.as_bytes()).await.unwrap();
    let error = within(request).await.unwrap_err().to_string();
    assert!(error.contains("10000 bytes") && error.contains("tools/call"), "{error}");
}

#[tokio::test]
async fn large_frames_pass_whole() {
    let (far, near) = tokio::io::duplex(512);
    let _running = Server::new(TestServer::default()).spawn(LineLink::from_stream(far));
    let client = within(
        Client::builder().revision(Revision::V2025_11_25).connect(LineLink::from_stream(near)),
    )
    .await
    .unwrap();
    let message = "é".repeat(2_000_000);
    let response = tokio::time::timeout(
        Duration::from_secs(60),
        client.call_tool("echo", json!({"message": message})).into_future(),
    );
    assert_eq!(response.await.unwrap().unwrap().content(), format!("{message}!"));
}

#[tokio::test]
async fn a_closed_writer_still_receives_the_last_responses() {
    let (mut far, near) = tokio::io::duplex(64 * 1024);
    let client = within(
        Client::builder()
            .protocol(sparring_peer::Protocol::Raw)
            .connect(LineLink::from_stream(near)),
    )
    .await
    .unwrap();
    let request = client.request("a", None).start();
    let mut asked = [0; 1024];
    let length = within(far.read(&mut asked)).await.unwrap();
    let id = Frame::parse(asked[..length].trim_ascii()).id().unwrap().to_string();
    far.write_all(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{}}}}\n").as_bytes())
        .await
        .unwrap();
    drop(far);
    assert!(within(request).await.unwrap().success());
    within(client.closed()).await;
    assert!(matches!(
        client.request("b", None).timeout(TEST_TIMEOUT).await,
        Err(sparring_peer::client::Error::Closed { .. })
    ));
}
