//! Named pipes whose other end is opened late, partly, in another order, or never, or is
//! closed.

use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::Duration;

use sparring_peer::{Cause, Client, Handler, Server};
use sparring_transport::NamedPipes;
use sparring_wire::Revision;
use tempfile::TempDir;
use tokio::io::AsyncBufReadExt as _;

use crate::script::{TEST_TIMEOUT, within};

struct Empty;

impl Handler for Empty {}

/// Long enough for an end that is opened; tests without one wait for all of it.
const SHORT_TIMEOUT: Duration = Duration::from_millis(50);

fn pipes() -> (TempDir, NamedPipes) {
    let folder = tempfile::tempdir().unwrap();
    let pipes = NamedPipes::from_base(&folder.path().join("pipe"));
    pipes.create().unwrap();
    (folder, pipes)
}

#[test]
fn creates_both_pipes_or_none() {
    let folder = tempfile::tempdir().unwrap();
    let pipes = NamedPipes::from_base(&folder.path().join("pipe"));
    std::fs::write(&pipes.to_client, "in the way").unwrap();
    let error = pipes.create().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AlreadyExists);
    assert!(error.to_string().contains("pipe.out"), "{error}");
    assert!(!pipes.to_server.exists(), "the first goes when there is no second");
}

#[test]
fn leaves_neither_thread_nor_reader_after_a_timeout() {
    let (_folder, pipes) = pipes();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        tokio::select! {
            biased;
            _ = pipes.open_as_server(TEST_TIMEOUT) => panic!("no client opens the pipe"),
            () = tokio::task::yield_now() => {}
        }
    });
    // The drop would wait for a blocked thread.
    drop(runtime);
    let alone =
        OpenOptions::new().write(true).custom_flags(nonblocking_flag()).open(&pipes.to_server);
    let nobody_reads = rustix::io::Errno::NXIO.raw_os_error();
    assert_eq!(alone.unwrap_err().raw_os_error(), Some(nobody_reads));
}

#[tokio::test]
async fn one_open_pipe_is_not_a_connection() {
    let (_folder, pipes) = pipes();
    let open = |path: &Path, write: bool| {
        OpenOptions::new().read(!write).write(write).custom_flags(nonblocking_flag()).open(path)
    };
    let reader = open(&pipes.to_client, false).unwrap();
    let error = within(pipes.open_as_server(SHORT_TIMEOUT)).await.err().unwrap();
    assert_eq!(error.kind(), ErrorKind::TimedOut, "no writer: {error}");
    drop(reader);
    let reader = open(&pipes.to_server, false).unwrap();
    let _writer = open(&pipes.to_server, true).unwrap();
    let error = within(pipes.open_as_server(SHORT_TIMEOUT)).await.err().unwrap();
    assert_eq!(error.kind(), ErrorKind::TimedOut, "no reader: {error}");
    drop(reader);
}

#[tokio::test]
async fn the_other_side_may_open_its_ends_in_any_order_and_block() {
    for writes_first in [false, true] {
        let (_folder, pipes) = pipes();
        let there = pipes.clone();
        let server = std::thread::spawn(move || {
            let read = || OpenOptions::new().read(true).open(&there.to_server).unwrap();
            let write = || OpenOptions::new().write(true).open(&there.to_client).unwrap();
            let (reader, mut writer) = match writes_first {
                true => {
                    let writer = write();
                    (read(), writer)
                }
                false => (read(), write()),
            };
            let asked = BufReader::new(reader).lines().next().unwrap().unwrap();
            assert!(asked.contains("ping"), "{asked}");
            writer.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n").unwrap();
        });
        let link = within(pipes.open_as_client(TEST_TIMEOUT)).await.unwrap();
        let client =
            within(Client::builder().protocol(sparring_peer::client::Protocol::Raw).connect(link))
                .await
                .unwrap();
        within(client.request("ping", None).into_future()).await.unwrap();
        assert_eq!(within(client.closed()).await, Cause::EndOfInput, "it went away");
        server.join().unwrap();
    }
}

#[tokio::test]
async fn reads_bytes_written_before_the_connection() {
    for before in ["", "\n"] {
        let (_folder, pipes) = pipes();
        let mut writer = OpenOptions::new().read(true).write(true).open(&pipes.to_server).unwrap();
        let ping = r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#;
        writer.write_all(format!("{before}{ping}\n").as_bytes()).unwrap();
        let reader = tokio::net::unix::pipe::OpenOptions::new().open_receiver(&pipes.to_client);
        let mut answers = tokio::io::BufReader::new(reader.unwrap()).lines();
        let link = within(pipes.open_as_server(TEST_TIMEOUT)).await.unwrap();
        let _running = Server::new(Empty).spawn(link);
        let answer = within(answers.next_line()).await.unwrap();
        assert_eq!(answer.as_deref(), Some(r#"{"jsonrpc":"2.0","id":7,"result":{}}"#));
    }
}

#[tokio::test]
async fn reports_a_closed_end_to_the_other_side() {
    let (_folder, pipes) = pipes();
    let both = || async {
        let (here, there) =
            tokio::join!(pipes.open_as_client(TEST_TIMEOUT), pipes.open_as_server(TEST_TIMEOUT));
        let running = Server::new(Empty).spawn(there.unwrap());
        let client = Client::builder().revision(Revision::V2025_11_25).connect(here.unwrap());
        (within(client).await.unwrap(), running)
    };
    let (client, mut running) = both().await;
    drop(client);
    assert_eq!(within(running.wait()).await, Cause::EndOfInput);
    let (client, running) = both().await;
    drop(running);
    assert_eq!(within(client.closed()).await, Cause::EndOfInput);
    let error = within(client.ping()).await.unwrap_err();
    assert!(error.to_string().contains("closed the connection"), "{error}");
}

#[tokio::test]
async fn names_a_file_that_is_not_a_pipe() {
    let folder = tempfile::tempdir().unwrap();
    let pipes = NamedPipes::from_base(&folder.path().join("pipe"));
    std::fs::write(&pipes.to_server, "text").unwrap();
    std::fs::write(&pipes.to_client, "text").unwrap();
    let error = within(pipes.open_as_server(TEST_TIMEOUT)).await.err().unwrap();
    assert!(error.to_string().contains("pipe.in"), "{error}");
    assert_eq!(std::fs::read(&pipes.to_client).unwrap(), b"text");
}

fn nonblocking_flag() -> i32 {
    i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap()
}
