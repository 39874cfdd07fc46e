//! What a client can be connected to: targets that are plain data, links of the
//! caller's own, and services in this process.
//!
//! The parameter of both traits only keeps their implementations apart; it is
//! always inferred.

use std::any::Any;

use sparring_peer::{Handler, Link, LinkKind, Server, memory};
#[cfg(unix)]
use sparring_transport::UnixTarget;
#[cfg(feature = "http")]
use sparring_transport::http::HttpTarget;
use sparring_transport::{ChildTarget, ContainerTarget, OpenError, Stderr, Target};

#[cfg(feature = "mock")]
use sparring_mock::MockServer;

/// A link to a target, and what comes with it.
pub struct Opened {
    pub(crate) link: Box<dyn Link>,
    pub(crate) target: String,
    pub(crate) stderr: Option<Stderr>,
    /// What lives as long as the client does.
    pub(crate) kept: Option<Box<dyn Any + Send + Sync>>,
}

impl Opened {
    fn of(link: impl Link, target: impl Into<String>) -> Self {
        Opened { link: Box::new(link), target: target.into(), stderr: None, kept: None }
    }
}

/// What [`Client::connect`](crate::Client::connect) takes: [`ChildTarget`],
/// [`ContainerTarget`], [`UnixTarget`], `HttpTarget`, any [`Target`], and any
/// [`Link`].
pub trait Connect<Kind>: Send {
    /// Starts or reaches it.
    fn open(self) -> impl Future<Output = Result<Opened, OpenError>> + Send;
}

/// What [`Client::in_memory`](crate::Client::in_memory) takes: a [`Server`], a
/// [`Handler`], a `MockServer`, and with the feature `rmcp` any service of the
/// official SDK.
pub trait InMemory<Kind>: Send {
    /// Serves one client in this process.
    fn attach(self) -> Opened;
}

/// How the implementations are told apart.
pub mod kind {
    /// A link of the caller's own.
    pub enum OfLink {}
    /// A target that is plain data.
    pub enum OfTarget {}
    /// A handler.
    pub enum OfHandler {}
    /// A server, mocked or not.
    pub enum OfServer {}
    /// A service of the official SDK.
    #[cfg(feature = "rmcp")]
    pub enum OfRmcp {}
}

impl<L: Link> Connect<kind::OfLink> for L {
    async fn open(self) -> Result<Opened, OpenError> {
        let target = format!("a link ({})", self.transport());
        Ok(Opened::of(self, target))
    }
}

impl Connect<kind::OfTarget> for Target {
    async fn open(self) -> Result<Opened, OpenError> {
        let target = name(&self);
        let opened = Target::open(&self).await?;
        Ok(Opened { link: opened.link, target, stderr: opened.stderr, kept: None })
    }
}

/// A target in words.
fn name(target: &Target) -> String {
    match target {
        Target::Child(child) => child.command_line(),
        Target::Container(container) => {
            format!("{} in container {}", container.command.command_line(), container.name)
        }
        #[cfg(unix)]
        Target::Unix(unix) => unix.path.display().to_string(),
        #[cfg(feature = "http")]
        Target::Http(http) => http.url.clone(),
        _ => "a target".to_owned(),
    }
}

macro_rules! targets {
    ($($(#[$gate:meta])* $target:ty => $variant:ident),* $(,)?) => {$(
        $(#[$gate])*
        impl Connect<kind::OfTarget> for $target {
            async fn open(self) -> Result<Opened, OpenError> {
                Connect::open(Target::$variant(self)).await
            }
        }
    )*};
}

targets! {
    ChildTarget => Child,
    ContainerTarget => Container,
    #[cfg(unix)] UnixTarget => Unix,
    #[cfg(feature = "http")] HttpTarget => Http,
}

impl<H: Handler> InMemory<kind::OfServer> for &Server<H> {
    fn attach(self) -> Opened {
        let (here, there) = memory(LinkKind::Shared);
        let kept: Box<dyn Any + Send + Sync> = Box::new(self.spawn(there));
        Opened { kept: Some(kept), ..Opened::of(here, "a server in memory") }
    }
}

impl<H: Handler> InMemory<kind::OfServer> for Server<H> {
    fn attach(self) -> Opened {
        (&self).attach()
    }
}

impl<H: Handler> InMemory<kind::OfHandler> for H {
    fn attach(self) -> Opened {
        Server::new(self).attach()
    }
}

#[cfg(feature = "mock")]
impl InMemory<kind::OfServer> for &MockServer {
    fn attach(self) -> Opened {
        Opened::of(self.connect(), format!("mock {}", self.summary()))
    }
}

#[cfg(feature = "mock")]
impl InMemory<kind::OfServer> for MockServer {
    fn attach(self) -> Opened {
        let opened = (&self).attach();
        Opened { kept: Some(Box::new(self)), ..opened }
    }
}
