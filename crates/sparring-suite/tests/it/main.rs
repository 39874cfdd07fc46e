//! Integration tests of suites: the problems that loading reports, the steps that run, and the
//! failures that runs report.

#![expect(clippy::unwrap_used, reason = "a test that unwraps fails where it stands")]

mod agents;
mod around;
mod defaults;
mod effects;
mod expectations;
mod fixture;
#[path = "../../../sparring-mock/tests/it/effects/walk.rs"]
mod grammar_walk;
mod includes;
mod llms;
mod matcher_effects;
mod mocks;
#[path = "../../../sparring-mock/tests/it/mutations.rs"]
mod mutations;
mod problems;
mod reference;
mod running;
mod schema;
mod servers;
mod special;
mod traffic;
mod variants;
mod verbs;
