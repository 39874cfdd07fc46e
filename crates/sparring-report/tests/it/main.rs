//! The reports as their readers see them: in golden files, of hostile runs, and by
//! programs of others.

mod golden;
mod hostile;
mod limits;
mod peers;
mod sample;
mod tap_reader;
