//! The manager: on memory links where time or wrong behaviour matter, on real
//! children and sockets where those do.

mod capabilities;
mod connecting;
mod failing;
mod fixture;
mod losing;
mod refreshing;
mod reloading;
