//! What the program can do, one file a verb.

mod agent;
mod call;
mod codegen;
mod complete;
mod completions;
mod config;
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
mod test;
mod verb;
mod visit;

pub(crate) use test::LastFailed;
pub(crate) use verb::Verb;
pub(crate) use visit::Visit;
