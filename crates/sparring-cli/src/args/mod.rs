//! The program's arguments, the flags that several verbs have, and the parsers of their
//! values. Each verb defines its own flags.

mod container;
mod http;
mod oauth;
mod program;
mod target_flags;
pub(crate) mod text_source;
pub(crate) mod values;

pub(crate) use oauth::login_page_opener;
pub(crate) use program::{Spar, Verb, error_message};
pub(crate) use target_flags::{OutputFlags, TargetFlags};
pub(crate) use values::parse_duration;
