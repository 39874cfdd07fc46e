//! A step: its verb, its answers and its expectations.

use std::time::Duration;

use serde_json::Value;
use sparring_check::CheckOptions;
use sparring_peer::client::{ListKind, ServerRequest};
use sparring_script::{Path, Span, TemplateTree};

use super::{Agent, Expectations};

/// One step of a test.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) span: Span,
    pub(crate) verb: Verb,
    /// When to cancel the request, if at all.
    pub(crate) cancel: Option<Cancel>,
    pub(crate) answers: Answers,
    pub(crate) expect: Expectations,
    /// The names to save, their positions, and the paths of their values.
    pub(crate) save: Vec<(String, Span, Path)>,
}

/// The verb of a step.
#[derive(Debug)]
pub(crate) enum Verb {
    Call {
        tool: TemplateTree,
        arguments: TemplateTree,
        /// The names of the arguments and their positions.
        names: Vec<(String, Span)>,
    },
    Read {
        uri: TemplateTree,
    },
    Prompt {
        name: TemplateTree,
        arguments: TemplateTree,
    },
    List(ListKind),
    Complete(Completion),
    Ping,
    Request {
        method: TemplateTree,
        params: Option<TemplateTree>,
    },
    Notify {
        method: TemplateTree,
        params: Option<TemplateTree>,
    },
    Subscribe {
        uri: TemplateTree,
    },
    Send(RawMessage),
    /// Waits until the expectations hold, at most this long.
    Wait(Duration),
    Sleep(Duration),
    Restart,
    /// Checks the server with these options.
    Check(Box<CheckOptions>),
    /// Runs the step's own agent, or the suite's.
    Agent {
        own: Option<Agent>,
        input: Option<TemplateTree>,
    },
}

/// A message that is sent unchanged.
#[derive(Debug)]
pub(crate) enum RawMessage {
    Text(TemplateTree),
    Bytes(Vec<u8>),
}

/// The cancellation of a request.
#[derive(Debug)]
pub(crate) struct Cancel {
    pub(crate) after: Duration,
    pub(crate) reason: Option<TemplateTree>,
}

/// The argument to complete.
#[derive(Debug)]
pub(crate) struct Completion {
    /// The `ref` of the prompt or the resource template.
    pub(crate) reference: TemplateTree,
    pub(crate) argument: TemplateTree,
    pub(crate) value: TemplateTree,
    /// The values of other arguments.
    pub(crate) context: Option<TemplateTree>,
}

/// The answers of a step to requests of the server.
#[derive(Debug, Default)]
pub(crate) struct Answers(pub(crate) Vec<(ServerRequest, TemplateTree, AnswerOrder)>);

/// The order in which answers are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AnswerOrder {
    /// The same answer to every request.
    Always,
    /// The first answer to the first request, and so on.
    Each,
}

impl Step {
    /// Its templates.
    pub(crate) fn trees(&self) -> Vec<&TemplateTree> {
        let matchers = self.expect.matchers().map(super::MatcherTemplate::templates);
        let answers = self.answers.0.iter().map(|(_, tree, _)| tree);
        let reason = self.cancel.iter().filter_map(|cancel| cancel.reason.as_ref());
        self.verb.trees().into_iter().chain(matchers).chain(answers).chain(reason).collect()
    }
}

impl Verb {
    /// Returns true if it is a single request with an answer.
    pub(crate) fn is_request(&self) -> bool {
        matches!(
            self,
            Verb::Call { .. }
                | Verb::Read { .. }
                | Verb::Prompt { .. }
                | Verb::Complete(_)
                | Verb::Ping
                | Verb::Request { .. }
        )
    }

    /// Returns true if it runs an agent.
    pub(crate) fn is_agent(&self) -> bool {
        matches!(self, Verb::Agent { .. })
    }

    /// Returns true if a template is the agent's input.
    pub(crate) fn is_input(&self, tree: &TemplateTree) -> bool {
        matches!(self, Verb::Agent { input: Some(input), .. } if std::ptr::eq(input, tree))
    }

    /// Its name in a suite.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Verb::Call { .. } => "call",
            Verb::Read { .. } => "read",
            Verb::Prompt { .. } => "prompt",
            Verb::List(_) => "list",
            Verb::Complete(_) => "complete",
            Verb::Ping => "ping",
            Verb::Request { .. } => "request",
            Verb::Notify { .. } => "notify",
            Verb::Subscribe { .. } => "subscribe",
            Verb::Send(_) => "send",
            Verb::Wait(_) => "wait",
            Verb::Sleep(_) => "sleep",
            Verb::Restart => "restart",
            Verb::Check(_) => "check",
            Verb::Agent { .. } => "agent",
        }
    }

    /// Its templates.
    pub(crate) fn trees(&self) -> Vec<&TemplateTree> {
        match self {
            Verb::Call { tool: name, arguments, .. } | Verb::Prompt { name, arguments } => {
                vec![name, arguments]
            }
            Verb::Read { uri } | Verb::Subscribe { uri } => vec![uri],
            Verb::Send(RawMessage::Text(text)) => vec![text],
            Verb::List(_)
            | Verb::Ping
            | Verb::Send(RawMessage::Bytes(_))
            | Verb::Wait(_)
            | Verb::Sleep(_)
            | Verb::Restart
            | Verb::Check(_) => Vec::new(),
            Verb::Agent { own, input } => own.iter().flat_map(Agent::trees).chain(input).collect(),
            Verb::Complete(Completion { reference, argument, value, context }) => {
                [reference, argument, value].into_iter().chain(context).collect()
            }
            Verb::Request { method, params } | Verb::Notify { method, params } => {
                std::iter::once(method).chain(params).collect()
            }
        }
    }
}

impl AnswerOrder {
    /// The answer to the nth request, from 0.
    pub(crate) fn pick(self, answers: &Value, nth: usize) -> Option<&Value> {
        match self {
            AnswerOrder::Always => Some(answers),
            AnswerOrder::Each => answers.get(nth),
        }
    }
}
