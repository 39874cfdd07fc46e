//! The results of a test run as data, and the reports that render them.
//!
//! [`Run`] is plain data. A report is a function from a [`Run`] to a text, with one module
//! for each format. Reports do not run tests and do not write files. A [`Run`] can be read
//! back from its JSON, so the shards of a run on several machines can be merged before
//! they are reported.

mod agent;
mod bounded_text;
mod failure_text;
mod format;
mod github;
mod gitlab;
mod grouping;
mod html;
mod json;
mod junit;
mod markdown;
mod merge;
mod ndjson;
mod run;
#[cfg(test)]
mod sample_run;
mod sanitize;
mod tap;
mod traffic;
mod truncate;

pub use agent::agent;
pub use github::github;
pub use gitlab::gitlab;
pub use html::html;
pub use json::{ReadError, json, read, schema};
pub use junit::junit;
pub use markdown::markdown;
pub use merge::{Merged, NotOne, merge};
pub use ndjson::{Line, ndjson};
pub use run::{
    Failure, Frame, Outcome, Place, Run, Side, StepFrame, Summary, Test, Timing, Try, VERSION,
    Violation,
};
pub use tap::tap;
