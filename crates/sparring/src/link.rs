//! Options and faults of a [`Link`](crate::Link), the frame channel between client
//! and server.
//!
//! ```
//! use sparring::link::LineLinkOptions;
//! # use sparring::{Client, LineLink, MockServer};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let mock = MockServer::from_yaml("tools: [{name: greet, text: hello}]", ".")?;
//! let (here, there) = tokio::io::duplex(4096);
//! let _running = mock.spawn(LineLink::from_stream(there));
//! let (read, write) = tokio::io::split(here);
//! let link = LineLink::new(read, write, LineLinkOptions::default());
//! Client::connect(link).await?.list_tools().await?.find_tool("greet");
//! # Ok(())
//! # }
//! ```

pub use sparring_peer::link::{Disconnect, Fault, Faults, LineLinkOptions, Recorder, Replacement};
