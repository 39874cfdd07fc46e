//! The reports that are plain text: in golden files, of hostile runs, and of huge
//! ones.

mod golden;
mod hostile;
mod limits;
pub(crate) mod sample;
mod tap_reader;
