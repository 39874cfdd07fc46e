//! The program as its users meet it: what it prints, how it exits, and what it
//! leaves behind.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that unwraps fails where it stands")]

mod agent_page;
mod agents;
mod asked;
mod blocked;
mod completions;
mod container;
mod covered;
mod everything;
mod guide;
mod interrupted;
mod issuer;
mod llm;
mod mock;
mod mock_hardships;
mod model;
mod oauth;
#[path = "../support/process.rs"]
mod process;
mod reports;
mod serve;
mod shell;
mod signals;
mod sockets;
mod suite;
mod suite_watch;
mod terminal;
mod their_clients;
mod tls;
mod told;
#[path = "../support/transcript.rs"]
#[expect(dead_code, reason = "the target `golden` uses the rest")]
mod transcript;
mod transcripts;
mod watched;
#[path = "../support/web/mod.rs"]
#[expect(dead_code, unused_imports, reason = "the target `golden` uses the rest")]
mod web;
