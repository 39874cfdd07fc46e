//! What config files come to.

mod edits;
mod entries;
mod foreign;
mod hostile;
mod merging;
pub(crate) mod place;
mod reference;
