//! Servers of our own in this process, mocked or not, on a memory link.

#[cfg(feature = "mock")]
use sparring_mock::MockServer;
use sparring_peer::{Handler, LinkKind, Server, memory};

use super::{InMemory, Opened, kind};

impl<H: Handler> InMemory<kind::OfServer> for &Server<H> {
    fn attach(self) -> Opened {
        let (here, there) = memory(LinkKind::Shared);
        Opened::of(here, "a server in memory").keeping(self.spawn(there))
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
impl InMemory<kind::OfMock> for &MockServer {
    fn attach(self) -> Opened {
        Opened::of(self.connect(), format!("mock {}", self.summary()))
    }
}

#[cfg(feature = "mock")]
impl InMemory<kind::OfMock> for MockServer {
    fn attach(self) -> Opened {
        let opened = (&self).attach();
        opened.keeping(self)
    }
}
