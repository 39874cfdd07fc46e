//! The manager: on memory links where time or wrong behaviour matter, on real
//! children and sockets where those do.

mod actor;
mod capabilities;
pub(crate) mod children;
mod connecting;
mod ending;
mod failing;
pub(crate) mod fixture;
mod following;
mod listening;
mod load;
mod losing;
mod peers;
mod refreshing;
mod reloading;
