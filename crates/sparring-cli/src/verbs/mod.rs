//! The verbs of the program, one file or folder for each.

mod agent;
mod call;
mod check;
mod codegen;
mod complete;
mod completions;
mod config;
mod describe;
mod init;
mod list;
mod mock;
mod ping;
mod prompt;
mod raw;
mod read;
mod report;
mod schema;
mod serve;
mod shell;
mod target_command;
mod test;

pub(crate) use agent::Agent;
pub(crate) use check::Check;
pub(crate) use completions::Completions;
pub(crate) use config::Config;
pub(crate) use mock::Mock;
pub(crate) use report::Report;
pub(crate) use schema::Schema;
pub(crate) use serve::Serve;
pub(crate) use shell::Shell;
pub(crate) use target_command::TargetCommand;
pub(crate) use test::{LastFailed, Test};
