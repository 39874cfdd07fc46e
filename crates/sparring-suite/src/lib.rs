//! Test suites for MCP servers: YAML files with requests and expectations.
//!
//! [`Suite`] loads a file, [`Plan`] selects tests, [`run()`] runs them and sends
//! [`Event`]s. This crate prints nothing.

pub mod call_arguments;
mod context;
mod event;
mod find;
mod grammar;
mod hide;
mod judge;
mod load;
mod model;
mod plan;
mod run;
mod run_record;
pub mod scaffold;
mod step_result;

pub use context::RunContext;
pub use event::{
    AnsweredBy, Event, FailedTry, Failure, Note, Outcome, SnapshotChanges, StepFrame, TestEnd,
    Timing, Traffic, TrafficFrame, Transcript, TranscriptEntry,
};
pub use find::{FindError, find};
pub use grammar::{reference, schema};
pub use load::{LoadError, LoadedSuite, WatchedFiles};
pub use model::{Suite, Test, Transport, Variant};
pub use plan::{InvalidShard, Plan, PlannedTest, Shard, TestSelection};
pub use run::{Options, Stop, run};
pub use run_record::RunRecord;
