//! A client to be: which revision, how long, what it can do and answers.

use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use sparring_peer::client::{ClientOptions, Protocol, Question};
use sparring_wire::{ErrorObject, RawJson, Revision, Transcript};

use super::Client;
use crate::Error;
use crate::connect::{Connect, InMemory, Opened};
use crate::scene::Scene;

/// A client that differs from the default.
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
pub struct ClientBuilder(sparring_peer::ClientBuilder);

impl ClientBuilder {
    /// Starts from options of the caller's.
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
    /// assert!(error.to_string().starts_with("tools/list does not end"), "{error}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_options(options: ClientOptions) -> Self {
        ClientBuilder(sparring_peer::ClientBuilder::with_options(options))
    }

    /// Who the client says it is.
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
        ClientBuilder(self.0.info(name, version))
    }

    /// Which revision to speak.
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
        ClientBuilder(self.0.protocol(protocol))
    }

    /// This revision, or none.
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
        ClientBuilder(self.0.revision(revision))
    }

    /// How long connecting may take as a whole, and then each request.
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
        ClientBuilder(self.0.timeout(timeout))
    }

    /// Declares a capability, whatever the client answers.
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
        ClientBuilder(self.0.capability(name, value))
    }

    /// Declares these capabilities and no others, whatever the client answers;
    /// what is no map is none.
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
        ClientBuilder(self.0.capabilities(all))
    }

    /// Answers what the server asks, and declares the capability for it.
    ///
    /// ```
    /// # use serde_json::json;
    /// # use sparring::blocking::Wait as _;
    /// # use sparring::{Client, MockServer, client::Question};
    /// # let mock = MockServer::from_yaml(
    /// #     "tools: [{name: ask, ask: {it: {elicitation: {message: Sure?, requested_schema: \
    /// #      {type: object, properties: {}}}}}, text: \"you said ${answers.it.action}\"}]",
    /// #     ".",
    /// # )?;
    /// let client = Client::builder()
    ///     .answer(Question::Elicitation, |_| async { Ok(json!({"action": "decline"})) })
    ///     .in_memory(mock)
    ///     .wait()?;
    /// client.call_tool("ask", json!({})).wait()?.assert_text("you said decline");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn answer<F, Fut>(self, question: Question, answerer: F) -> Self
    where
        F: Fn(RawJson) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Value, ErrorObject>> + Send + 'static,
    {
        ClientBuilder(self.0.answer(question, answerer))
    }

    /// Names these roots when the server asks for them.
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
        ClientBuilder(self.0.roots(uris))
    }

    /// Records into this transcript instead of one of the client's own.
    ///
    /// ```
    /// # use sparring::blocking::Wait as _;
    /// # use sparring::{Client, MockServer, Transcript};
    /// # let mock = MockServer::from_yaml("tools: [{name: greet, text: hello}]", ".")?;
    /// let transcript = Transcript::bounded(1_000_000);
    /// let client = Client::builder().transcript(transcript.clone()).in_memory(mock).wait()?;
    /// client.list_tools().wait()?.assert_has("greet");
    /// assert!(transcript.entries().iter().any(|it| it.frame.method() == Some("tools/list")));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn transcript(self, transcript: Transcript) -> Self {
        ClientBuilder(self.0.transcript(transcript))
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
    /// When the target cannot be reached or talked to; the error says why.
    #[track_caller]
    pub fn connect<Kind>(
        self,
        target: impl Connect<Kind>,
    ) -> impl Future<Output = Result<Client, Error>> {
        let at = Location::caller();
        async move {
            let opened = target.open().await.map_err(|error| Error::open(error, at))?;
            self.on(opened, at).await
        }
    }

    /// Connects to a service in this process.
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
    /// When the two do not come to terms; the error says why.
    #[track_caller]
    pub fn in_memory<Kind>(
        self,
        service: impl InMemory<Kind>,
    ) -> impl Future<Output = Result<Client, Error>> {
        let at = Location::caller();
        async move { self.on(service.attach(), at).await }
    }

    /// Connects over what was opened, for the line that asked.
    pub(crate) async fn on(
        self,
        opened: Opened,
        at: &'static Location<'static>,
    ) -> Result<Client, Error> {
        let Opened { link, target, stderr, kept } = opened;
        let peer = self.0.start(link);
        let scene = Scene::new(target, peer.transcript().clone(), stderr);
        match peer.ready().await {
            Ok(()) => Ok(Client { peer, scene, _kept: kept.map(Arc::from) }),
            Err(error) => {
                // What a child said last is there when it has ended.
                peer.close().await;
                Err(Error::client(error, at, &scene))
            }
        }
    }
}
