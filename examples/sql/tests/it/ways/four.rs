//! Four ways to send the same request to the same server. The benchmark uses them too.

use std::time::Duration;

use serde_json::{Value, json};
use sparring::server::{ServerTask, Session};
use sparring::transport::NamedPipes;
use sparring::{ChildTarget, Client, Frame, Id, MemoryTransport, Revision};
use sql::{Settings, SqlServer, serve};

/// The revision of all four ways.
const REVISION: Revision = Revision::V2025_11_25;

/// Maximum wait for anything.
const TEST_TIMEOUT: Duration = Duration::from_secs(30);

/// The names of the ways; the first has the least machinery.
pub(crate) const WAYS: [&str; 4] =
    ["direct request", "memory transport", "loopback pipe", "external process"];

/// A server with the shop as its database, reached in one of the ways.
pub(crate) enum Way {
    /// The test passes a request to the session and gets the response, without a transport.
    Direct(Box<Session<SqlServer>>),
    /// The test queues a message, processes it, and reads the sent messages.
    Memory(MemoryTransport, Box<Session<SqlServer>>),
    /// A client and the server in this process, connected by two named pipes.
    Pipe(Client, #[expect(dead_code, reason = "it lives as long as the client")] ServerTask),
    /// A client and the program, connected by its stdin and stdout.
    Process(Client),
}

fn shop() -> String {
    format!("{}/shop.sql", env!("CARGO_MANIFEST_DIR"))
}

impl Way {
    /// Starts a server that is reached in this way.
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
                Way::Memory(transport, Box::new(server().session_on(link))).initialized().await
            }
            "loopback pipe" => {
                let folder = tempfile::tempdir().expect("a folder");
                let pipes = NamedPipes::from_base(&folder.path().join("pipe"));
                pipes.create().expect("pipes");
                let (here, there) = tokio::join!(
                    pipes.open_as_client(TEST_TIMEOUT),
                    pipes.open_as_server(TEST_TIMEOUT)
                );
                let running = server().spawn(there.expect("the server's end"));
                let client = client.connect(here.expect("the client's end")).await;
                Way::Pipe(client.expect("a client"), running)
            }
            "external process" => {
                let program = ChildTarget::new(env!("CARGO_BIN_EXE_sql-server"));
                let client = client.connect(program.args(["--init", &shop()])).await;
                Way::Process(client.expect("a client"))
            }
            other => panic!("unknown way {other}"),
        }
    }

    /// Sends the handshake that a client sends when it connects.
    async fn initialized(mut self) -> Way {
        let params = json!({
            "protocolVersion": REVISION.name(), "capabilities": {},
            "clientInfo": {"name": "by hand", "version": "1"},
        });
        self.ask("initialize", params).await;
        let initialized = Frame::notification("notifications/initialized", None);
        match &mut self {
            Way::Direct(session) => {
                assert_eq!(session.process_request(initialized).await, None, "it has no response");
            }
            Way::Memory(transport, session) => {
                transport.queue_incoming(initialized.bytes());
                assert_eq!(session.process_one_message(TEST_TIMEOUT).await, Ok(true));
            }
            Way::Pipe(..) | Way::Process(_) => {}
        }
        self
    }

    /// Sends a request, and returns its result or error.
    pub(crate) async fn ask(&mut self, method: &str, params: Value) -> Value {
        let request = || Frame::request(&Id::Integer(1), method, Some(&params.clone().into()));
        let answer = match self {
            Way::Direct(session) => {
                let request = Frame::parse(request().bytes());
                session.process_request(request).await.expect("a response")
            }
            Way::Memory(transport, session) => {
                transport.queue_incoming(request().bytes());
                assert_eq!(session.process_one_message(TEST_TIMEOUT).await, Ok(true));
                // Notifications to all clients may surround the response.
                let mut sent = std::iter::from_fn(|| transport.next_sent());
                sent.find(|frame| frame.id().is_some()).expect("a response")
            }
            Way::Pipe(client, _) | Way::Process(client) => {
                let answer = client.request(method, Some(params.into())).await;
                answer.expect("a response").raw().clone()
            }
        };
        let given = answer.result().or(answer.error()).expect("a result or an error");
        given.deserialize().expect("JSON")
    }

    /// Calls a tool.
    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.ask("tools/call", json!({"name": tool, "arguments": arguments})).await
    }
}
