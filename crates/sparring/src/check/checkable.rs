//! The servers that can be checked: targets, and servers in this process. A check opens many
//! connections.

use std::sync::Arc;
use std::task::{Context, Poll};

use sparring_check::{CheckTarget, LinkTarget};
#[cfg(feature = "mock")]
use sparring_mock::MockServer;
use sparring_peer::link::Recorder;
use sparring_peer::{Handler, Incoming, Link, LinkInfo, Outgoing, Server};
#[cfg(unix)]
use sparring_transport::UnixTarget;
use sparring_transport::http::HttpTarget;
use sparring_transport::{ChildTarget, ContainerTarget, Target};

use crate::connect::{InMemory, KeepAlive, OpenedLink, kind};
use crate::everywhere::Factory;

/// The argument of [`check`](crate::check()): a target such as
/// [`ChildTarget`](crate::ChildTarget) or `HttpTarget`, a [`Server`](crate::Server), a
/// [`Handler`](crate::Handler), a `MockServer`, a closure that makes one of these, or with the
/// feature `rmcp` a closure that makes a `ServerHandler` of the official SDK.
///
/// ```
/// # use sparring::blocking::Wait as _;
/// # use sparring::MockServer;
/// use sparring::check::Checkable;
///
/// fn keeps_the_rules<Kind>(server: impl Checkable<Kind>) {
///     sparring::check(server).only("wire/").wait().unwrap().assert_clean();
/// }
/// # fn mock() -> MockServer {
/// #     MockServer::from_yaml("tools: [{name: greet, text: hello}]", ".").unwrap()
/// # }
/// keeps_the_rules(mock());
/// keeps_the_rules(mock);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be checked",
    label = "neither a target nor a server",
    note = "a check opens many connections, so a single link cannot be checked",
    note = "a target is a `ChildTarget`, `ContainerTarget`, `UnixTarget`, `HttpTarget` or `Target`",
    note = "a server is a `sparring::Server`, a `MockServer`, or anything that implements `sparring::Handler`",
    note = "with the feature `rmcp` of sparring, pass a closure that makes an `rmcp::ServerHandler`"
)]
pub trait Checkable<Kind> {
    /// Converts it into a server that a check can connect to many times.
    fn into_checked_target(self) -> CheckedTarget;
}

/// A server that a check can connect to many times.
///
/// ```
/// # use sparring::blocking::Wait as _;
/// # use sparring::MockServer;
/// use sparring::check::{Checkable, CheckedTarget};
///
/// # struct Mine(MockServer);
/// # enum MyKind {}
/// impl Checkable<MyKind> for Mine {
///     fn into_checked_target(self) -> CheckedTarget {
///         self.0.into_checked_target()
///     }
/// }
/// # let mock = MockServer::from_yaml("tools: [{name: greet, text: hello}]", ".")?;
/// sparring::check(Mine(mock)).only("wire/").wait()?.assert_clean();
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct CheckedTarget(pub(super) Arc<dyn CheckTarget>);

impl CheckedTarget {
    /// Makes a server of which each connection is opened by a function.
    fn in_memory(open: impl Fn() -> OpenedLink + Send + Sync + 'static) -> Self {
        let open = move || {
            let OpenedLink { link, keep_alive, .. } = open();
            ServedLink { link, _keep_alive: keep_alive }
        };
        CheckedTarget(Arc::new(LinkTarget(open)))
    }
}

impl Checkable<kind::Target> for Target {
    fn into_checked_target(self) -> CheckedTarget {
        CheckedTarget(Arc::new(self))
    }
}

macro_rules! targets {
    ($($(#[$gate:meta])* $target:ty => $variant:ident),* $(,)?) => {$(
        $(#[$gate])*
        impl Checkable<kind::Target> for $target {
            fn into_checked_target(self) -> CheckedTarget {
                Target::$variant(self).into_checked_target()
            }
        }
    )*};
}

targets! {
    ChildTarget => Child,
    ContainerTarget => Container,
    #[cfg(unix)] UnixTarget => Unix,
    HttpTarget => Http,
}

impl<H: Handler> Checkable<kind::Server> for Server<H> {
    fn into_checked_target(self) -> CheckedTarget {
        CheckedTarget::in_memory(move || (&self).attach())
    }
}

impl<H: Handler> Checkable<kind::Handler> for H {
    fn into_checked_target(self) -> CheckedTarget {
        Server::new(self).into_checked_target()
    }
}

#[cfg(feature = "mock")]
impl Checkable<kind::Mock> for MockServer {
    fn into_checked_target(self) -> CheckedTarget {
        CheckedTarget::in_memory(move || (&self).attach())
    }
}

/// Each connection gets a server of its own.
impl<F, Kind> Checkable<(Kind,)> for F
where
    F: Factory<Kind>,
{
    fn into_checked_target(self) -> CheckedTarget {
        let factory = self.into_server_factory();
        CheckedTarget::in_memory(move || factory.open_in_memory())
    }
}

/// A link to a server in this process, which lives as long as the link.
struct ServedLink {
    link: Box<dyn Link>,
    _keep_alive: Option<KeepAlive>,
}

impl Link for ServedLink {
    fn info(&self) -> LinkInfo {
        self.link.info()
    }

    fn set_recorder(&mut self, recorder: Recorder) {
        self.link.set_recorder(recorder);
    }

    fn send(&mut self, outgoing: Outgoing) {
        self.link.send(outgoing);
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.link.poll_flush(cx)
    }

    fn backlog(&self) -> usize {
        self.link.backlog()
    }

    fn poll_receive(&mut self, cx: &mut Context<'_>) -> Poll<Incoming> {
        self.link.poll_receive(cx)
    }
}
