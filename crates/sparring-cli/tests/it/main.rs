//! Tests the program from outside: its output, its exit codes, and the processes and
//! files that it leaves behind.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that unwraps fails where it stands")]

mod agent_page;
mod agents;
mod at_terminal;
mod blocked;
mod check;
mod completions;
mod container;
mod diagnostic_coverage;
mod everything;
mod example_agents;
mod few_descriptors;
#[path = "../support/filters.rs"]
#[expect(dead_code, reason = "the target `golden` uses the rest")]
mod filters;
mod http_process;
mod interrupted;
mod issuer;
mod llm;
mod mock;
mod mock_failures;
mod mock_watch;
mod model;
mod oauth;
mod option_coverage;
mod other_clients;
mod pages;
#[path = "../support/process.rs"]
mod process;
mod reports;
mod secrets;
mod serve;
mod shell;
mod signals;
mod sockets;
mod suite;
mod suite_watch;
mod terminal;
mod terminal_questions;
mod tls;
#[path = "../support/transcript.rs"]
#[expect(dead_code, reason = "the target `golden` uses the rest")]
mod transcript;
mod transcripts;
#[path = "../support/web/mod.rs"]
#[expect(dead_code, unused_imports, reason = "the target `golden` uses the rest")]
mod web;
