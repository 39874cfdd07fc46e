//! The agent's loop: asks the model, makes its calls, and asks again, until the
//! model answers or a limit is reached.

use std::sync::Arc;

use serde_json::Value;
use sparring_peer::client::{RequestBuilder, ServerRequestHandler};
use tokio::sync::mpsc;

use super::endpoint::{AgentError, Endpoint};
use super::event::Event;
use super::model_turn::{ModelTurn, StopReason, ToolCall};
use crate::artifacts::Store;
use crate::instructions::join_instructions;
use crate::manager::Manager;
use crate::registry::Registry;

/// An agent with everything it needs.
pub struct Agent<'a> {
    /// The model's endpoint.
    pub endpoint: &'a Endpoint,
    /// The tools that it may call.
    pub registry: &'a Registry,
    /// Makes the calls.
    pub manager: &'a Manager,
    /// Stores the results.
    pub store: &'a Store,
    /// The limits of the agent.
    pub limits: Limits,
    /// The model's name.
    pub model: String,
    /// The system prompt. The instructions of the servers follow it.
    pub system: Option<String>,
    /// Answers the questions of servers during calls; `None` to answer them as the manager's
    /// clients do.
    pub questions: Option<Arc<dyn ServerQuestions>>,
    /// Receives the events; a slow receiver slows the agent down.
    pub events: mpsc::Sender<Event>,
}

/// Answers questions of servers: elicitation, sampling and roots.
pub trait ServerQuestions: Send + Sync {
    /// The handler for the questions of a server.
    fn handler(&self, server: &Arc<str>) -> Arc<dyn ServerRequestHandler>;
}

/// The limits of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The maximum number of turns.
    pub max_turns: u32,
    /// The maximum number of tokens in a turn; `None` for the API's default.
    pub max_tokens: Option<u32>,
}

/// The result of an agent's run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentResult {
    /// Why it ended.
    pub end: EndReason,
    /// The text of the model's last turn.
    pub text: String,
    /// The number of turns.
    pub turns: u32,
}

/// Why an agent's run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum EndReason {
    /// The model answered.
    Answered,
    /// The model still called tools in its last turn.
    OutOfTurns,
    /// The model's answer was truncated.
    Truncated,
    /// The model refused to answer, with its explanation if it gave one.
    Refused(String),
}

impl Default for Limits {
    fn default() -> Self {
        Limits { max_turns: 20, max_tokens: None }
    }
}

impl EndReason {
    /// A stable name, for programs.
    pub fn name(&self) -> &'static str {
        match self {
            EndReason::Answered => "answered",
            EndReason::OutOfTurns => "out-of-turns",
            EndReason::Truncated => "cut",
            EndReason::Refused(_) => "refused",
        }
    }
}

impl Agent<'_> {
    /// Runs the agent with a prompt. Dropping the future stops all calls.
    ///
    /// # Errors
    /// If the endpoint gives no usable response. Errors of tools go to the
    /// model.
    pub async fn run(&self, prompt: &str) -> Result<AgentResult, AgentError> {
        let api = self.endpoint.api;
        let mut messages = vec![api.user_message(prompt)];
        let mut text = String::new();
        for turn in 1..=self.limits.max_turns {
            let model_turn = self.ask_model(turn, &messages).await?;
            text.clone_from(&model_turn.text);
            let ended = |end| Ok(AgentResult { end, text: text.clone(), turns: turn });
            match &model_turn.stop {
                StopReason::Refused(explanation) => {
                    return ended(EndReason::Refused(explanation.clone()));
                }
                StopReason::Truncated if model_turn.calls.is_empty() => {
                    return ended(EndReason::Truncated);
                }
                StopReason::Finished if model_turn.calls.is_empty() => {
                    return ended(EndReason::Answered);
                }
                _ => {}
            }
            // The APIs reject an empty message.
            if !model_turn.text.is_empty() || !model_turn.calls.is_empty() {
                messages.push(api.assistant_message(&model_turn));
            }
            // The results of the last calls would not be read.
            if turn == self.limits.max_turns {
                break;
            }
            let calls = model_turn.calls.into_iter().map(Arc::new).collect::<Vec<_>>();
            if !calls.is_empty() {
                messages.extend(api.result_messages(&self.call_all(calls).await));
            }
        }
        Ok(AgentResult { end: EndReason::OutOfTurns, text, turns: self.limits.max_turns })
    }

    async fn ask_model(&self, turn: u32, messages: &[Value]) -> Result<ModelTurn, AgentError> {
        // The tools may have changed since the last turn.
        let mut tools = self.registry.tools();
        tools.extend(self.builtin_tools());
        self.emit(Event::Turn { turn, tools: tools.len() }).await;
        let (api, limits) = (self.endpoint.api, self.limits);
        let tools = api.declare_tools(&tools);
        let system = self.system_prompt();
        let body =
            api.request_body(&self.model, system.as_deref(), messages, &tools, limits.max_tokens);
        let mut model_turn = self.endpoint.request_turn(body, &self.events).await?;
        ensure_unique_ids(turn, &mut model_turn.calls);
        if !model_turn.text.is_empty() {
            self.emit(Event::Text(model_turn.text.clone())).await;
        }
        Ok(model_turn)
    }

    /// The system prompt with the current instructions of the servers.
    fn system_prompt(&self) -> Option<String> {
        let instructions = join_instructions(self.manager);
        let instructions =
            instructions.map(|text| format!("Instructions of the servers of the tools:\n\n{text}"));
        let parts: Vec<String> = self.system.clone().into_iter().chain(instructions).collect();
        (!parts.is_empty()).then(|| parts.join("\n\n"))
    }

    /// Adds the handler of questions to a request.
    pub(super) fn with_questions(
        &self,
        server: &Arc<str>,
        request: RequestBuilder,
    ) -> RequestBuilder {
        match &self.questions {
            // One person and one model answer all questions.
            Some(questions) => request.with_server_request_handler(1, questions.handler(server)),
            None => request,
        }
    }

    pub(super) async fn emit(&self, event: Event) {
        // The receiver may be gone.
        let _ = self.events.send(event).await;
    }
}

/// Gives each call a unique id, because some servers send none or duplicates.
fn ensure_unique_ids(turn: u32, calls: &mut [ToolCall]) {
    for at in 0..calls.len() {
        let (before, rest) = calls.split_at_mut(at);
        let call = &mut rest[0];
        if call.id.is_empty() || before.iter().any(|other| other.id == call.id) {
            call.id = format!("call_{turn}_{at}");
        }
    }
}
