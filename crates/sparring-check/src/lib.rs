//! Checks a server of the Model Context Protocol: connects in every revision that the
//! server speaks, sends requests of its own, and returns a verdict for each rule.
//!
//! The rules are in the catalogue of `sparring-wire`. Ordinary traffic shows violations of
//! some of them; the probes in `probes` find those of the others.

mod answers;
mod applicability;
mod check;
mod connection;
mod context;
mod facts;
mod handshake;
mod http;
mod observer;
mod options;
mod outcomes;
mod probes;
mod problem;
mod recording;
mod report;
pub mod requirements;
mod rule_names;
mod target;
mod tokens;
mod tool_policy;
mod verdict;

pub use self::check::{CheckError, check, check_observed};
pub use self::facts::Facts;
pub use self::observer::CheckObserver;
pub use self::options::{CallPolicy, CheckOptions};
pub use self::probes::probe_count;
pub use self::problem::Problem;
pub use self::report::{CheckReport, RevisionReport, ToolUse, ToolUseOutcome};
pub use self::rule_names::{rules_named, server_rules};
pub use self::target::{CheckTarget, LinkTarget, OpenFuture};
pub use self::tokens::{TOKENIZER, ToolTokens};
pub use self::verdict::{Finding, Outcome, ShownFrame, Status, Verdict, is_about_metadata};
