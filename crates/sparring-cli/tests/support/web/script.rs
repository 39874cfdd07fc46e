//! An HTTP server that answers from a script, to test faults of servers over HTTP.
//!
//! The script is a list of responses. `=== WORD WORD` begins a response and names words
//! that the head or the body of the request must contain. The first response that matches
//! is sent as it is written, with the line ends of HTTP in its head, and with a
//! `content-length` unless it is an event stream. A last line `...` keeps the connection
//! open until the client closes it. The word `TLS` matches a client that does not begin
//! with HTTP.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::process::WAIT_LIMIT;

use super::listen::{Listening, Request, Stream, Tls, read};

/// A running server.
pub(crate) struct Scripted {
    listening: Listening,
    /// The received requests.
    requests: Receiver<Request>,
}

struct Answer {
    words: Vec<String>,
    bytes: Vec<u8>,
    /// True if another request may follow on the connection.
    goes_on: bool,
    /// True if the connection stays open after the response.
    stays: bool,
}

impl Scripted {
    /// Starts a server, also on a Unix socket if one is given, in a folder that must
    /// outlive the server.
    pub(crate) fn start(script: &str, socket: Option<&Path>) -> Scripted {
        let (answers, (sender, requests)) = (answers(script), channel());
        let work = move |stream: &mut dyn Stream| while answer(stream, &answers, &sender) {};
        Scripted { listening: Listening::start(socket, Arc::new(work)), requests }
    }

    /// Starts a server with TLS.
    pub(crate) fn secure(script: &str, config: Arc<ServerConfig>) -> Scripted {
        let (answers, (sender, requests)) = (answers(script), channel());
        let work = move |stream: &mut dyn Stream| {
            let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
            let mut stream = Tls(StreamOwned::new(connection, stream));
            while answer(&mut stream, &answers, &sender) {}
        };
        Scripted { listening: Listening::start(None, Arc::new(work)), requests }
    }

    pub(crate) fn port(&self) -> u16 {
        self.listening.port()
    }

    /// Waits for a request that contains this word.
    pub(crate) fn wait_for(&self, word: &str) {
        loop {
            let request = self.requests.recv_timeout(WAIT_LIMIT).unwrap();
            if request.has(word) {
                return;
            }
        }
    }
}

fn answers(script: &str) -> Vec<Answer> {
    script.split("=== ").skip(1).map(Answer::parse).collect()
}

/// Answers one request. Returns true if another may follow.
fn answer(stream: &mut dyn Stream, answers: &[Answer], seen: &Sender<Request>) -> bool {
    let fitting = match read(stream) {
        Ok(request) => {
            let fitting = answers.iter().find(|answer| answer.fits(&request));
            // The receiver may be gone.
            let _ = seen.send(request);
            fitting
        }
        Err(Some(_)) => answers.iter().find(|answer| answer.words == ["TLS"]),
        Err(None) => return false,
    };
    let Some(answer) = fitting else {
        stream.wait_for_the_end();
        return false;
    };
    if stream.write_all(&answer.bytes).is_err() {
        return false;
    }
    if answer.stays {
        stream.wait_for_the_end();
    }
    answer.goes_on
}

impl Answer {
    fn parse(text: &str) -> Answer {
        let (words, rest) = text.split_once('\n').unwrap();
        let words = words.split_whitespace().map(str::to_owned).collect();
        let (rest, stays) = match rest.strip_suffix("...\n") {
            Some(rest) => (rest, true),
            None => (rest.strip_suffix('\n').unwrap_or(rest), false),
        };
        if !rest.starts_with("HTTP/") {
            return Answer { words, bytes: rest.into(), goes_on: false, stays };
        }
        let (head, body) = rest.split_once("\n\n").unwrap_or((rest.trim_end(), ""));
        let mut head = head.replace('\n', "\r\n");
        let sized = !stays && !head.contains("text/event-stream");
        if sized {
            head += &format!("\r\ncontent-length: {}", body.len());
        }
        let bytes = format!("{head}\r\n\r\n{body}").into_bytes();
        Answer { words, bytes, goes_on: sized, stays }
    }

    fn fits(&self, request: &Request) -> bool {
        self.words.iter().all(|word| request.has(word))
    }
}
