//! Answers a sampling request of a server with the agent's own model.

use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::endpoint::{AgentError, Endpoint};
use super::model_turn::StopReason;

/// A request for a message of the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SamplingRequest {
    /// The model's name.
    pub model: String,
    /// The system prompt.
    pub system: Option<String>,
    /// The role and the text of each message.
    pub messages: Vec<(String, String)>,
    /// The maximum number of tokens.
    pub max_tokens: Option<u32>,
}

/// A message of the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SampledMessage {
    /// The text.
    pub text: String,
    /// True if it reached the maximum number of tokens.
    pub is_truncated: bool,
}

impl Endpoint {
    /// Asks the model for one message, without tools.
    ///
    /// # Errors
    /// If the endpoint gives no usable response.
    pub async fn sample(&self, request: &SamplingRequest) -> Result<SampledMessage, AgentError> {
        let SamplingRequest { model, system, messages, max_tokens } = request;
        let message = |(role, text): &(String, String)| json!({"role": role, "content": text});
        let messages: Vec<Value> = messages.iter().map(message).collect();
        let body = self.api.request_body(model, system.as_deref(), &messages, &[], *max_tokens);
        // Nothing shows the events of this request.
        let (events, _) = mpsc::channel(1);
        let turn = self.request_whole_turn(body, &events).await?;
        Ok(SampledMessage { text: turn.text, is_truncated: turn.stop == StopReason::Truncated })
    }
}
