//! What client and server talk through, for links of one's own, and what can be
//! made to go wrong on one.
//!
//! ```
//! use sparring::link::{LinkKind, memory};
//! # use sparring::{Client, MockServer};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let mock = MockServer::from_yaml("tools: [{name: greet, text: hello}]", ".")?;
//! let (here, there) = memory(LinkKind::Shared);
//! let _running = mock.spawn(there);
//! Client::connect(here).await?.list_tools().await?.find_tool("greet");
//! # Ok(())
//! # }
//! ```

pub use sparring_peer::link::{
    Cause, Change, Cut, Envelope, Era, Fault, Faults, Incoming, Lines, LinesOptions, Link,
    LinkKind, MemoryLink, MemoryTransport, Outgoing, Recorder, Stream, memory,
};
