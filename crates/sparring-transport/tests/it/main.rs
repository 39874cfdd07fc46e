//! All integration tests of the transports in one binary: real child processes and real
//! sockets.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that unwraps fails where it stands")]

mod container;
mod eras;
mod faults;
mod hostile;
mod http_client;
mod http_process;
mod http_server;
mod oauth;
mod peers;
mod pipes;
mod process_end;
mod script;
mod sockets;
