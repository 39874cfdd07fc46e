//! The loop: the model is asked, its calls are made, and it is asked again,
//! until it answers or a limit is reached.

use std::sync::Arc;

use serde_json::Value;
use tokio::sync::mpsc;

use super::endpoint::Endpoint;
use super::error::AgentError;
use super::event::Event;
use super::said::{Called, Said, Stop};
use crate::artifacts::Store;
use crate::manager::Manager;
use crate::registry::Registry;

/// An agent, with all that it needs.
pub struct Agent<'a> {
    /// The model.
    pub endpoint: &'a Endpoint,
    /// Whose tools it may call.
    pub registry: &'a Registry,
    /// Who calls them.
    pub manager: &'a Manager,
    /// Where their results go.
    pub store: &'a Store,
    /// What bounds it.
    pub limits: Limits,
    /// The model's name.
    pub model: String,
    /// What the model is told before all else.
    pub system: Option<String>,
    /// Who is told what happens; whoever reads slowly holds it up.
    pub events: mpsc::Sender<Event>,
}

/// What bounds an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// How often the model is asked.
    pub max_turns: u32,
    /// How much it may say in a turn; what the API takes for granted where
    /// nothing is said.
    pub max_tokens: Option<u32>,
}

/// How it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// Why.
    pub end: End,
    /// What the model said last.
    pub text: String,
    /// How often it was asked.
    pub turns: u32,
}

/// Why it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum End {
    /// The model answered.
    Answered,
    /// The model called tools until it had no turn left.
    OutOfTurns,
    /// The model had no room to say all.
    Cut,
    /// The model does not want to answer, in these words if it has any.
    Refused(String),
}

impl Default for Limits {
    fn default() -> Self {
        Limits { max_turns: 20, max_tokens: None }
    }
}

impl End {
    /// A stable name, for programs.
    pub fn name(&self) -> &'static str {
        match self {
            End::Answered => "answered",
            End::OutOfTurns => "out-of-turns",
            End::Cut => "cut",
            End::Refused(_) => "refused",
        }
    }
}

impl Agent<'_> {
    /// Has a prompt answered. Dropped, it calls nothing any more.
    ///
    /// # Errors
    /// When the endpoint gives no answer that can be used. What goes wrong with
    /// tools is told to the model.
    pub async fn run(&self, prompt: &str) -> Result<Ended, AgentError> {
        let api = self.endpoint.api;
        let mut messages = vec![api.user(prompt)];
        let mut text = String::new();
        for turn in 1..=self.limits.max_turns {
            let said = self.turn(turn, &messages).await?;
            text.clone_from(&said.text);
            let ended = |end| Ok(Ended { end, text: text.clone(), turns: turn });
            match &said.stop {
                Stop::Refused(words) => return ended(End::Refused(words.clone())),
                Stop::Cut if said.calls.is_empty() => return ended(End::Cut),
                Stop::Done if said.calls.is_empty() => return ended(End::Answered),
                _ => {}
            }
            // A message that says nothing is one that the APIs do not take.
            if !said.text.is_empty() || !said.calls.is_empty() {
                messages.push(api.assistant(&said));
            }
            // The last calls would be made for nobody.
            if turn == self.limits.max_turns {
                break;
            }
            let calls = said.calls.into_iter().map(Arc::new).collect::<Vec<_>>();
            if !calls.is_empty() {
                messages.extend(api.results(&self.call_all(calls).await));
            }
        }
        Ok(Ended { end: End::OutOfTurns, text, turns: self.limits.max_turns })
    }

    async fn turn(&self, turn: u32, messages: &[Value]) -> Result<Said, AgentError> {
        // Others may be there than in the turn before.
        let tools = self.registry.tools();
        self.tell(Event::Turn { turn, tools: tools.len() }).await;
        let (api, limits) = (self.endpoint.api, self.limits);
        let tools = api.tools(&tools);
        let system = self.system.as_deref();
        let body = api.body(&self.model, system, messages, &tools, limits.max_tokens);
        let mut said = self.endpoint.ask(body, &self.events).await?;
        name_calls(turn, &mut said.calls);
        if !said.text.is_empty() {
            self.tell(Event::Text(said.text.clone())).await;
        }
        Ok(said)
    }

    pub(super) async fn tell(&self, event: Event) {
        // Who does not listen any more wants nothing.
        let _ = self.events.send(event).await;
    }
}

/// Some servers give their calls no ids, or the same; the results need them.
fn name_calls(turn: u32, calls: &mut [Called]) {
    for at in 0..calls.len() {
        let (before, rest) = calls.split_at_mut(at);
        let call = &mut rest[0];
        if call.id.is_empty() || before.iter().any(|other| other.id == call.id) {
            call.id = format!("call_{turn}_{at}");
        }
    }
}
