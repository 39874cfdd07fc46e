//! Why a tool is not called, or a call has no answer.

use crate::permissions::Denied;
use crate::text::{cut, visible};

/// The most of a name that a message shows.
const LONGEST_NAME: usize = 200;

/// Why a tool is not called.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// Nothing is called so.
    #[error("there is no tool '{}'{}", shown(name), offered(near))]
    Unknown {
        /// The name.
        name: String,
        /// Names that are like it.
        near: Vec<String>,
    },
    /// It must not be called.
    #[error(transparent)]
    Denied(#[from] Denied),
    /// While somebody was asked, the name became another tool's or nobody's.
    #[error("there is no tool '{}' any more: it was removed while it was asked for", shown(name))]
    Gone {
        /// The name.
        name: String,
    },
}

/// Why a call has no answer.
#[derive(Debug, thiserror::Error)]
pub enum ExecuteError<E> {
    /// It was not made.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// It was made, or tried.
    #[error(transparent)]
    Call(E),
}

fn shown(name: &str) -> String {
    cut(&visible(name), LONGEST_NAME)
}

fn offered(near: &[String]) -> String {
    match near.is_empty() {
        true => String::new(),
        false => {
            let names: Vec<_> = near.iter().map(|name| format!("'{name}'")).collect();
            format!("; did you mean {}?", names.join(" or "))
        }
    }
}
