//! An agent: sends a prompt to a model, makes the tool calls that the model
//! asks for, and returns their results, until the model answers.
//!
//! An [`Agent`] gets its tools from a registry, which decides what may be
//! called, and reports what happens as [`Event`]s. It prints nothing, and asks
//! a person only through the registry's gate.

mod agent_loop;
mod anthropic;
mod api;
mod endpoint;
mod event;
mod model_turn;
mod openai;
mod tool_calls;

pub use agent_loop::{Agent, End, Ended, Limits};
pub use api::{Address, Api, UnknownApi};
pub use endpoint::{AgentError, Endpoint, Patience};
pub use event::{Event, Permission};
pub use model_turn::Called;
