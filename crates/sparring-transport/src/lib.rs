//! Links to the world: child processes, commands in containers, sockets and pipes, our own stdin and
//! stdout, and HTTP.
//!
//! What HTTP needs is dear to build, so it is there only with the feature `http`, and
//! authorization by OAuth only with `oauth`; and containers only with `containers`. All
//! are on where nothing is said.
//!
//! What goes over a link is the peers' business; here it is only carried. A
//! [`Target`] is plain data: what flags, suites and config files all become.

pub mod child;
#[cfg(feature = "containers")]
mod container;
#[cfg(feature = "http")]
pub mod http;
#[cfg(unix)]
mod pipes;
mod private_file;
mod replace_file;
mod secrets;
#[cfg(unix)]
mod socket;
mod stdio;
mod target;

pub use child::{ChildError, ChildLink, Job, JobEnd, Output, Stderr};
#[cfg(feature = "containers")]
pub use container::{Container, ContainerError, Engine as ContainerEngine, Ran};
#[cfg(unix)]
pub use pipes::NamedPipes;
pub use private_file::{FileLock, PrivateFile};
pub use replace_file::{FileAccess, replace_file};
pub use secrets::Secrets;
#[cfg(unix)]
pub use socket::{Listener, connect_unix, listen_unix};
pub use stdio::stdio;
#[cfg(feature = "containers")]
pub use target::ContainerTarget;
#[cfg(unix)]
pub use target::UnixTarget;
pub use target::{ChildTarget, OpenError, Opened, Target};
