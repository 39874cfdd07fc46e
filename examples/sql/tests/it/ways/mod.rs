//! The four ways to test a server, from a call without a transport to a separate
//! process, behind one function.

mod four;
#[cfg(test)]
mod same;

pub(crate) use four::{WAYS, Way};
