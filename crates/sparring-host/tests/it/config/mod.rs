//! What config files come to.

mod entries;
mod foreign;
mod hostile;
mod merging;
mod place;
mod reference;
