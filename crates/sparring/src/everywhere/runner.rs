//! Runs a test in every combination of transport and revision, and reports the
//! failures.

use std::fmt;
use std::panic::Location;

use sparring_transport::ChildTarget;
use sparring_wire::Revision;

use super::attempt::Outcome;
use super::factory::{Factory, Servable, ServerFactory};
use super::transport::Transport;
use crate::{Client, ClientBuilder};

/// Runs one test over every transport of a server in this process. `make` returns
/// a [`Server`](crate::Server), a [`Handler`](crate::Handler), a `MockServer`, or
/// with the feature `rmcp` a `ServerHandler` of the official SDK.
///
/// ```
/// # use sparring::server::{Context, HandlerResult};
/// # use sparring::types::{CallToolResult, ServerCapabilities};
/// # use sparring::{Handler, Json};
/// # struct Greeter;
/// # impl Handler for Greeter {
/// #     fn capabilities(&self) -> ServerCapabilities {
/// #         ServerCapabilities::none().tools()
/// #     }
/// #     async fn call_tool(&self, _: &str, _: Json<'_>, _: &Context) -> HandlerResult {
/// #         Ok(CallToolResult::text("hello").into())
/// #     }
/// # }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// sparring::everywhere(|| Greeter)
///     .run(async |client| {
///         let response = client.call_tool("greet", serde_json::json!({})).await.unwrap();
///         assert_eq!(response.content(), "hello");
///         assert!(client.transcript().violations().is_empty());
///     })
///     .await;
/// # }
/// ```
///
/// A failed combination is reported as `over http in 2025-06-18: …`.
pub fn everywhere<Kind>(make: impl Factory<Kind>) -> Everywhere {
    Everywhere { servers: Some(make.into_server_factory()), ..Everywhere::empty() }
}

/// The transports and revisions that a test runs in; see [`everywhere`].
///
/// ```
/// # use sparring::blocking::Wait as _;
/// # use sparring::{MockServer, everywhere};
/// # fn mock() -> MockServer {
/// #     MockServer::from_yaml("tools: [{name: greet, text: hello}]", ".").unwrap()
/// # }
/// use sparring::{Everywhere, Transport};
///
/// let nearby: Everywhere = everywhere(mock).only([Transport::Memory, Transport::Duplex]);
/// nearby.run(async |client| client.list_tools().await.map(drop)).wait();
/// ```
#[must_use = "nothing runs before `run` is awaited"]
pub struct Everywhere {
    pub(super) servers: Option<ServerFactory>,
    pub(super) command: Option<ChildTarget>,
    transports: Option<Vec<Transport>>,
    revisions: Option<Vec<Revision>>,
    pub(super) client: ClientBuilder,
}

/// A transport and a revision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Combination {
    pub(super) transport: Transport,
    pub(super) revision: Revision,
}

impl fmt::Display for Combination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "over {} in {}", self.transport, self.revision)
    }
}

impl Everywhere {
    fn empty() -> Self {
        Everywhere {
            servers: None,
            command: None,
            transports: None,
            revisions: None,
            client: ClientBuilder::default(),
        }
    }

    /// Runs the test only on a command, over its stdin and stdout, in every revision.
    ///
    /// ```no_run
    /// # use sparring::blocking::Wait as _;
    /// use sparring::{ChildTarget, Everywhere};
    ///
    /// Everywhere::for_command(ChildTarget::new("my-server").arg("--stdio"))
    ///     .run(async |client| client.list_tools().await.map(drop))
    ///     .wait();
    /// ```
    pub fn for_command(command: ChildTarget) -> Self {
        Everywhere::empty().command(command)
    }

    /// Runs the test also on this command, over its stdin and stdout: the same server
    /// as a program. Each revision starts it again.
    ///
    /// ```no_run
    /// # use sparring::blocking::Wait as _;
    /// # use sparring::{MockServer, everywhere};
    /// # fn mock() -> MockServer {
    /// #     MockServer::from_yaml("tools: [{name: greet, text: hello}]", ".").unwrap()
    /// # }
    /// use sparring::ChildTarget;
    ///
    /// everywhere(mock)
    ///     .command(ChildTarget::new("spar").args(["mock", "greet.mock.yaml"]))
    ///     .run(async |client| client.list_tools().await.map(drop))
    ///     .wait();
    /// ```
    pub fn command(self, command: ChildTarget) -> Self {
        Everywhere { command: Some(command), ..self }
    }

    /// Runs the test only over these transports.
    ///
    /// ```
    /// # use sparring::blocking::Wait as _;
    /// # use sparring::{MockServer, everywhere};
    /// # fn mock() -> MockServer {
    /// #     MockServer::from_yaml("tools: [{name: greet, text: hello}]", ".").unwrap()
    /// # }
    /// # use sparring::Transport;
    /// everywhere(mock)
    ///     .only([Transport::Memory])
    ///     .run(async |client| assert_eq!(client.target(), "a mock over memory"))
    ///     .wait();
    /// ```
    pub fn only(self, transports: impl IntoIterator<Item = Transport>) -> Self {
        Everywhere { transports: Some(transports.into_iter().collect()), ..self }
    }

    /// Runs the test only in these revisions, as far as the server supports them.
    ///
    /// ```
    /// # use sparring::blocking::Wait as _;
    /// # use sparring::{MockServer, everywhere};
    /// # fn mock() -> MockServer {
    /// #     MockServer::from_yaml("tools: [{name: greet, text: hello}]", ".").unwrap()
    /// # }
    /// # use sparring::Revision;
    /// everywhere(mock)
    ///     .revisions([Revision::LATEST])
    ///     .run(async |client| assert_eq!(client.revision(), Some(Revision::LATEST)))
    ///     .wait();
    /// ```
    pub fn revisions(self, revisions: impl IntoIterator<Item = Revision>) -> Self {
        Everywhere { revisions: Some(revisions.into_iter().collect()), ..self }
    }

    /// Uses this builder for the clients, for example to answer the server's requests.
    /// The combination sets the revision.
    ///
    /// ```
    /// # use sparring::blocking::Wait as _;
    /// # use sparring::{MockServer, everywhere};
    /// # fn mock() -> MockServer {
    /// #     MockServer::from_yaml("tools: [{name: greet, text: hello}]", ".").unwrap()
    /// # }
    /// # use sparring::Client;
    /// everywhere(mock)
    ///     .client(Client::builder().roots(["file:///work"]))
    ///     .run(async |client| {
    ///         client.list_tools().await.unwrap();
    ///         assert!(client.transcript().entries()[0].frame.text().contains("\"roots\""));
    ///     })
    ///     .wait();
    /// ```
    pub fn client(self, client: ClientBuilder) -> Self {
        Everywhere { client, ..self }
    }

    /// Runs the test in every combination. The test fails by a panic or by returning
    /// an error.
    ///
    /// ```
    /// # use sparring::blocking::Wait as _;
    /// # use sparring::{MockServer, everywhere};
    /// # fn mock() -> MockServer {
    /// #     MockServer::from_yaml("tools: [{name: greet, text: hello}]", ".").unwrap()
    /// # }
    /// everywhere(mock)
    ///     .run(async |client| {
    ///         client.call_tool("greet", serde_json::json!({})).await?.assert_text("hello");
    ///         Ok::<(), sparring::Error>(())
    ///     })
    ///     .wait();
    /// ```
    ///
    /// # Panics
    /// When the test failed in a combination, and when there is no combination. The
    /// message names every failed combination.
    #[track_caller]
    pub fn run<B, T>(self, body: B) -> impl Future<Output = ()>
    where
        B: AsyncFn(Client) -> T,
        T: Outcome,
    {
        let at = Location::caller();
        async move {
            let all = self.combinations();
            assert!(!all.is_empty(), "{}\nat {at}", self.render_no_combination());
            let mut failures = Vec::new();
            for combination in &all {
                if let Err(why) = self.attempt(*combination, &body, at).await {
                    // The panic printed its message and line right above.
                    eprintln!("… {combination}\n");
                    failures.push((*combination, why));
                }
            }
            if !failures.is_empty() {
                panic!("{}", render_failures(&failures, all.len(), at));
            }
        }
    }

    /// Returns every combination that exists, ordered by transport.
    fn combinations(&self) -> Vec<Combination> {
        let (transports, revisions) = self.supported();
        let wants = |it: &Transport| self.transports.as_ref().is_none_or(|all| all.contains(it));
        let wanted = |it: &Revision| self.revisions.as_ref().is_none_or(|all| all.contains(it));
        let transports =
            Transport::ALL.into_iter().filter(|it| transports.contains(it) && wants(it));
        let combine = |transport: Transport| {
            let revisions =
                Revision::ALL.into_iter().filter(|it| revisions.contains(it) && wanted(it));
            let revisions = revisions.filter(move |it| transport.supports(*it));
            revisions.map(move |revision| Combination { transport, revision }).collect::<Vec<_>>()
        };
        transports.flat_map(combine).collect()
    }

    /// Returns the transports and revisions that the server supports.
    fn supported(&self) -> (Vec<Transport>, Vec<Revision>) {
        let server = self.servers.as_ref().map(ServerFactory::make);
        let mut transports = server.as_deref().map(Servable::transports).unwrap_or_default();
        transports.extend(self.command.as_ref().map(|_| Transport::Stdio));
        let revisions = server.as_deref().map_or(Revision::ALL.to_vec(), Servable::revisions);
        (transports, revisions)
    }

    /// Renders the reason why no combination is left.
    fn render_no_combination(&self) -> String {
        let (transports, revisions) = self.supported();
        format!(
            "no combination of transport and revision to run the test in\n\
             supported by the server: over {} in {}\n\
             selected by the test: over {} in {}",
            render_list(Some(&transports)),
            render_list(Some(&revisions)),
            render_list(self.transports.as_deref()),
            render_list(self.revisions.as_deref()),
        )
    }
}

/// Joins the names of a selection; no selection means all.
fn render_list(selection: Option<&[impl fmt::Display]>) -> String {
    match selection {
        None => "all".to_owned(),
        Some([]) => "none".to_owned(),
        Some(names) => names.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
    }
}

impl fmt::Debug for Everywhere {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Everywhere")
            .field("command", &self.command)
            .field("transports", &self.transports)
            .field("revisions", &self.revisions)
            .finish_non_exhaustive()
    }
}

/// Renders all failures, each with its combination.
fn render_failures(failures: &[(Combination, String)], total: usize, at: &Location<'_>) -> String {
    let mut text =
        format!("the test failed in {} of {total} combinations\nat {at}\n", failures.len());
    for (combination, why) in failures {
        let why = why.trim_end().replace('\n', "\n    ");
        text.push_str(&format!("\n{combination}: {why}\n"));
    }
    text
}
