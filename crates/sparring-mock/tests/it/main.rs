//! Integration tests of mocks, over every transport and in both eras.

#![expect(clippy::unwrap_used, reason = "a test that unwraps fails where it stands")]

mod access;
mod builder;
mod contents;
mod control;
mod effects;
mod examples;
mod exec;
mod faults;
mod fixture;
mod interactions;
mod issuer;
mod journal;
mod lists;
mod llm;
mod mutations;
mod problems;
mod questions;
mod reference;
mod reload;
mod replies;
mod schema;
mod steps;
mod templates;
mod upstream;
