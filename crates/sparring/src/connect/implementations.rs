//! Implements [`Connect`] for targets and links, and [`InMemory`] for servers,
//! handlers and mocks.

#[cfg(feature = "mock")]
use sparring_mock::MockServer;
use sparring_peer::{Handler, Link, LinkKind, Server, memory};
#[cfg(feature = "containers")]
use sparring_transport::ContainerTarget;
#[cfg(unix)]
use sparring_transport::UnixTarget;
#[cfg(feature = "http")]
use sparring_transport::http::HttpTarget;
use sparring_transport::{ChildTarget, OpenError, Target};
#[cfg(feature = "http")]
use sparring_transport::{HttpProcessLink, HttpProcessTarget};

use super::{Connect, InMemory, OpenedLink, kind};

impl<L: Link> Connect<kind::Link> for L {
    async fn open(self) -> Result<OpenedLink, OpenError> {
        let target = format!("a link ({})", self.info().transport_name);
        Ok(OpenedLink::new(self, target))
    }
}

impl Connect<kind::Target> for Target {
    async fn open(self) -> Result<OpenedLink, OpenError> {
        let target = describe_target(&self);
        let opened = Target::open(&self).await?;
        Ok(OpenedLink { link: opened.link, target, stderr: opened.stderr, keep_alive: None })
    }
}

/// Describes a target in messages.
fn describe_target(target: &Target) -> String {
    match target {
        Target::Child(child) => child.command_line(),
        #[cfg(feature = "containers")]
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
        impl Connect<kind::Target> for $target {
            async fn open(self) -> Result<OpenedLink, OpenError> {
                Connect::open(Target::$variant(self)).await
            }
        }
    )*};
}

targets! {
    ChildTarget => Child,
    #[cfg(feature = "containers")] ContainerTarget => Container,
    #[cfg(unix)] UnixTarget => Unix,
    #[cfg(feature = "http")] HttpTarget => Http,
}

/// Starts the server, and ends it with the connection.
#[cfg(feature = "http")]
impl Connect<kind::Target> for HttpProcessTarget {
    async fn open(self) -> Result<OpenedLink, OpenError> {
        let target = format!("{} at {}", self.command.command_line(), self.http.redacted_url());
        let link = HttpProcessLink::start(&self).await?;
        let stderr = Some(link.output());
        Ok(OpenedLink { stderr, ..OpenedLink::new(link, target) })
    }
}

impl<H: Handler> InMemory<kind::Server> for &Server<H> {
    fn attach(self) -> OpenedLink {
        let (here, there) = memory(LinkKind::Shared);
        OpenedLink::new(here, "a server in memory").with_keep_alive(self.spawn(there))
    }
}

impl<H: Handler> InMemory<kind::Server> for Server<H> {
    fn attach(self) -> OpenedLink {
        (&self).attach()
    }
}

impl<H: Handler> InMemory<kind::Handler> for H {
    fn attach(self) -> OpenedLink {
        Server::new(self).attach()
    }
}

#[cfg(feature = "mock")]
impl InMemory<kind::Mock> for &MockServer {
    fn attach(self) -> OpenedLink {
        OpenedLink::new(self.connect(), format!("mock {}", self.summary()))
    }
}

#[cfg(feature = "mock")]
impl InMemory<kind::Mock> for MockServer {
    fn attach(self) -> OpenedLink {
        let opened = (&self).attach();
        opened.with_keep_alive(self)
    }
}
