//! What a person types: the program's and the shared flags, and how values are
//! read. Each verb's own flags stand with the verb.

mod container;
pub(crate) mod given;
mod http;
mod oauth;
pub(crate) mod pair;
mod program;
mod quantity;
mod shared;
mod transport;

pub(crate) use oauth::visitor;
pub(crate) use program::{Spar, message};
pub(crate) use quantity::time;
pub(crate) use shared::{Look, Shared};
