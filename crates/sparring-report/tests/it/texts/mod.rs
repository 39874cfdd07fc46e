//! Tests of the text reports: golden files, hostile runs and huge runs.

mod golden;
mod hostile;
mod limits;
pub(crate) mod sample;
mod tap_reader;
