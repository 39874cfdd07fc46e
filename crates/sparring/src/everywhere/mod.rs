//! Runs one test over every transport and in every revision of a server.
//!
//! Each combination gets a new server and a new client. All combinations run, one
//! after the other; the failures are reported together, by combination.
//!
//! ```
//! # use sparring::blocking::Wait as _;
//! # use sparring::{MockServer, everywhere};
//! # fn mock() -> MockServer {
//! #     MockServer::from_yaml("tools: [{name: greet, text: hello}]", ".").unwrap()
//! # }
//! everywhere(mock)
//!     .run(async |client| client.call_tool("greet", serde_json::json!({})).await.map(drop))
//!     .wait();
//! ```

mod attempt;
mod factory;
mod open_link;
mod own_servers;
#[cfg(feature = "rmcp")]
mod rmcp_servers;
pub(crate) mod runner;
pub(crate) mod transport;

pub use attempt::Outcome;
pub(crate) use attempt::panic_message;
pub use factory::{Factory, ServerFactory};
