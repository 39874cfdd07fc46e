//! Small servers over HTTP on real ports, for `spar` to talk to.

mod bridge;
mod listen;
mod script;

pub(crate) use bridge::{Bridge, HttpKind};
pub(crate) use script::Scripted;
