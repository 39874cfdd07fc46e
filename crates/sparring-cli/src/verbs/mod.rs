//! What the program can do, one file a verb.

mod call;
mod complete;
mod list;
mod ping;
mod prompt;
mod raw;
mod read;
mod verb;

pub(crate) use verb::Verb;
