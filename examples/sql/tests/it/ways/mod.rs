//! The four ways to test a server, from the one without any transport to a
//! process of its own, behind one function that asks.

mod four;
#[cfg(test)]
mod same;

pub(crate) use four::{WAYS, Way};
