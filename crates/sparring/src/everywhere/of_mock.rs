//! A mock on whatever there is.

use sparring_mock::MockServer;
use sparring_peer::{Lines, Link};
use sparring_wire::Revision;

#[cfg(feature = "http")]
use super::factory::OnPort;
use super::factory::{Bytes, Factory, Host, Hosts};
use super::{Transport, of_server};
use crate::connect::{Kept, kind};

impl<F> Factory<kind::OfMock> for F
where
    F: Fn() -> MockServer + Send + Sync + 'static,
{
    fn hosts(self) -> Hosts {
        Hosts::of(self)
    }
}

impl Host for MockServer {
    fn name(&self) -> &'static str {
        "a mock"
    }

    fn revisions(&self) -> Vec<Revision> {
        self.server().revisions().to_vec()
    }

    fn transports(&self) -> Vec<Transport> {
        of_server::transports()
    }

    fn on_link(&self, link: Box<dyn Link>) -> Kept {
        Box::new(self.spawn(link))
    }

    fn on_stream(&self, stream: Box<dyn Bytes>) -> Kept {
        Box::new(self.spawn(Lines::over(stream)))
    }

    #[cfg(feature = "http")]
    fn on_port(&self, listener: tokio::net::TcpListener) -> Result<OnPort, String> {
        let address = listener.local_addr().map_err(|error| error.to_string())?;
        let urls = self.urls(address);
        let kept = Box::new(self.http().serve(listener));
        Ok(OnPort { mcp: urls.mcp, sse: urls.sse, kept })
    }
}
