//! Answers turn by turn, a queue for each test case: one tool, `get_data`, whose
//! `task_description` says by directives whose turn it is and, the first time,
//! what the answers are.
//!
//! Agents repeat their text, so what fills a queue a second time is ignored.

mod cases;
mod directives;

use std::sync::{Mutex, PoisonError};

use serde_json::Value;
use sparring_peer::server::Answer;
use sparring_script::{Node, Span, casing};
use sparring_wire::types::CallToolResult;
use sparring_wire::{ErrorObject, RawJson, code};

use self::cases::Cases;
use self::directives::Directives;

#[cfg(feature = "llm")]
pub(crate) use directives::case_of;
pub use directives::directives;

/// The name of the one tool.
pub(crate) const TOOL: &str = "get_data";

/// The argument that has the directives.
pub(crate) const ARGUMENT: &str = "task_description";

/// All queues.
#[derive(Debug)]
pub(crate) struct Interactions {
    /// What a case gets that brings nothing along; none where it must.
    own: Option<Vec<RawJson>>,
    cases: Mutex<Cases>,
}

impl Interactions {
    pub(crate) fn new(own: Option<Vec<RawJson>>) -> Self {
        Interactions { own, cases: Mutex::default() }
    }

    /// The next answer of the case that the arguments name.
    pub(crate) fn answer(&self, args: &Value) -> Answer {
        let text = args.get(ARGUMENT).and_then(Value::as_str).unwrap_or_default();
        match self.next(text) {
            Ok(response) => given(&response),
            Err(why) => Ok(CallToolResult::failure(why).into()),
        }
    }

    /// Forgets all cases.
    pub(crate) fn reset(&self) {
        *self.cases.lock().unwrap_or_else(PoisonError::into_inner) = Cases::default();
    }

    fn next(&self, text: &str) -> Result<RawJson, String> {
        let directives = Directives::find(text);
        let case = match (directives.case, &self.own) {
            (Some(case), _) => case,
            (None, Some(_)) => "",
            (None, None) => {
                return Err(format!(
                    "{ARGUMENT} has no [test_case_id=…], letters, digits, '_', '.' and '-'"
                ));
            }
        };
        let mut cases = self.cases.lock().unwrap_or_else(PoisonError::into_inner);
        if !cases.knows(case) {
            let responses = match (directives.responses, &self.own) {
                (Some(encoded), _) => {
                    directives::decode(encoded).map_err(|why| format!("case '{case}': {why}"))?
                }
                (None, Some(own)) => own.clone(),
                (None, None) => {
                    return Err(format!(
                        "case '{case}': nothing was given before, and there is no [mcp_responses_json=…]"
                    ));
                }
            };
            cases.begin(case, responses);
        }
        cases.next(case).map_err(|total| {
            format!(
                "case '{case}': all of its responses were given; [mcp_responses_json=…] had {total}"
            )
        })
    }
}

/// A response as a result, or as an error where it says so.
fn given(response: &RawJson) -> Answer {
    match response.view().get("error").filter(|error| error.is_object()) {
        Some(error) => {
            let mut error = ErrorObject::read(error);
            if error.code == 0 {
                error.code = code::INTERNAL_ERROR;
            }
            Err(error.into())
        }
        None => Ok(response.clone().into()),
    }
}

/// A response in the names of the wire.
pub(crate) fn wire(response: Value) -> RawJson {
    let mut node = Node::from((Span::default(), response));
    casing::to_wire(&mut node);
    node.to_json().into()
}
