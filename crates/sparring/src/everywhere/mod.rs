//! One test over every transport and in every revision that a server speaks.
//!
//! The server is made anew for each combination, and so is the client; all
//! combinations run, one after the other, and all that failed are told together
//! in the end, by name.
//!
//! ```
//! # use sparring::blocking::Wait as _;
//! # use sparring::{MockServer, everywhere};
//! # fn mock() -> MockServer {
//! #     MockServer::from_yaml("tools: [{name: greet, text: hello}]", ".").unwrap()
//! # }
//! everywhere(mock)
//!     .run(async |client| client.call_tool("greet", serde_json::json!({})).await.map(drop))
//!     .wait();
//! ```

mod attempt;
mod factory;
#[cfg(feature = "mock")]
mod of_mock;
#[cfg(feature = "rmcp")]
mod of_rmcp;
#[cfg(all(feature = "rmcp", feature = "http"))]
mod of_rmcp_http;
mod of_server;
mod opening;
mod outcome;
mod transport;

use std::fmt;
use std::panic::Location;

use sparring_transport::ChildTarget;
use sparring_wire::Revision;

use crate::{Client, ClientBuilder};
use factory::Host;

pub use factory::{Factory, Hosts};
pub use outcome::Outcome;
pub(crate) use outcome::words;
pub use transport::Transport;

/// Runs one test over everything that a server made in this process can be
/// reached by: `make` gives a [`Server`](crate::Server), a
/// [`Handler`](crate::Handler), a `MockServer`, or with the feature `rmcp` a
/// `ServerHandler` of the official SDK.
///
/// ```
/// # use sparring::server::{Answer, Context};
/// # use sparring::types::{CallToolResult, ServerCapabilities};
/// # use sparring::{Handler, Json};
/// # struct Greeter;
/// # impl Handler for Greeter {
/// #     fn capabilities(&self) -> ServerCapabilities {
/// #         ServerCapabilities::none().tools()
/// #     }
/// #     async fn call_tool(&self, _: &str, _: Json<'_>, _: &Context) -> Answer {
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
/// A combination that failed is told as `over http in 2025-06-18: …`.
pub fn everywhere<Kind>(make: impl Factory<Kind>) -> Everywhere {
    Everywhere { hosts: Some(make.hosts()), ..Everywhere::of_nothing() }
}

/// One test over many transports and revisions, to be; see [`everywhere`].
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
    hosts: Option<Hosts>,
    command: Option<ChildTarget>,
    transports: Option<Vec<Transport>>,
    revisions: Option<Vec<Revision>>,
    client: ClientBuilder,
}

/// A transport, and a revision spoken over it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Combination {
    transport: Transport,
    revision: Revision,
}

impl fmt::Display for Combination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "over {} in {}", self.transport, self.revision)
    }
}

impl Everywhere {
    fn of_nothing() -> Self {
        Everywhere {
            hosts: None,
            command: None,
            transports: None,
            revisions: None,
            client: ClientBuilder::default(),
        }
    }

    /// A server that is only there as a command: the test runs over its stdin
    /// and stdout, in every revision.
    ///
    /// ```no_run
    /// # use sparring::blocking::Wait as _;
    /// use sparring::{ChildTarget, Everywhere};
    ///
    /// Everywhere::of_command(ChildTarget::new("my-server").arg("--stdio"))
    ///     .run(async |client| client.list_tools().await.map(drop))
    ///     .wait();
    /// ```
    pub fn of_command(command: ChildTarget) -> Self {
        Everywhere::of_nothing().command(command)
    }

    /// Runs the test on this command too, over its stdin and stdout: the same
    /// server as a program of its own. It is started anew in every revision.
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

    /// Only over these transports.
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

    /// Only in these revisions, as far as the server speaks them.
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

    /// With clients like this one, which may answer questions and declare
    /// capabilities; the revision is the combination's.
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

    /// Runs the test in every combination. It fails by a panic, or by an error
    /// that it gives.
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
    /// When it failed in one of them, or there is none to run it in; the message
    /// names them all.
    #[track_caller]
    pub fn run<B, T>(self, body: B) -> impl Future<Output = ()>
    where
        B: AsyncFn(Client) -> T,
        T: Outcome,
    {
        let at = Location::caller();
        async move {
            let all = self.combinations();
            assert!(!all.is_empty(), "{}\nat {at}", self.why_none());
            let mut failures = Vec::new();
            for combination in &all {
                if let Err(why) = self.attempt(*combination, &body, at).await {
                    // The panic's own message stands right above, with its line.
                    eprintln!("… {combination}\n");
                    failures.push((*combination, why));
                }
            }
            if !failures.is_empty() {
                panic!("{}", told(&failures, all.len(), at));
            }
        }
    }

    /// Every combination that exists, the transports in their order.
    fn combinations(&self) -> Vec<Combination> {
        let (has, speaks) = self.offered();
        let wants = |it: &Transport| self.transports.as_ref().is_none_or(|all| all.contains(it));
        let wanted = |it: &Revision| self.revisions.as_ref().is_none_or(|all| all.contains(it));
        let transports = Transport::ALL.into_iter().filter(|it| has.contains(it) && wants(it));
        let of = |transport: Transport| {
            let revisions =
                Revision::ALL.into_iter().filter(|it| speaks.contains(it) && wanted(it));
            let revisions = revisions.filter(move |it| transport.exists_in(*it));
            revisions.map(move |revision| Combination { transport, revision }).collect::<Vec<_>>()
        };
        transports.flat_map(of).collect()
    }

    /// What the server can be reached by, and what it speaks.
    fn offered(&self) -> (Vec<Transport>, Vec<Revision>) {
        let host = self.hosts.as_ref().map(Hosts::make);
        let mut transports = host.as_deref().map(Host::transports).unwrap_or_default();
        transports.extend(self.command.as_ref().map(|_| Transport::Stdio));
        let revisions = host.as_deref().map_or(Revision::ALL.to_vec(), Host::revisions);
        (transports, revisions)
    }

    /// Why there is nothing to run.
    fn why_none(&self) -> String {
        let (has, speaks) = self.offered();
        format!(
            "the test runs in no combination of transport and revision\n\
             the server has: over {} in {}\n\
             the test wants: over {} in {}",
            listed(Some(&has)),
            listed(Some(&speaks)),
            listed(self.transports.as_deref()),
            listed(self.revisions.as_deref()),
        )
    }
}

/// Some names, one after the other; where there is no list, all.
fn listed(some: Option<&[impl fmt::Display]>) -> String {
    match some {
        None => "all".to_owned(),
        Some([]) => "none".to_owned(),
        Some(some) => some.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
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

/// All failures, each below the name of its combination.
fn told(failures: &[(Combination, String)], of: usize, at: &Location<'_>) -> String {
    let mut text = format!("the test failed in {} of {of} combinations\nat {at}\n", failures.len());
    for (combination, why) in failures {
        let why = why.trim_end().replace('\n', "\n    ");
        text.push_str(&format!("\n{combination}: {why}\n"));
    }
    text
}
