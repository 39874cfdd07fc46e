//! A failure for a program to read.

use serde_json::{Value, json};
use sparring_peer::client::Error;

use crate::failure::Failure;

/// `{"error": {"kind": …, "message": …}}`, with what else is known: the
/// server's code and data, the end of the target's stderr.
pub(crate) fn object(failure: &Failure, stderr: Option<&str>) -> Value {
    let mut error = json!({"kind": failure.kind(), "message": failure.to_string()});
    if let Failure::Connect(Error::Refused { error: refused, .. })
    | Failure::Request(Error::Refused { error: refused, .. }) = failure
    {
        error["code"] = refused.code.into();
        if let Some(data) = &refused.data {
            error["data"] = data.clone();
        }
    }
    if let Some(stderr) = stderr.filter(|text| !text.trim().is_empty()) {
        error["stderr"] = stderr.into();
    }
    json!({"error": error})
}

/// What the server's error says besides its message.
pub(super) fn data(error: &Error) -> Option<&Value> {
    match error {
        Error::Refused { error, .. } => error.data.as_ref(),
        _ => None,
    }
}
