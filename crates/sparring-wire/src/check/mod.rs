//! Holds frames against the rules of a revision.
//!
//! [`Checker`] judges one frame, [`Referee`] a whole conversation. Both only
//! report; what to do about it is for others.

mod answers;
mod checker;
mod duplicates;
mod findings;
mod notation;
mod path;
mod referee;
mod shape;
#[cfg(test)]
mod tests;

pub use checker::Checker;
pub use referee::Referee;
