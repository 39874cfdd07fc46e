//! All integration tests of the links to the world, in one binary: real
//! children, real sockets.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that unwraps fails where it stands")]

mod container;
mod ends;
mod faults;
mod hostile;
mod http_client;
mod http_server;
mod oauth;
mod peers;
mod pipes;
mod script;
mod sockets;
