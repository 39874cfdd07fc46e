//! Our client connected to a server of another project, from start to end.

use std::collections::BTreeSet;
use std::future::{Future, IntoFuture};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Map, Value, json};
use sparring_peer::client::{Error, ServerRequest};
use sparring_peer::{Client, ClientBuilder, Protocol, Response};
use sparring_transport::Stderr;
use sparring_wire::{Json, RawJson, Revision, Side, Transcript};

use super::peer::Peer;
use crate::script::wait_until_ended;

/// The error of a server without discovery.
pub(super) const NO_DISCOVERY: &str =
    "answered server/discover with an error: Method not found (-32601)";

/// The longest wait. Node and Python start slowly when all tests of the workspace run at once.
pub(super) const TEST_TIMEOUT: Duration = Duration::from_secs(60);

pub(super) async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(TEST_TIMEOUT, future).await.expect("nothing takes that long")
}

/// Our client connected to a server of another project.
pub(super) struct PeerConnection {
    pub(super) client: Client,
    /// The process, if it was started for this connection.
    id: Option<u32>,
    stderr: Option<Stderr>,
}

impl PeerConnection {
    pub(super) async fn in_revision(peer: &Peer, revision: Revision) -> PeerConnection {
        let connection =
            PeerConnection::with_client(answering_client().revision(revision), peer).await;
        assert_eq!(connection.client.revision(), Some(revision));
        connection
    }

    /// Connects with a client that the caller has prepared.
    pub(super) async fn with_client(client: ClientBuilder, peer: &Peer) -> PeerConnection {
        let (link, id, stderr) = peer.open();
        let client = within(client.timeout(TEST_TIMEOUT).connect(link)).await;
        let client = client.unwrap_or_else(|error| panic!("{}: {error}", peer.name()));
        PeerConnection { client, id, stderr }
    }

    pub(super) async fn call(&self, tool: &str, arguments: Value) -> Response {
        let response = within(self.client.call_tool(tool, arguments).into_future()).await;
        response.unwrap_or_else(|error| panic!("{tool}: {error}"))
    }

    /// Calls a tool that succeeds and returns its text.
    pub(super) async fn text(&self, tool: &str, arguments: Value) -> String {
        let response = self.call(tool, arguments).await;
        assert!(response.success(), "{tool}: {}", response.raw().text());
        response.content()
    }

    /// Calls a tool and returns its progress.
    pub(super) async fn progress(&self, tool: &str, arguments: Value) -> Vec<f64> {
        let steps = Arc::new(Mutex::new(Vec::new()));
        let recorded = Arc::clone(&steps);
        let call = self.client.call_tool(tool, arguments);
        let call = call.on_progress(move |step| recorded.lock().unwrap().push(step.progress));
        let response = within(call.into_future()).await.unwrap();
        assert!(response.success(), "{tool}: {}", response.raw().text());
        steps.lock().unwrap().clone()
    }

    pub(super) async fn tools(&self) -> BTreeSet<String> {
        let tools = within(self.client.list_tools()).await.unwrap();
        tools.into_iter().map(|tool| tool.name).collect()
    }

    pub(super) async fn resources(&self) -> Vec<String> {
        let resources = within(self.client.list_resources()).await.unwrap();
        resources.into_iter().map(|resource| resource.uri).collect()
    }

    pub(super) async fn prompts(&self) -> Vec<String> {
        let prompts = within(self.client.list_prompts()).await.unwrap();
        prompts.into_iter().map(|prompt| prompt.name).collect()
    }

    /// Checks the parts that all example servers have: a note, a greeting, and three steps.
    async fn check_common_parts(&self, tools: &[&str], tone: Value, greeting: &str) {
        let revision = self.client.revision();
        let found: Vec<_> = self.tools().await.into_iter().collect();
        assert_eq!(found, tools, "{revision:?}");
        assert_eq!(self.resources().await, ["desk://note"], "{revision:?}");
        assert_eq!(self.prompts().await, ["greet"], "{revision:?}");
        let steps = self.progress("progress", json!({})).await;
        assert_eq!(steps, [1.0, 2.0, 3.0], "{revision:?}");
        let note = within(self.client.read_resource("desk://note")).await.unwrap();
        assert_eq!(note.contents[0].text.as_deref(), Some("water the plants"), "{revision:?}");
        let prompt = within(self.client.get_prompt("greet", tone)).await.unwrap();
        assert_eq!(prompt.messages[0].content.as_text(), Some(greeting), "{revision:?}");
    }

    /// Checks an example server in Python with these tools.
    pub(super) async fn use_python(&self, tools: &[&str]) {
        self.check_common_parts(tools, json!({"tone": "low"}), "Say hello in a low tone.").await;
        let revision = self.client.revision();
        assert_eq!(self.text("add", json!({"a": 2, "b": 3})).await, "5", "{revision:?}");
        let failed = self.call("fail", json!({})).await;
        assert!(failed.is_error() && failed.content().contains("no luck"), "{revision:?}");
        let missing = within(self.client.read_resource("desk://z")).await.unwrap_err();
        assert!(missing.to_string().contains("desk://z"), "{revision:?}: {missing}");
    }

    /// Checks an example server in Rust.
    pub(super) async fn use_rust(&self) {
        self.check_common_parts(&["ask", "echo", "progress"], json!({}), "Say hello.").await;
        let revision = self.client.revision();
        let echoed = self.text("echo", json!({"message": "a\n😀"})).await;
        assert_eq!(echoed, "a\n😀", "{revision:?}");
        if revision >= Some(Revision::V2025_06_18) {
            assert_eq!(self.text("ask", json!({})).await, "hello Ferris", "{revision:?}");
        }
    }

    /// Closes; checks that the server has ended and that no side violated a rule.
    pub(super) async fn end(self) {
        self.end_with(&[]).await;
    }

    /// The same with expected violations of the server: rule, path and section.
    pub(super) async fn end_with(self, expected: &[(&str, &str, &str)]) {
        within(self.client.close()).await;
        if let Some(id) = self.id {
            wait_until_ended(id).await;
        }
        let transcript = self.client.transcript();
        let wrong: Vec<_> = transcript.violations();
        let found: Vec<_> =
            wrong.iter().map(|it| (it.rule.id(), &*it.path, &*it.section)).collect();
        let stderr = self.stderr.map(|stderr| stderr.text()).unwrap_or_default();
        assert_eq!(found, expected, "{}its stderr: {stderr}", render_violations(transcript));
        // A slow server answers the handshake late that a client sends when discovery takes
        // long; the other answers were not requested.
        for name in ["noise", "foreign", "duplicate"] {
            assert_eq!(self.client.unclaimed().by_name(name), [], "{name}");
        }
    }
}

/// Returns a client that answers questions.
pub(super) fn answering_client() -> ClientBuilder {
    Client::builder()
        .answer(ServerRequest::Elicitation, |params| async move { Ok(fill_in_form(&params)) })
}

/// Fills in the first field of the form.
fn fill_in_form(params: &RawJson) -> Value {
    let fields = params.view().get_path(&["requestedSchema", "properties"]);
    let field = fields.into_iter().flat_map(Json::members).next().expect("a field");
    let content = Map::from_iter([(field.0.name().into_owned(), json!("Ferris"))]);
    json!({"action": "accept", "content": content})
}

/// Checks that a client without a fixed revision negotiates this one.
pub(super) async fn check_negotiates(peer: &Peer, newest: Revision) -> PeerConnection {
    let connection =
        PeerConnection::with_client(answering_client().protocol(Protocol::Auto), peer).await;
    let expected = peer.supported_revisions([newest]).next().unwrap_or(Revision::LATEST_LEGACY);
    assert_eq!(connection.client.revision(), Some(expected));
    within(connection.client.ping()).await.unwrap();
    connection
}

/// Checks that a client with only this revision receives the server's revisions, and that the
/// server has ended.
pub(super) async fn check_refuses(peer: &Peer, revision: Revision, expected: &str) {
    let (link, id, _) = peer.open();
    let transcript = Transcript::default();
    let client = Client::builder().revision(revision).timeout(TEST_TIMEOUT);
    let client = client.transcript(transcript.clone());
    let error = within(client.connect(link)).await.map(drop).unwrap_err();
    let Error::NoCommonVersion { ours, theirs } = &error else { panic!("{error}") };
    assert_eq!((&**ours, &**theirs), (&[revision][..], &[expected.to_owned()][..]), "{error}");
    assert_eq!(transcript.violations(), [], "{}", render_violations(&transcript));
    if let Some(id) = id {
        wait_until_ended(id).await;
    }
}

/// Lists the frames with violations, for a message.
fn render_violations(transcript: &Transcript) -> String {
    let entries = transcript.entries().into_iter();
    let wrong = entries.filter(|entry| !entry.violations.is_empty());
    let lines = wrong.map(|entry| {
        let who = if entry.from == Side::Client { "our client" } else { "the server" };
        let found: Vec<_> = entry.violations.iter().map(ToString::to_string).collect();
        format!("{who} sent {}: {}\n", entry.frame.text(), found.join("; "))
    });
    lines.collect()
}
