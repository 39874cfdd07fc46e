//! What a run of suites came to, and every form in which that is written.
//!
//! [`Run`] is plain data: a report is a function from it to a text, one file a
//! report. None of them knows how tests are run, nor where a text goes; and
//! since a [`Run`] is read back from its JSON, the parts of a run that several
//! machines did are joined before anything is written.

mod agent;
mod alike;
mod bounded;
mod clean;
mod counts;
mod cut;
mod duration;
#[cfg(test)]
mod example;
mod fields;
mod github;
mod gitlab;
mod html;
mod json;
mod junit;
mod markdown;
mod merge;
mod ndjson;
mod run;
mod spoken;
mod story;
mod tap;
mod variants;

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
    Failure, Frame, Outcome, Place, Run, Side, Summary, Test, Timing, Try, VERSION, Violation,
};
pub use tap::tap;
