//! What a run of suites came to, and every form in which that is written.
//!
//! [`Run`] is plain data: a report is a function from it to a text, one file a
//! report. None of them knows how tests are run, nor where a text goes; and
//! since a [`Run`] is read back from its JSON, the parts of a run that several
//! machines did are joined before anything is written.

#[cfg(test)]
mod example;
mod html;
mod json;
mod merge;
mod ndjson;
mod run;

pub use html::html;
pub use json::{ReadError, json, read, schema};
pub use merge::{Merged, NotOne, merge};
pub use ndjson::{Line, ndjson};
pub use run::{
    Failure, Frame, Outcome, Place, Run, Side, Summary, Test, Timing, Try, VERSION, Violation,
};
