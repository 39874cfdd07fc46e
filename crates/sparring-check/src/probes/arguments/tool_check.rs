//! The state of the calls of one tool.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Value, json};
use sparring_wire::{Rule, code};

use super::caller::{Answer, Call};
use super::cases::{Case, Cases, seed_of};
use super::generate::lets_wait;
use super::is_checked;
use super::output_schema::OutputSchema;
use crate::context::Context;
use crate::report::{ToolUse, ToolUseOutcome};
use crate::tool_policy::good_arguments;

/// The number of random cases of which one may be valid, if no other arguments are.
const MAX_RANDOM: u64 = 5;

/// A tool, and what its calls have shown so far.
pub(super) struct ToolCheck<'a> {
    pub(super) name: &'a str,
    pub(super) good: Vec<Value>,
    /// `None` if the input schema cannot be used.
    pub(super) cases: Option<Cases>,
    pub(super) output: Option<OutputSchema>,
    /// The smallest arguments that succeeded.
    pub(super) succeeded: Option<Value>,
    /// The longest time to an answer, and that of all calls.
    pub(super) slowest: Duration,
    pub(super) spent: Duration,
    pub(super) found: BTreeSet<Fault>,
    /// The first case that got an internal error.
    pub(super) internal_error: Option<(Case, Value)>,
    /// True if there can be a good reason for a late answer: a network, or a wish to wait.
    pub(super) may_be_slow: bool,
    /// True after a crash, a hang, or an answer that other rules judge.
    pub(super) is_over: bool,
    last_answer: Option<String>,
    is_settled: bool,
}

/// A fault that calls with valid arguments show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fault {
    Crash,
    Hang,
    InternalError,
    Output,
}

impl Fault {
    pub(super) fn rule(self) -> Rule {
        match self {
            Fault::Crash => Rule::ArgumentsCrash,
            Fault::Hang => Rule::ArgumentsHang,
            Fault::InternalError => Rule::ArgumentsInternalError,
            Fault::Output => Rule::OutputSchema,
        }
    }

    pub(super) fn crash_message() -> String {
        "expected an answer to a call with valid arguments; the server ended".to_owned()
    }
}

impl<'a> ToolCheck<'a> {
    pub(super) fn new(context: &Context, tool: &'a Value) -> Self {
        let name = tool["name"].as_str().unwrap_or_default();
        let mut good = good_arguments(context, tool).values;
        let schema = tool.get("inputSchema").filter(|it| it.is_object());
        let fallback = json!({});
        let smallest = good.iter().min_by_key(|it| size(it)).unwrap_or(&fallback);
        let seed = seed_of(context.options.seed, name);
        let cases = schema.and_then(|it| Cases::new(it, smallest, seed));
        if let Some(cases) = cases.as_ref().filter(|it| !good.iter().any(|good| it.is_valid(good)))
        {
            let random = (0..MAX_RANDOM).map(|number| Case::All { number });
            good.extend(random.filter_map(|case| cases.arguments(&case)).take(1));
        }
        let output = OutputSchema::of(tool).filter(|_| is_checked(context, Rule::OutputSchema));
        ToolCheck {
            name,
            good,
            cases,
            output,
            succeeded: None,
            slowest: Duration::ZERO,
            spent: Duration::ZERO,
            found: BTreeSet::new(),
            internal_error: None,
            may_be_slow: uses_network(tool) || waits(tool),
            is_over: false,
            last_answer: None,
            is_settled: false,
        }
    }

    /// Notes the outcome of a call.
    pub(super) fn note(&mut self, arguments: &Value, call: &Call) {
        self.spent += call.took;
        // The answers to generated arguments say less about the tool.
        if !self.is_settled {
            self.last_answer = Some(call.describe());
        }
        if call.answer == Answer::Success {
            let is_smaller = |known: &Value| size(arguments) < size(known);
            if self.succeeded.as_ref().is_none_or(is_smaller) {
                self.succeeded = Some(arguments.clone());
            }
        }
        match call.answer {
            Answer::Crash | Answer::Gone | Answer::Hang | Answer::Other => self.is_over = true,
            _ => self.slowest = self.slowest.max(call.took),
        }
    }

    /// Ends the calls with good arguments: those that succeeded are the good ones of the
    /// other cases.
    pub(super) fn settle(&mut self) {
        self.is_settled = true;
        if let (Some(good), Some(cases)) = (&self.succeeded, &mut self.cases) {
            cases.set_good(good);
        }
    }

    /// Returns true if the arguments conform to the input schema, as far as that is known.
    pub(super) fn is_valid(&self, arguments: &Value) -> bool {
        self.cases.as_ref().is_some_and(|it| it.is_valid(arguments))
    }

    /// Returns the fault that a call with valid arguments shows, with a message that is the
    /// same in every revision.
    pub(super) fn fault(&self, call: &Call, timeout: Duration) -> Option<(Fault, String)> {
        match call.answer {
            Answer::Crash => Some((Fault::Crash, Fault::crash_message())),
            Answer::Hang => {
                let expected = "expected an answer to a call with valid arguments";
                let found = format!("the server did not answer within {timeout:?}");
                Some((Fault::Hang, format!("{expected}; {found}")))
            }
            Answer::InternalError => {
                let expected = "expected a result or another error for valid arguments";
                let found = match call.reply.error_code() {
                    Some(_) => {
                        format!("the server answered with the error {}", code::INTERNAL_ERROR)
                    }
                    None => "the server answered with an HTTP error".to_owned(),
                };
                Some((Fault::InternalError, format!("{expected}; {found}")))
            }
            Answer::Success => {
                let problem = self.output.as_ref()?.problem(&call.reply)?;
                Some((Fault::Output, problem))
            }
            Answer::Refusal | Answer::Gone | Answer::Other => None,
        }
    }

    /// Returns the outcome of calling the tool.
    pub(super) fn tool_use(&self) -> ToolUse {
        let outcome = match (&self.succeeded, &self.last_answer) {
            (Some(_), _) => ToolUseOutcome::Succeeded,
            (None, Some(answer)) => ToolUseOutcome::NeverSucceeded(answer.clone()),
            (None, None) => {
                ToolUseOutcome::NotCalled("the calls of other tools took too long".to_owned())
            }
        };
        ToolUse { tool: self.name.to_owned(), outcome }
    }
}

/// Returns true if a tool says that it works with a network.
fn uses_network(tool: &Value) -> bool {
    const WORDS: [&str; 14] = [
        "http", "https", "url", "urls", "uri", "fetch", "download", "website", "web", "internet",
        "api", "network", "online", "crawl",
    ];
    let text = |key: &str| tool[key].as_str().unwrap_or_default().to_lowercase();
    let properties = tool["inputSchema"]["properties"].to_string().to_lowercase();
    let text = format!("{} {} {properties}", text("name"), text("description"));
    let mut words = text.split(|c: char| !c.is_alphanumeric());
    tool["annotations"]["openWorldHint"] == true || words.any(|word| WORDS.contains(&word))
}

/// Returns true if a tool waits because its caller wants it.
fn waits(tool: &Value) -> bool {
    let name = tool["name"].as_str().unwrap_or_default().to_lowercase();
    let mut words = name.split(|c: char| !c.is_alphabetic());
    let properties = tool["inputSchema"]["properties"].as_object();
    words.any(|word| ["sleep", "wait", "delay"].contains(&word))
        || properties.into_iter().flatten().any(|(name, schema)| {
            schema.as_object().is_some_and(|schema| lets_wait(schema, Some(name)))
        })
}

/// Returns the number of members of an object.
fn size(arguments: &Value) -> usize {
    arguments.as_object().map_or(0, serde_json::Map::len)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recognizes_tools_that_wait() {
        let of = |name: &str| json!({"name": "a", "inputSchema": {"properties": {name: {"type": "number"}}}});
        assert!(waits(&of("delay_seconds")));
        assert!(waits(&json!({"name": "wait_for_it"})));
        assert!(!waits(&of("count")));
    }

    #[test]
    fn recognizes_tools_that_use_a_network() {
        let schema = |name: &str| json!({"$schema": "http://json-schema.org/draft-07/schema#", "properties": {name: {}}});
        for (tool, expected) in [
            (json!({"name": "fetch"}), true),
            (json!({"name": "a", "inputSchema": schema("url")}), true),
            (json!({"name": "a", "annotations": {"openWorldHint": true}}), true),
            (
                json!({"name": "a", "description": "Adds numbers.", "inputSchema": schema("b")}),
                false,
            ),
        ] {
            assert_eq!(uses_network(&tool), expected, "{tool}");
        }
    }
}
