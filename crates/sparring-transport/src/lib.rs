//! Transports: links to child processes, commands in containers, sockets, pipes, the process's
//! own stdin and stdout, and HTTP.
//!
//! The features `http`, `oauth` and `containers` (all on by default) keep expensive
//! dependencies out of builds that do not need them.
//!
//! The transports only carry frames; the peers interpret them. A [`Target`] is plain data that
//! flags, suites and config files are turned into.

pub mod child;
#[cfg(feature = "containers")]
mod container;
#[cfg(feature = "http")]
pub mod http;
#[cfg(unix)]
mod pipes;
mod private_file;
mod read_file;
mod replace_file;
mod secrets;
#[cfg(unix)]
mod socket;
mod stdio;
mod target;

#[cfg(target_os = "linux")]
pub use child::adopt_orphans;
pub use child::{ChildError, ChildLink, Job, JobEnd, Output, Stderr};
#[cfg(feature = "http")]
pub use child::{HttpProcess, HttpProcessError, HttpProcessLink, HttpProcessTarget, free_port};
#[cfg(feature = "containers")]
pub use container::{Container, ContainerEngine, ContainerError, EngineOutput};
#[cfg(unix)]
pub use pipes::NamedPipes;
pub use private_file::{FileLock, PrivateFile};
pub use read_file::{MAX_KEY_BYTES, MAX_SCRIPT_BYTES, read_file, read_text_file, read_up_to};
pub use replace_file::{FileAccess, replace_file};
pub use secrets::{Secret, SecretStream, Secrets};
#[cfg(unix)]
pub use socket::{Listener, connect_unix, listen_unix};
pub use stdio::stdio;
#[cfg(feature = "containers")]
pub use target::ContainerTarget;
#[cfg(unix)]
pub use target::UnixTarget;
pub use target::{ChildTarget, OpenError, OpenedTarget, Target};
