//! A scripted LLM endpoint: answers OpenAI's chat completions and Responses, Anthropic's messages
//! and Google's Gemini API turn by turn, so that an agent runs without a model.
//!
//! A conversation whose user message has `[test_case_id=…]` can have its own turns. Requests
//! that do not meet expectations are rejected and recorded.

mod api;
mod cases;
mod chat_completions;
mod chat_request;
mod endpoint;
mod gemini;
mod journal;
mod messages;
mod model_answer;
mod render_turn;
mod response_store;
mod responses;
mod routes;
mod script;
mod side_requests;
mod template_scope;

use std::fmt;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;
use sparring_script::{Problems, Source};
use sparring_transport::http::{AcceptErrors, listen_tcp};
use tokio::task::JoinHandle;

use self::endpoint::Endpoint;
use crate::builder::LlmBuilder;
use crate::from_script::LoadError;
use crate::http_mock::serve;
use crate::load::{load_llm, load_llm_file};

pub use api::Api;
pub use endpoint::UnusedTurn;
pub use journal::{LlmAnswer, LlmMismatch, LlmRequest};
pub use script::LlmScript;
pub(crate) use script::{ApiError, Arguments, Call, Fault, Repeat, ToolName, Turn};
pub use template_scope::TURN_ROOTS;
use template_scope::TurnScope;

/// A scripted LLM endpoint on this machine. Stops when dropped.
pub struct LlmMock {
    endpoint: Arc<Endpoint>,
    address: SocketAddr,
    task: JoinHandle<()>,
    accept_errors: AcceptErrors,
}

impl LlmScript {
    /// Loads a script from a file; `vars` add to its variables or replace them.
    ///
    /// # Errors
    /// If the file cannot be read or is wrong, with all problems at once.
    pub fn from_file(
        path: impl AsRef<Path>,
        vars: &[(String, Value)],
    ) -> Result<Arc<LlmScript>, LoadError> {
        load_llm_file(path.as_ref(), vars)
    }

    /// Loads a script from text.
    ///
    /// # Errors
    /// If it is wrong, with all problems at once.
    pub fn from_yaml(text: &str) -> Result<Arc<LlmScript>, Problems> {
        load_llm(&Source::new("llm.yaml", text), &[])
    }
}

impl LlmMock {
    /// Builds an endpoint of all APIs.
    pub fn builder() -> LlmBuilder {
        LlmBuilder::new(Api::Any)
    }

    /// Builds an endpoint of Google's Gemini API.
    pub fn gemini() -> LlmBuilder {
        LlmBuilder::new(Api::Gemini)
    }

    /// Builds an endpoint of OpenAI's chat completions and Responses.
    pub fn openai() -> LlmBuilder {
        LlmBuilder::new(Api::OpenAi)
    }

    /// Builds an endpoint of Anthropic's messages.
    pub fn anthropic() -> LlmBuilder {
        LlmBuilder::new(Api::Anthropic)
    }

    /// Starts an endpoint at this address; port 0 is any free port.
    ///
    /// # Errors
    /// If it cannot listen on the address.
    pub async fn listen(script: Arc<LlmScript>, address: SocketAddr) -> std::io::Result<LlmMock> {
        let listener = listen_tcp(address)?;
        let address = listener.local_addr()?;
        let endpoint = Arc::new(Endpoint::new(script));
        let accept_errors = AcceptErrors::default();
        let task = tokio::spawn(serve(listener, Arc::clone(&endpoint), accept_errors.clone()));
        Ok(LlmMock { endpoint, address, task, accept_errors })
    }

    /// Returns the base URL for clients of its API: with `/v1` for OpenAI, otherwise without.
    pub fn url(&self) -> String {
        format!("http://{}{}", self.address, self.endpoint.script.api.base_path())
    }

    /// Waits until a connection cannot be accepted, for example because the system has no free
    /// file descriptors, and returns the first such error. The endpoint goes on.
    pub async fn accept_error(&self) -> String {
        self.accept_errors.first().await
    }

    /// Returns its API.
    pub fn api(&self) -> Api {
        self.endpoint.script.api
    }

    /// Restores the initial state: restarts all cases and drops all requests.
    pub fn reset(&self) {
        self.endpoint.reset();
    }

    /// Switches to another script of the same API, from its first turns. A reset restores the
    /// first script.
    pub fn set_script(&self, script: Arc<LlmScript>) {
        self.endpoint.set_script(script);
    }

    /// Returns the recorded requests.
    pub fn requests(&self) -> Vec<LlmRequest> {
        self.endpoint.state().journal.all().cloned().collect()
    }

    /// Returns the number of requests, including dropped ones.
    pub fn total(&self) -> u64 {
        self.endpoint.state().journal.total()
    }

    /// Returns the number of dropped requests.
    pub fn dropped_requests(&self) -> u64 {
        self.endpoint.state().journal.dropped
    }

    /// Calls `observer` for every request from now on. Only the first observer is used.
    pub fn on_request(&self, observer: impl Fn(&LlmRequest) + Send + Sync + 'static) {
        let _ = self.endpoint.state().journal.observer.set(Box::new(observer));
    }

    /// Fails the test if a request did not follow the script, or if a conversation that has
    /// started did not request all turns.
    ///
    /// # Panics
    /// If a request did not follow the script, or a turn was not requested.
    #[track_caller]
    pub fn verify(&self) {
        let unused = self.unused_turns(false).into_iter().map(|it| it.message);
        let misses = self.mismatches().into_iter().map(|it| it.to_string());
        let misses: Vec<String> = misses.chain(unused).collect();
        assert!(misses.is_empty(), "{}", misses.join("\n"));
    }
}

impl Drop for LlmMock {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Shows URL and summary, since expectations may contain secrets.
impl fmt::Debug for LlmMock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (url, script) = (self.url(), &self.endpoint.script);
        f.debug_struct("LlmMock").field("url", &url).field("script", script).finish_non_exhaustive()
    }
}
