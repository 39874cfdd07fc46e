//! Suites of tests for servers of the Model Context Protocol: files in YAML that
//! say what to ask and what must come of it.
//!
//! [`Suite`] reads one, [`Plan`] chooses from many, [`run()`] runs what was
//! chosen. What came of it is told by events, and by nothing else; nobody here
//! prints.

mod event;
mod find;
mod grammar;
mod hide;
mod judge;
mod load;
mod model;
mod plan;
mod run;
pub mod scaffold;

pub use event::{End, Event, Failure, Kept, Outcome, Said, Spoken, Story, Timing, Traffic};
pub use find::{FindError, find};
pub use grammar::{reference, schema};
pub use load::{LoadError, Reading, Watched};
pub use model::{Suite, Test, Transport, Variant};
pub use plan::{Choice, NoShard, Plan, Planned, Shard};
pub use run::{Options, Stop, World, run};
