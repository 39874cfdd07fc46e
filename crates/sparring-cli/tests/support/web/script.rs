//! A server that answers as a file says, for the faults of servers over HTTP.
//!
//! The file has one answer after the other. `=== WORD WORD` begins one, and says
//! what a request must have in it, head or body; the first that fits is given.
//! What follows is the answer as it stands, the lines of its head ended as HTTP
//! wants it, with a `content-length` unless it is a stream of events. A last line
//! `...` keeps it open until the client has enough. The word `TLS` stands for a
//! client that begins with something else than HTTP.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::process::PATIENCE;

use super::listen::{Listening, Request, Stream, Tls, read};

/// A running server.
pub(crate) struct Scripted {
    listening: Listening,
    /// What has come in, as it came.
    requests: Receiver<Request>,
}

struct Answer {
    words: Vec<String>,
    bytes: Vec<u8>,
    /// Whether the connection can have another request.
    goes_on: bool,
    /// Whether it is kept open although nothing more comes.
    stays: bool,
}

impl Scripted {
    /// Starts one, also on a Unix socket if there shall be one, in a folder that
    /// must outlive the server.
    pub(crate) fn start(script: &str, socket: Option<&Path>) -> Scripted {
        let (answers, (sender, requests)) = (answers(script), channel());
        let work = move |stream: &mut dyn Stream| while answer(stream, &answers, &sender) {};
        Scripted { listening: Listening::start(socket, Arc::new(work)), requests }
    }

    /// Starts one that speaks TLS.
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

    /// Waits for a request that has this word in it.
    pub(crate) fn wait_for(&self, word: &str) {
        loop {
            let request = self.requests.recv_timeout(PATIENCE).unwrap();
            if request.has(word) {
                return;
            }
        }
    }
}

fn answers(script: &str) -> Vec<Answer> {
    script.split("=== ").skip(1).map(Answer::parse).collect()
}

/// Answers one request; whether there can be another.
fn answer(stream: &mut dyn Stream, answers: &[Answer], seen: &Sender<Request>) -> bool {
    let fitting = match read(stream) {
        Ok(request) => {
            let fitting = answers.iter().find(|answer| answer.fits(&request));
            // Nobody need look.
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
