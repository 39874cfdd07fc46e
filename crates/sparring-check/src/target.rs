//! The servers that can be checked.

use std::future::{Future, ready};
use std::pin::Pin;

use sparring_peer::Link;
use sparring_transport::http::HttpTarget;
use sparring_transport::{OpenError, OpenedTarget, Target};

/// The future of an opened connection.
pub type OpenFuture<'a> =
    Pin<Box<dyn Future<Output = Result<OpenedTarget, OpenError>> + Send + 'a>>;

/// A server to check. A check opens many connections, one after the other and at the same
/// time.
pub trait CheckTarget: Send + Sync {
    /// Starts the server, or connects to it.
    fn open(&self) -> OpenFuture<'_>;

    /// Returns true if each connection is a process of its own, with its own state.
    fn starts_processes(&self) -> bool {
        false
    }

    /// Returns the HTTP server, if it is one.
    fn http(&self) -> Option<&HttpTarget> {
        None
    }
}

impl CheckTarget for Target {
    fn open(&self) -> OpenFuture<'_> {
        Box::pin(Target::open(self))
    }

    fn starts_processes(&self) -> bool {
        matches!(self, Target::Child(_) | Target::Container(_))
    }

    fn http(&self) -> Option<&HttpTarget> {
        match self {
            Target::Http(target) => Some(target),
            _ => None,
        }
    }
}

/// A server that is reached over links that a function makes, such as a service in memory.
pub struct LinkTarget<F>(pub F);

impl<F, L> CheckTarget for LinkTarget<F>
where
    F: Fn() -> L + Send + Sync,
    L: Link,
{
    fn open(&self) -> OpenFuture<'_> {
        Box::pin(ready(Ok(OpenedTarget::from_link((self.0)()))))
    }
}
