//! Builds a client: revision, timeout, capabilities, and answers to the server's
//! requests.

use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use sparring_peer::client::{ClientOptions, Protocol, ServerRequest};
use sparring_wire::{ErrorObject, RawJson, Revision, Transcript};

use super::connection::Client;
use crate::Error;
use crate::connect::{Connect, InMemory, OpenedLink};
use crate::failure_context::FailureContext;
use crate::output_schemas::OutputSchemas;

/// Builds a client with other than the default options.
///
/// ```
/// # use sparring::blocking::Wait as _;
/// # use sparring::{Client, MockServer, Revision};
/// # use std::time::Duration;
/// # let mock = MockServer::from_yaml("tools: [{name: greet, text: hello}]", ".")?;
/// let client = Client::builder()
///     .revision(Revision::V2025_06_18)
///     .timeout(Duration::from_secs(5))
///     .in_memory(mock)
///     .wait()?;
/// assert_eq!(client.revision(), Some(Revision::V2025_06_18));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct ClientBuilder {
    peer: sparring_peer::ClientBuilder,
    /// True if results are not checked against the output schemas of their tools.
    ignores_output_schemas: bool,
}

impl ClientBuilder {
    /// Starts from these options.
    ///
    /// ```
    /// # use sparring::blocking::Wait as _;
    /// # use sparring::{ClientBuilder, ClientOptions, MockServer};
    /// # let mock = MockServer::from_yaml(
    /// #     "tools: [{name: greet, text: hello}, {name: part, text: bye}]",
    /// #     ".",
    /// # )?;
    /// let options = ClientOptions { max_items: 1, ..ClientOptions::default() };
    /// let client = ClientBuilder::with_options(options).in_memory(mock).wait()?;
    /// let error = client.list_tools().wait().expect_err("there are two tools");
    /// assert!(error.to_string().starts_with("tools/list returned an endless list"), "{error}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_options(options: ClientOptions) -> Self {
        let peer = sparring_peer::ClientBuilder::with_options(options);
        ClientBuilder { peer, ignores_output_schemas: false }
    }

    /// Sets the client's name and version.
    ///
    /// ```
    /// # use sparring::blocking::Wait as _;
    /// # use sparring::{Client, MockServer};
    /// # use serde_json::json;
    /// # let mock = MockServer::from_yaml(
    /// #     "tools: [{name: whoami, text: \"${client.name} ${client.version}\"}]",
    /// #     ".",
    /// # )?;
    /// let client = Client::builder().info("my-agent", "1.2.0").in_memory(mock).wait()?;
    /// client.call_tool("whoami", json!({})).wait()?.assert_text("my-agent 1.2.0");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn info(self, name: &str, version: &str) -> Self {
        ClientBuilder { peer: self.peer.info(name, version), ..self }
    }

    /// Sets the choice of the revision.
    ///
    /// ```
    /// # use sparring::blocking::Wait as _;
    /// # use sparring::{Client, MockServer, Protocol};
    /// # let mock = MockServer::from_yaml("tools: [{name: greet, text: hello}]", ".")?;
    /// let client = Client::builder().protocol(Protocol::Raw).in_memory(mock).wait()?;
    /// assert!(client.transcript().is_empty(), "nothing is sent that the test does not send");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn protocol(self, protocol: Protocol) -> Self {
        ClientBuilder { peer: self.peer.protocol(protocol), ..self }
    }

    /// Uses this revision, or fails to connect.
    ///
    /// ```
    /// # use sparring::blocking::Wait as _;
    /// # use sparring::{Client, MockServer, Revision};
    /// # let mock = MockServer::from_yaml("protocol: 2025-06-18", ".")?;
    /// let old = Client::builder().revision(Revision::V2025_06_18).in_memory(&mock).wait()?;
    /// assert_eq!(old.revision(), Some(Revision::V2025_06_18));
    /// assert!(Client::builder().revision(Revision::V2026_07_28).in_memory(&mock).wait().is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn revision(self, revision: Revision) -> Self {
        ClientBuilder { peer: self.peer.revision(revision), ..self }
    }

    /// Sets the timeout of connecting, and of each request.
    ///
    /// ```
    /// # use sparring::blocking::Wait as _;
    /// # use sparring::{Client, MockServer};
    /// # use std::time::Duration;
    /// # let mock = MockServer::from_yaml("tools: [{name: greet, text: hello}]", ".")?;
    /// let client = Client::builder().timeout(Duration::from_secs(5)).in_memory(mock).wait()?;
    /// assert_eq!(client.timeout(), Duration::from_secs(5));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn timeout(self, timeout: Duration) -> Self {
        ClientBuilder { peer: self.peer.timeout(timeout), ..self }
    }

    /// Declares a capability, even if the client answers no such requests.
    ///
    /// ```
    /// # use sparring::blocking::Wait as _;
    /// # use sparring::{Client, MockServer};
    /// # use serde_json::json;
    /// # let mock = MockServer::from_yaml(
    /// #     "tools: [{name: think, requires: sampling, text: done}]",
    /// #     ".",
    /// # )?;
    /// let client = Client::builder().capability("sampling", json!({})).in_memory(&mock).wait()?;
    /// client.call_tool("think", json!({})).wait()?.assert_text("done");
    /// let other = Client::in_memory(&mock).wait()?;
    /// assert!(other.call_tool("think", json!({})).wait()?.error().is_some());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn capability(self, name: &str, value: Value) -> Self {
        ClientBuilder { peer: self.peer.capability(name, value), ..self }
    }

    /// Declares exactly these capabilities, independent of the requests that the client
    /// answers. A value that
    /// is not an object declares none.
    ///
    /// ```
    /// # use sparring::blocking::Wait as _;
    /// # use sparring::{Client, MockServer};
    /// # use serde_json::json;
    /// # let mock = MockServer::from_yaml(
    /// #     "tools: [{name: where, requires: roots, text: here}]",
    /// #     ".",
    /// # )?;
    /// let able = Client::builder().roots(["file:///home"]);
    /// let silent = able.capabilities(json!({})).in_memory(mock).wait()?;
    /// assert!(silent.call_tool("where", json!({})).wait()?.error().is_some());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn capabilities(self, all: Value) -> Self {
        ClientBuilder { peer: self.peer.capabilities(all), ..self }
    }

    /// Answers the server's requests of this kind, and declares the capability.
    ///
    /// ```
    /// # use serde_json::json;
    /// # use sparring::blocking::Wait as _;
    /// # use sparring::{Client, MockServer, client::ServerRequest};
    /// # let mock = MockServer::from_yaml(
    /// #     "tools: [{name: ask, ask: {it: {elicitation: {message: Sure?, requested_schema: \
    /// #      {type: object, properties: {}}}}}, text: \"you said ${answers.it.action}\"}]",
    /// #     ".",
    /// # )?;
    /// let client = Client::builder()
    ///     .answer(ServerRequest::Elicitation, |_| async { Ok(json!({"action": "decline"})) })
    ///     .in_memory(mock)
    ///     .wait()?;
    /// client.call_tool("ask", json!({})).wait()?.assert_text("you said decline");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn answer<F, Fut>(self, question: ServerRequest, answerer: F) -> Self
    where
        F: Fn(RawJson) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Value, ErrorObject>> + Send + 'static,
    {
        ClientBuilder { peer: self.peer.answer(question, answerer), ..self }
    }

    /// Answers `roots/list` with these URIs.
    ///
    /// ```
    /// # use sparring::blocking::Wait as _;
    /// # use sparring::{Client, MockServer};
    /// # use serde_json::json;
    /// # let mock = MockServer::from_yaml(
    /// #     "tools: [{name: at, ask: {it: {roots: {}}}, text: \"${answers.it.roots[0].uri}\"}]",
    /// #     ".",
    /// # )?;
    /// let client = Client::builder().roots(["file:///home"]).in_memory(mock).wait()?;
    /// client.call_tool("at", json!({})).wait()?.assert_text("file:///home");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn roots<'a>(self, uris: impl IntoIterator<Item = &'a str>) -> Self {
        ClientBuilder { peer: self.peer.roots(uris), ..self }
    }

    /// Records into this transcript instead of a new one.
    ///
    /// ```
    /// # use sparring::blocking::Wait as _;
    /// # use sparring::{Client, MockServer, Transcript};
    /// # let mock = MockServer::from_yaml("tools: [{name: greet, text: hello}]", ".")?;
    /// let transcript = Transcript::with_max_bytes(1_000_000);
    /// let client = Client::builder().transcript(transcript.clone()).in_memory(mock).wait()?;
    /// client.list_tools().wait()?.assert_has("greet");
    /// assert!(transcript.entries().iter().any(|it| it.frame.method() == Some("tools/list")));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn transcript(self, transcript: Transcript) -> Self {
        ClientBuilder { peer: self.peer.transcript(transcript), ..self }
    }

    /// Accepts results that do not conform to the output schema of their tool. By default,
    /// the checks of a success fail for such a result of a tool that the test has listed,
    /// and the snapshot has a violation of `tools/output-schema`.
    ///
    /// ```
    /// # use sparring::{blocking::Wait as _, Client, MockServer};
    /// # use serde_json::json;
    /// # let mock = MockServer::from_yaml(
    /// #     "tools: [{name: now, output_schema: {type: object, required: [hour]}, structured: {}}]",
    /// #     ".",
    /// # )?;
    /// let client = Client::builder().ignore_output_schemas().in_memory(mock).wait()?;
    /// client.list_tools().wait()?.assert_has("now");
    /// client.call_tool("now", json!({})).wait()?.assert_success();
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn ignore_output_schemas(self) -> Self {
        ClientBuilder { ignores_output_schemas: true, ..self }
    }

    /// Connects to a target, or over a link.
    ///
    /// ```
    /// # use sparring::{Client, MockServer, Revision};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let mock = MockServer::from_yaml("tools: [{name: greet, text: hello}]", ".")?;
    /// let builder = Client::builder().revision(Revision::V2025_11_25);
    /// let client = builder.connect(mock.connect()).await?;
    /// client.list_tools().await?.assert_has("greet");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the target cannot be started or reached, or the handshake fails.
    #[track_caller]
    pub fn connect<Kind>(
        self,
        target: impl Connect<Kind>,
    ) -> impl Future<Output = Result<Client, Error>> {
        let at = Location::caller();
        async move {
            let opened = target.open().await.map_err(|error| Error::open(error, at))?;
            self.connect_opened(opened, at).await
        }
    }

    /// Connects to a server in this process.
    ///
    /// ```
    /// # use sparring::blocking::Wait as _;
    /// # use sparring::{Client, MockServer, Revision};
    /// # let mock = MockServer::from_yaml("tools: [{name: greet, text: hello}]", ".")?;
    /// let client = Client::builder().revision(Revision::V2025_11_25).in_memory(mock).wait()?;
    /// client.list_tools().wait()?.assert_has("greet");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When the handshake fails.
    #[track_caller]
    pub fn in_memory<Kind>(
        self,
        service: impl InMemory<Kind>,
    ) -> impl Future<Output = Result<Client, Error>> {
        let at = Location::caller();
        async move { self.connect_opened(service.attach(), at).await }
    }

    /// Connects over an opened link; errors name the line of the caller.
    pub(crate) async fn connect_opened(
        self,
        opened: OpenedLink,
        at: &'static Location<'static>,
    ) -> Result<Client, Error> {
        let OpenedLink { link, target, stderr, keep_alive } = opened;
        let peer = self.peer.start(link);
        let schemas = OutputSchemas::new(self.ignores_output_schemas);
        let context = FailureContext::new(target, peer.transcript().clone(), stderr, schemas);
        match peer.ready().await {
            Ok(()) => Ok(Client { peer, context, _keep_alive: keep_alive.map(Arc::from) }),
            Err(error) => {
                // Closing waits for the child, whose stderr is complete then.
                peer.close().await;
                Err(Error::client(error, at, &context))
            }
        }
    }
}
