//! A step: what is done, and what is made of what came.

use std::time::Duration;

use serde_json::Value;
use sparring_peer::client::{Listing, Question};
use sparring_script::{Path, Span, Tree};

use super::{Agent, Expect};

/// One step of a test.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) span: Span,
    pub(crate) verb: Verb,
    /// When it is given up, where it is to be.
    pub(crate) cancel: Option<Cancel>,
    pub(crate) answers: Answers,
    pub(crate) expect: Expect,
    /// Names, where they stand, and what they are to mean.
    pub(crate) save: Vec<(String, Span, Path)>,
}

/// What is done.
#[derive(Debug)]
pub(crate) enum Verb {
    Call {
        tool: Tree,
        arguments: Tree,
    },
    Read {
        uri: Tree,
    },
    Prompt {
        name: Tree,
        arguments: Tree,
    },
    List(Listing),
    Complete(Completion),
    Ping,
    Request {
        method: Tree,
        params: Option<Tree>,
    },
    Notify {
        method: Tree,
        params: Option<Tree>,
    },
    Subscribe {
        uri: Tree,
    },
    Send(Raw),
    /// Waits for what is expected, so long at most.
    Wait(Duration),
    Sleep(Duration),
    Restart,
    /// Runs an agent: its own, or the suite's.
    Agent {
        own: Option<Agent>,
        input: Option<Tree>,
    },
}

/// What is sent as it is.
#[derive(Debug)]
pub(crate) enum Raw {
    Text(Tree),
    Bytes(Vec<u8>),
}

/// How a request is given up.
#[derive(Debug)]
pub(crate) struct Cancel {
    pub(crate) after: Duration,
    pub(crate) reason: Option<Tree>,
}

/// What is to be completed.
#[derive(Debug)]
pub(crate) struct Completion {
    /// The prompt or the template, as the wire names it.
    pub(crate) reference: Tree,
    pub(crate) argument: Tree,
    pub(crate) value: Tree,
    /// The other arguments, where they are known.
    pub(crate) context: Option<Tree>,
}

/// What the client answers in a step.
#[derive(Debug, Default)]
pub(crate) struct Answers(pub(crate) Vec<(Question, Tree, Turns)>);

/// How often an answer is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turns {
    /// To every question of its kind.
    Always,
    /// A list: the first to the first question, and so on.
    Each,
}

impl Step {
    /// The texts with holes in it.
    pub(crate) fn trees(&self) -> Vec<&Tree> {
        let patterns = self.expect.patterns().map(|pattern| pattern.holes());
        let answers = self.answers.0.iter().map(|(_, tree, _)| tree);
        let reason = self.cancel.iter().filter_map(|cancel| cancel.reason.as_ref());
        self.verb.trees().into_iter().chain(patterns).chain(answers).chain(reason).collect()
    }
}

impl Verb {
    /// Whether it is one request, which has an answer of its own.
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

    /// Whether it runs an agent, and asks nothing of a server.
    pub(crate) fn is_agent(&self) -> bool {
        matches!(self, Verb::Agent { .. })
    }

    /// Whether a text of it is what an agent is told.
    pub(crate) fn is_input(&self, tree: &Tree) -> bool {
        matches!(self, Verb::Agent { input: Some(input), .. } if std::ptr::eq(input, tree))
    }

    /// What it is called in a suite.
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
            Verb::Agent { .. } => "agent",
        }
    }

    /// The texts with holes in it.
    pub(crate) fn trees(&self) -> Vec<&Tree> {
        match self {
            Verb::Call { tool: name, arguments } | Verb::Prompt { name, arguments } => {
                vec![name, arguments]
            }
            Verb::Read { uri } | Verb::Subscribe { uri } => vec![uri],
            Verb::Send(Raw::Text(text)) => vec![text],
            Verb::List(_)
            | Verb::Ping
            | Verb::Send(Raw::Bytes(_))
            | Verb::Wait(_)
            | Verb::Sleep(_)
            | Verb::Restart => Vec::new(),
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

impl Turns {
    /// The answer to the question that is asked for the nth time, from 0.
    pub(crate) fn pick(self, answers: &Value, nth: usize) -> Option<&Value> {
        match self {
            Turns::Always => Some(answers),
            Turns::Each => answers.get(nth),
        }
    }
}
