//! An agent: a prompt goes to a model behind an LLM endpoint, the tools that it
//! calls are called, and what they give goes back, until it answers.
//!
//! An [`Agent`] has its tools from a registry, which decides what may be called,
//! and tells what happens by [`Event`]s. It prints nothing, and asks nobody but
//! through the registry's gate.

mod anthropic;
mod api;
mod calling;
mod endpoint;
mod error;
mod event;
mod openai;
mod running;
mod said;

pub use api::{Address, Api, Unclear};
pub use endpoint::{Endpoint, Patience};
pub use error::AgentError;
pub use event::{Event, Permission};
pub use running::{Agent, End, Ended, Limits};
pub use said::Called;
