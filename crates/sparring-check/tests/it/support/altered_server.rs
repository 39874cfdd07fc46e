//! The correct server on a stream of lines, whose messages a test alters.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use sparring_check::{CheckTarget, OpenFuture};
use sparring_peer::LineLink;
use sparring_transport::OpenedTarget;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream};

use super::{CORRECT, mock};

/// The buffer of a stream, in bytes.
const BUFFER: usize = 1024 * 1024;

/// What happens to a message of the client.
pub(crate) enum Action {
    /// The correct server gets it.
    Pass,
    /// The correct server does not get it, and the client gets these lines instead.
    Answer(Vec<String>),
    /// The client gets these lines, and the correct server gets the message.
    AnswerAndPass(Vec<String>),
    /// The correct server gets it after this time.
    PassAfter(Duration),
    /// The server ends.
    Close,
}

impl Action {
    /// Answers with one JSON value.
    pub(crate) fn json(value: Value) -> Action {
        Action::Answer(vec![value.to_string()])
    }
}

type OnRequest = Arc<dyn Fn(&Value) -> Action + Send + Sync>;
type OnLine = Arc<dyn Fn(Option<&Value>, String) -> Vec<String> + Send + Sync>;
type OnConnect = Arc<dyn Fn(AlteredServer) -> AlteredServer + Send + Sync>;
type OnBytes = Arc<dyn Fn(Vec<u8>) -> Vec<u8> + Send + Sync>;

/// The correct server, altered. Each connection has a server of its own, as with processes.
#[derive(Clone)]
pub(crate) struct AlteredServer {
    script: String,
    on_request: Vec<OnRequest>,
    on_line: Vec<OnLine>,
    on_bytes: Vec<OnBytes>,
    on_connect: Vec<OnConnect>,
}

impl Default for AlteredServer {
    fn default() -> Self {
        AlteredServer::new(CORRECT)
    }
}

impl AlteredServer {
    /// Serves this script.
    pub(crate) fn new(script: &str) -> Self {
        AlteredServer {
            script: script.to_owned(),
            on_request: Vec::new(),
            on_line: Vec::new(),
            on_bytes: Vec::new(),
            on_connect: Vec::new(),
        }
    }

    /// Sees each message of the client before the correct server does. A line that is not JSON
    /// is passed as a string.
    pub(crate) fn on_request(
        mut self,
        alter: impl Fn(&Value) -> Action + Send + Sync + 'static,
    ) -> Self {
        self.on_request.push(Arc::new(alter));
        self
    }

    /// Sees each message of the client with this method.
    pub(crate) fn on_method(
        self,
        method: &'static str,
        alter: impl Fn(&Value) -> Action + Send + Sync + 'static,
    ) -> Self {
        let alter = move |message: &Value| match message["method"] == method {
            true => alter(message),
            false => Action::Pass,
        };
        self.on_request(alter)
    }

    /// Replaces each line of the correct server. The request is the one that the line answers.
    pub(crate) fn on_line(
        mut self,
        alter: impl Fn(Option<&Value>, String) -> Vec<String> + Send + Sync + 'static,
    ) -> Self {
        self.on_line.push(Arc::new(alter));
        self
    }

    /// Sends these messages after each response to requests with this method.
    pub(crate) fn after_response(
        self,
        method: &'static str,
        messages: impl Fn() -> Vec<String> + Send + Sync + 'static,
    ) -> Self {
        self.on_line(move |request, line| match request {
            Some(request) if request["method"] == method => [vec![line], messages()].concat(),
            _ => vec![line],
        })
    }

    /// Replaces the bytes of each line to the client, with its end of line.
    pub(crate) fn on_bytes(
        mut self,
        alter: impl Fn(Vec<u8>) -> Vec<u8> + Send + Sync + 'static,
    ) -> Self {
        self.on_bytes.push(Arc::new(alter));
        self
    }

    fn bytes(&self, line: &str) -> Vec<u8> {
        let bytes = format!("{line}\n").into_bytes();
        self.on_bytes.iter().fold(bytes, |bytes, alter| alter(bytes))
    }

    /// Alters each response to requests with this method.
    pub(crate) fn on_response(
        self,
        method: &'static str,
        alter: impl Fn(&Value, &mut Value) + Send + Sync + 'static,
    ) -> Self {
        self.on_line(move |request, line| match request {
            Some(request) if request["method"] == method => {
                let mut response: Value = serde_json::from_str(&line).unwrap();
                alter(request, &mut response);
                vec![response.to_string()]
            }
            _ => vec![line],
        })
    }

    /// Alters each result of requests with this method.
    pub(crate) fn on_result(
        self,
        method: &'static str,
        alter: impl Fn(&mut Value) + Send + Sync + 'static,
    ) -> Self {
        self.on_response(method, move |_, response| {
            if let Some(result) = response.get_mut("result") {
                alter(result);
            }
        })
    }

    /// Alters the server of each connection, for state of one connection.
    pub(crate) fn on_connect(
        mut self,
        alter: impl Fn(AlteredServer) -> AlteredServer + Send + Sync + 'static,
    ) -> Self {
        self.on_connect.push(Arc::new(alter));
        self
    }

    async fn serve(mut self, client: DuplexStream) {
        for alter in std::mem::take(&mut self.on_connect) {
            self = alter(self);
        }
        let (here, there) = tokio::io::duplex(BUFFER);
        let mock = mock(&self.script);
        let _task = mock.spawn(LineLink::from_stream(there));
        let (client_input, mut client_output) = tokio::io::split(client);
        let (server_output, mut server_input) = tokio::io::split(here);
        let mut from_client = BufReader::new(client_input).split(b'\n');
        let mut from_server = BufReader::new(server_output).split(b'\n');
        let mut requests: Vec<Value> = Vec::new();
        loop {
            tokio::select! {
                line = from_client.next_segment() => {
                    let Ok(Some(line)) = line else { return };
                    let text = String::from_utf8_lossy(&line).into_owned();
                    let message = serde_json::from_str(&text).unwrap_or(Value::String(text));
                    let actions = self.on_request.iter().map(|alter| alter(&message));
                    let action = actions.into_iter().find(|it| !matches!(it, Action::Pass));
                    let (lines, pass) = match action.unwrap_or(Action::Pass) {
                        Action::Pass => (Vec::new(), true),
                        Action::Answer(lines) => (lines, false),
                        Action::AnswerAndPass(lines) => (lines, true),
                        Action::PassAfter(time) => {
                            let _ = tokio::time::timeout(time, std::future::pending::<()>()).await;
                            (Vec::new(), true)
                        }
                        Action::Close => return,
                    };
                    for line in lines {
                        let _ = client_output.write_all(&self.bytes(&line)).await;
                    }
                    if pass {
                        let _ = server_input.write_all(&[&line[..], b"\n"].concat()).await;
                        requests.push(message);
                    }
                }
                line = from_server.next_segment() => {
                    let Ok(Some(line)) = line else { return };
                    let line = String::from_utf8(line).unwrap();
                    let message: Value = serde_json::from_str(&line).unwrap();
                    let answers = message.get("method").is_none() && !message["id"].is_null();
                    let request = requests.iter().rev().find(|it| {
                        answers && it["id"] == message["id"] && it.get("method").is_some()
                    });
                    let mut lines = vec![line];
                    for alter in &self.on_line {
                        lines = lines.into_iter().flat_map(|line| alter(request, line)).collect();
                    }
                    for line in lines {
                        let _ = client_output.write_all(&self.bytes(&line)).await;
                    }
                }
            }
        }
    }
}

impl CheckTarget for AlteredServer {
    fn open(&self) -> OpenFuture<'_> {
        let (here, there) = tokio::io::duplex(BUFFER);
        tokio::spawn(self.clone().serve(there));
        Box::pin(std::future::ready(Ok(OpenedTarget::from_link(LineLink::from_stream(here)))))
    }

    fn starts_processes(&self) -> bool {
        true
    }
}
