//! Scripted responses of test cases: the tool `get_data` answers with a queue for each case.
//! Directives in its `task_description` name the case and, in the first call, contain the
//! responses.
//!
//! Agents repeat their input, so responses for a case that has started are ignored.

mod cases;
mod directives;

use std::sync::{Mutex, PoisonError};

use serde_json::Value;
use sparring_peer::server::HandlerResult;
use sparring_script::{Node, Span, casing};
use sparring_wire::types::CallToolResult;
use sparring_wire::{ErrorObject, RawJson, code};

use self::cases::Cases;
use self::directives::{Directives, MAX_CASE_ID_BYTES};

pub use directives::directives;
#[cfg(feature = "llm")]
pub(crate) use directives::find_case_id;

/// The name of the tool.
pub(crate) const TOOL_NAME: &str = "get_data";

/// The argument that contains the directives.
pub(crate) const ARGUMENT_NAME: &str = "task_description";

/// The queues of all test cases.
#[derive(Debug)]
pub(crate) struct Interactions {
    /// The responses of cases that contain none; without them, each case must contain its own.
    default_responses: Option<Vec<RawJson>>,
    cases: Mutex<Cases>,
}

impl Interactions {
    pub(crate) fn new(default_responses: Option<Vec<RawJson>>) -> Self {
        Interactions { default_responses, cases: Mutex::default() }
    }

    /// Returns the next answer of the case that the arguments name.
    pub(crate) fn answer(&self, args: &Value) -> HandlerResult {
        let text = args.get(ARGUMENT_NAME).and_then(Value::as_str).unwrap_or_default();
        match self.next(text) {
            Ok(response) => to_answer(&response),
            Err(why) => Ok(CallToolResult::failure(why).into()),
        }
    }

    /// Drops all cases.
    pub(crate) fn reset(&self) {
        *self.cases.lock().unwrap_or_else(PoisonError::into_inner) = Cases::default();
    }

    fn next(&self, text: &str) -> Result<RawJson, String> {
        let directives = Directives::parse(text);
        let case = match (directives.case, &self.default_responses) {
            (Some(case), _) => case,
            (None, Some(_)) => "",
            (None, None) => {
                return Err(format!(
                    "{ARGUMENT_NAME} has no [test_case_id=…] (letters, digits, `_`, `.` and `-`, \
                     at most {MAX_CASE_ID_BYTES} bytes)"
                ));
            }
        };
        let mut cases = self.cases.lock().unwrap_or_else(PoisonError::into_inner);
        if !cases.contains(case) {
            let responses = match (directives.responses, &self.default_responses) {
                (Some(encoded), _) => directives::decode_responses(encoded)
                    .map_err(|why| format!("case '{case}': {why}"))?,
                (None, Some(default_responses)) => default_responses.clone(),
                (None, None) => {
                    return Err(format!(
                        "case '{case}': the first call has no [mcp_responses_json=…]"
                    ));
                }
            };
            cases.start(case, responses).map_err(|why| format!("case '{case}': {why}"))?;
        }
        cases.next(case).map_err(|total| {
            format!("case '{case}': no response left; [mcp_responses_json=…] had {total}")
        })
    }
}

/// Converts a response to a result, or to an error if it has `error`.
fn to_answer(response: &RawJson) -> HandlerResult {
    match response.view().get("error").filter(|error| error.is_object()) {
        Some(error) => {
            let mut error = ErrorObject::from_json(error);
            if error.code == 0 {
                error.code = code::INTERNAL_ERROR;
            }
            Err(error.into())
        }
        None => Ok(response.clone().into()),
    }
}

/// Converts the keys of a response to those of the wire.
pub(crate) fn to_wire_response(response: Value) -> RawJson {
    let mut node = Node::from((Span::default(), response));
    casing::rename_keys_to_wire(&mut node);
    node.to_json().into()
}
