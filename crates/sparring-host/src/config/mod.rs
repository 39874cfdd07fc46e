//! What is configured: which files there are, what they say of servers, each
//! with where it was said, and whether the user trusts them.
//!
//! [`Config::read`] reads all of it; what is wrong with one server keeps no
//! other from being used. Nothing is started here, and nothing read from the
//! environment: whoever calls hands in the [`Surroundings`].

mod all;
mod auth;
mod edit;
mod entry;
mod expand;
mod grammar;
mod hidden;
mod merge;
mod offer;
mod places;
mod read;
mod server;
mod surroundings;
mod trust;

pub use all::{Config, Configured, Fault, FileRules, Refusal, State, Untrusted, Unused, Why};
pub use edit::{Change, EditError, Edited, edit};
pub use grammar::{reference, schema};
pub use offer::{Offer, Offered};
pub use places::{Format, Place, Places};
pub use read::File;
pub use server::{Origin, Reconnect, Rules, Scope, ServerConfig};
pub use surroundings::{Ask, Question, Surroundings};
pub use trust::{Trust, TrustError};
