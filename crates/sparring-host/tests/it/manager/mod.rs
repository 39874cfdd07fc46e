//! The manager: with memory links for timing and misbehaviour, with child
//! processes and sockets where those matter.

mod capabilities;
pub(crate) mod children;
mod config_watch;
mod connecting;
mod controlled_server;
mod ending;
mod failing;
pub(crate) mod fixture;
mod listening;
pub(crate) mod load;
mod losing;
mod peers;
mod refreshing;
mod reloading;
