//! An agent: sends a prompt to a model, makes the tool calls that the model
//! asks for, and returns their results, until the model answers.
//!
//! An [`Agent`] gets its tools from a registry, which decides about calls, and reports
//! [`Event`]s. It prints nothing, and asks
//! a person only through the registry's gate.

mod agent_loop;
mod anthropic;
mod api;
mod builtin_tools;
mod endpoint;
mod event;
mod model_turn;
mod openai;
mod sampling;
mod tool_calls;

pub use agent_loop::{Agent, AgentResult, EndReason, Limits, ServerQuestions};
pub use api::{Address, Api, UnknownApi};
pub use endpoint::{AgentError, Endpoint, RequestPolicy};
pub use event::{Event, Permission};
pub use model_turn::ToolCall;
pub use sampling::{SampledMessage, SamplingRequest};
