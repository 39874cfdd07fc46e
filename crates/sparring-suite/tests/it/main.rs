//! Suites as their authors meet them: what is wrong with one, what runs, and
//! what is told of it.

#![expect(clippy::unwrap_used, reason = "a test that unwraps fails where it stands")]

mod agents;
mod around;
mod defaults;
mod expectations;
mod fixture;
mod includes;
mod llms;
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
