//! The conversations of past answers of the Responses API, which later requests continue. The
//! number of answers is limited, and so are their bytes.

use std::sync::Arc;

use super::chat_request::{ChatRequest, Message, PastCall};
use super::model_answer::ModelAnswer;
use crate::bounded_map::{BoundedMap, MapLimits};

/// The limits of all answers; the oldest are dropped when one is reached. Answers of one
/// conversation share their messages, but each counts all of its own, since the others may be
/// dropped before it.
const LIMITS: MapLimits = MapLimits { entries: 1000, bytes: 256 * 1024 * 1024 };

/// The maximum number of bytes of one conversation.
const MAX_CONVERSATION_BYTES: usize = 64 * 1024 * 1024;

/// The conversations, by the ids of their last answers.
#[derive(Debug)]
pub(super) struct ResponseStore(BoundedMap<String, Vec<Arc<Message>>>);

impl Default for ResponseStore {
    fn default() -> Self {
        ResponseStore(BoundedMap::new(LIMITS))
    }
}

impl ResponseStore {
    /// Adds the earlier messages to a request that continues a response.
    ///
    /// # Errors
    /// If no answer has that id.
    pub(super) fn continue_conversation(&self, chat: &mut ChatRequest) -> Result<(), String> {
        let Some(id) = &chat.previous_response else { return Ok(()) };
        let earlier = self.0.get(id);
        let earlier = earlier.ok_or(format!("previous response with id '{id}' not found"))?;
        let later = std::mem::replace(&mut chat.messages, earlier.clone());
        chat.messages.extend(later);
        Ok(())
    }

    /// Checks that a conversation can be stored.
    pub(super) fn check_size(chat: &ChatRequest) -> Result<(), String> {
        match chat.size() <= MAX_CONVERSATION_BYTES {
            true => Ok(()),
            false => {
                Err(format!("the conversation needs more than {MAX_CONVERSATION_BYTES} bytes"))
            }
        }
    }

    /// Stores the conversation up to an answer.
    pub(super) fn store(&mut self, id: String, chat: &ChatRequest, answer: &ModelAnswer) {
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
        let bytes = chat.size() + message.size();
        let mut messages = chat.messages.clone();
        messages.push(message.into());
        self.0.insert(id, messages, bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chat(previous: Option<&str>, bytes: usize) -> ChatRequest {
        let message =
            Message { role: "user".to_owned(), text: "x".repeat(bytes), ..Message::default() };
        let previous_response = previous.map(str::to_owned);
        ChatRequest { messages: vec![message.into()], previous_response, ..ChatRequest::default() }
    }

    #[test]
    fn answers_of_a_conversation_share_its_messages() {
        let mut store = ResponseStore::default();
        let first = chat(None, 1_000);
        store.store("a".to_owned(), &first, &ModelAnswer::default());
        let mut second = chat(Some("a"), 1_000);
        store.continue_conversation(&mut second).unwrap();
        assert_eq!(second.messages.len(), 3);
        assert!(Arc::ptr_eq(&first.messages[0], &second.messages[0]));
    }

    #[test]
    fn limits_the_bytes_of_conversations() {
        let mut store = ResponseStore::default();
        let large = chat(None, MAX_CONVERSATION_BYTES - 1_000);
        assert_eq!(ResponseStore::check_size(&large), Ok(()));
        for number in 0..5 {
            store.store(number.to_string(), &large, &ModelAnswer::default());
        }
        let mut unknown = chat(Some("0"), 1_000);
        assert!(store.continue_conversation(&mut unknown).is_err());
        let mut longer = chat(Some("4"), 1_000);
        store.continue_conversation(&mut longer).unwrap();
        let refused = ResponseStore::check_size(&longer).unwrap_err();
        assert!(refused.contains("needs more than 67108864 bytes"), "{refused}");
    }

    #[test]
    fn counts_more_than_the_text_of_small_messages() {
        let messages = (0..600_000).map(|_| Message::default().into()).collect();
        let chat = ChatRequest { messages, ..ChatRequest::default() };
        assert!(ResponseStore::check_size(&chat).is_err());
    }
}
