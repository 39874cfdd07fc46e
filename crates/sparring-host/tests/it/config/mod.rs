//! Config files.

mod edits;
mod entries;
pub(crate) mod fixture;
mod foreign;
mod hostile;
mod merging;
mod reference;
