//! Four ways to ask the same server the same thing. The bench takes them too.

use std::time::Duration;

use serde_json::{Value, json};
use sparring::server::{Running, Session};
use sparring::transport::NamedPipes;
use sparring::{ChildTarget, Client, Frame, Id, MemoryTransport, Revision};
use sql::{Settings, SqlServer, serve};

/// What all of them speak.
const REVISION: Revision = Revision::V2025_11_25;

/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// The names of the ways, least machinery first.
pub(crate) const WAYS: [&str; 4] =
    ["direct request", "memory transport", "loopback pipe", "external process"];

/// A server that is reached in one of the ways, with the shop as its database.
pub(crate) enum Way {
    /// A request is handed to it, and the response taken; there is no transport.
    Direct(Box<Session<SqlServer>>),
    /// A message is queued, one is processed, and what was sent is taken.
    Memory(MemoryTransport, Box<Session<SqlServer>>),
    /// A client and the server, joined by two named pipes in this process.
    Pipe(Client, #[expect(dead_code, reason = "it lives as long as the client")] Running),
    /// A client and the program, joined by its stdin and stdout.
    Process(Client),
}

fn shop() -> String {
    format!("{}/shop.sql", env!("CARGO_MANIFEST_DIR"))
}

impl Way {
    /// Starts a server to be reached in this way.
    pub(crate) async fn open(name: &str) -> Way {
        let server = || {
            let init = Some(shop().into());
            serve(&Settings { init, ..Settings::default() }).expect("a server")
        };
        let client = Client::builder().revision(REVISION);
        match name {
            "direct request" => Way::Direct(Box::new(server().session())).initialized().await,
            "memory transport" => {
                let (transport, link) = MemoryTransport::new();
                Way::Memory(transport, Box::new(server().on(link))).initialized().await
            }
            "loopback pipe" => {
                let folder = tempfile::tempdir().expect("a folder");
                let pipes = NamedPipes::at(&folder.path().join("pipe"));
                pipes.create().expect("pipes");
                let (here, there) =
                    tokio::join!(pipes.open_as_client(PATIENCE), pipes.open_as_server(PATIENCE));
                let running = server().spawn(there.expect("the server's end"));
                let client = client.connect(here.expect("the client's end")).await;
                Way::Pipe(client.expect("a client"), running)
            }
            "external process" => {
                let program = ChildTarget::new(env!("CARGO_BIN_EXE_sql-server"));
                let client = client.connect(program.args(["--init", &shop()])).await;
                Way::Process(client.expect("a client"))
            }
            other => panic!("there is no way {other}"),
        }
    }

    /// Does by hand what a client does when it connects.
    async fn initialized(mut self) -> Way {
        let params = json!({
            "protocolVersion": REVISION.name(), "capabilities": {},
            "clientInfo": {"name": "by hand", "version": "1"},
        });
        self.ask("initialize", params).await;
        let told = Frame::notification("notifications/initialized", None);
        match &mut self {
            Way::Direct(session) => {
                assert_eq!(session.process_request(told).await, None, "it has no response");
            }
            Way::Memory(transport, session) => {
                transport.queue_incoming(told.bytes());
                assert_eq!(session.process_one_message(PATIENCE).await, Ok(true));
            }
            Way::Pipe(..) | Way::Process(_) => {}
        }
        self
    }

    /// Asks something, and gives the result or the error as it came.
    pub(crate) async fn ask(&mut self, method: &str, params: Value) -> Value {
        let request = || Frame::request(&Id::Integer(1), method, Some(&params.clone().into()));
        let answer = match self {
            Way::Direct(session) => {
                let request = Frame::parse(request().bytes());
                session.process_request(request).await.expect("a response")
            }
            Way::Memory(transport, session) => {
                transport.queue_incoming(request().bytes());
                assert_eq!(session.process_one_message(PATIENCE).await, Ok(true));
                // What all clients are told may stand around it.
                let mut sent = std::iter::from_fn(|| transport.next_sent());
                sent.find(|frame| frame.id().is_some()).expect("a response")
            }
            Way::Pipe(client, _) | Way::Process(client) => {
                let answer = client.request(method, Some(params.into())).await;
                answer.expect("a response").raw().clone()
            }
        };
        let given = answer.result().or(answer.error()).expect("a result or an error");
        given.to().expect("JSON")
    }

    /// Calls a tool.
    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.ask("tools/call", json!({"name": tool, "arguments": arguments})).await
    }
}
