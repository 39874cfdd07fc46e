//! An HTTP server that forwards everything to a stdio server, to compare the output of
//! each verb.

use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use sparring_wire::Frame;

use super::listen::{Listening, Request, Stream, read};

/// The id of the only session.
const SESSION: &str = "0123456789abcdef";

/// The kind of HTTP server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HttpKind {
    /// Streamable HTTP with JSON responses.
    Json,
    /// Streamable HTTP with event streams.
    Events,
    /// HTTP+SSE.
    Old,
}

/// A running server.
pub(crate) struct Bridge {
    listening: Listening,
    shared: Arc<Mutex<Shared>>,
    child: Child,
}

struct Shared {
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    /// The events of HTTP+SSE.
    events: Option<Sender<String>>,
    begun: bool,
    ended: bool,
}

impl Bridge {
    /// Starts a bridge to this script.
    pub(crate) fn start(way: HttpKind, script: &str, folder: &Path) -> Bridge {
        let mut command = Command::new("sh");
        command.arg(script).current_dir(folder).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (to, from) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let from = BufReader::new(from);
        let shared = Shared { to, from, events: None, begun: false, ended: false };
        let shared = Arc::new(Mutex::new(shared));
        let state = Arc::clone(&shared);
        let work = move |stream: &mut dyn Stream| {
            while let Ok(request) = read(stream) {
                if answer(way, &state, &request, stream).is_err() {
                    break;
                }
            }
        };
        Bridge { listening: Listening::start(None, Arc::new(work)), shared, child }
    }

    pub(crate) fn port(&self) -> u16 {
        self.listening.port()
    }

    /// Returns true if every session was deleted.
    pub(crate) fn is_left_clean(&self) -> bool {
        let shared = self.shared.lock().unwrap();
        shared.begun == shared.ended
    }
}

impl Drop for Bridge {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

fn answer(
    way: HttpKind,
    shared: &Mutex<Shared>,
    request: &Request,
    stream: &mut dyn Stream,
) -> io::Result<()> {
    match way {
        HttpKind::Old if request.is("GET") => {
            let (events, incoming) = channel();
            shared.lock().unwrap().events = Some(events);
            return serve_sse_stream(stream, &incoming);
        }
        HttpKind::Old if !request.head.contains(" /messages ") => {
            return respond(stream, "405 Method Not Allowed", "", "");
        }
        HttpKind::Json | HttpKind::Events if request.is("GET") => {
            return respond(stream, "405 Method Not Allowed", "", "");
        }
        _ => {}
    }
    let mut shared = shared.lock().unwrap();
    if request.is("DELETE") {
        shared.ended = request.header("mcp-session-id") == Some(SESSION);
        return respond(stream, "204 No Content", "", "");
    }
    let frame = Frame::parse(request.body.as_bytes());
    let begins = frame.method() == Some("initialize") && way != HttpKind::Old;
    if shared.begun && !begins && request.header("mcp-session-id") != Some(SESSION) {
        return respond(stream, "400 Bad Request", "", "the session is missing");
    }
    writeln!(shared.to, "{}", request.body)?;
    if frame.id().is_none() {
        return respond(stream, "202 Accepted", "", "");
    }
    let mut reply = String::new();
    shared.from.read_line(&mut reply)?;
    let reply = reply.trim_end();
    shared.begun |= begins;
    let session = if begins { format!("mcp-session-id: {SESSION}\r\n") } else { String::new() };
    let event = format!("event: message\r\ndata: {reply}\r\n\r\n");
    match way {
        HttpKind::Json => respond(
            stream,
            "200 OK",
            &format!("{session}content-type: application/json\r\n"),
            reply,
        ),
        HttpKind::Events => {
            let headers = format!("{session}content-type: text/event-stream\r\n");
            respond(stream, "200 OK", &headers, &event)
        }
        HttpKind::Old => {
            respond(stream, "202 Accepted", "", "Accepted")?;
            let events = shared.events.as_ref().expect("the stream comes first");
            events.send(event).map_err(io::Error::other)
        }
    }
}

/// Serves the stream of HTTP+SSE until the client closes it.
fn serve_sse_stream(stream: &mut dyn Stream, events: &Receiver<String>) -> io::Result<()> {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
    stream.write_all(format!("{head}event: endpoint\ndata: /messages\n\n").as_bytes())?;
    events.iter().try_for_each(|event| stream.write_all(event.as_bytes()))
}

fn respond(stream: &mut dyn Stream, status: &str, headers: &str, body: &str) -> io::Result<()> {
    let length = body.len();
    let head = format!("HTTP/1.1 {status}\r\n{headers}content-length: {length}\r\n\r\n");
    stream.write_all(format!("{head}{body}").as_bytes())
}
