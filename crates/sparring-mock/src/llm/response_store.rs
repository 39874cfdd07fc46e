//! The conversations of past answers of the Responses API, which later requests continue. The
//! number of answers is limited.

use std::collections::{HashMap, VecDeque};

use super::chat_request::{ChatRequest, Message, PastCall};
use super::model_answer::ModelAnswer;

/// The maximum number of answers; the oldest are dropped when it is reached.
const MAX_ANSWERS: usize = 1000;

/// The conversations, by the ids of their last answers.
#[derive(Debug, Default)]
pub(super) struct ResponseStore {
    by_id: HashMap<String, Vec<Message>>,
    order: VecDeque<String>,
}

impl ResponseStore {
    /// Adds the earlier messages to a request that continues a response.
    ///
    /// # Errors
    /// If no answer has that id.
    pub(super) fn continue_conversation(&self, chat: &mut ChatRequest) -> Result<(), String> {
        let Some(id) = &chat.previous_response else { return Ok(()) };
        let earlier = self.by_id.get(id);
        let earlier = earlier.ok_or(format!("previous response with id '{id}' not found"))?;
        let later = std::mem::replace(&mut chat.messages, earlier.clone());
        chat.messages.extend(later);
        Ok(())
    }

    /// Stores the conversation up to an answer.
    pub(super) fn store(&mut self, id: String, chat: &ChatRequest, answer: &ModelAnswer) {
        if self.order.len() >= MAX_ANSWERS
            && let Some(oldest) = self.order.pop_front()
        {
            self.by_id.remove(&oldest);
        }
        let calls = answer.calls.iter().map(|call| PastCall {
            id: call.id.clone(),
            tool: call.tool.clone(),
            with: call.with.clone(),
        });
        let message = Message {
            role: "assistant".to_owned(),
            text: answer.text.clone().unwrap_or_default(),
            calls: calls.collect(),
            results: Vec::new(),
        };
        let mut messages = chat.messages.clone();
        messages.push(message);
        self.order.push_back(id.clone());
        self.by_id.insert(id, messages);
    }
}
