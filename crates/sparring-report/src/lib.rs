//! The results of a test run as data, and the reports that render them.
//!
//! [`Run`] is plain data. A report is a function from a [`Run`] to a text, with one module
//! for each format. Reports do not run tests and do not write files. A [`Run`] can be read
//! back from its JSON, so the shards of a run on several machines can be merged before
//! they are reported.

mod agent;
mod bounded_text;
mod failure_text;
mod folded_frames;
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
mod sarif;
mod tap;
mod traffic;
mod truncate;

pub use agent::render_agent;
pub use folded_frames::fold_frames;
pub use github::render_github;
pub use gitlab::render_gitlab;
pub use grouping::{FailureGroup, group_failures};
pub use html::render_html;
pub use json::{ReadError, json_schema, parse_report, render_json};
pub use junit::render_junit;
pub use markdown::render_markdown;
pub use merge::{MergeError, MergeResult, merge};
pub use ndjson::{NdjsonLine, render_ndjson};
pub use run::{
    AnsweredBy, Build, CheckedRule, FailedTry, Failure, Frame, Note, Outcome, Run, Sender,
    SourceLocation, StepFrame, Summary, Test, Timing, TranscriptEntry, VERSION, Violation,
};
pub use sanitize::is_invisible;
pub use sarif::render_sarif;
pub use tap::render_tap;
