//! A scripted LLM endpoint: OpenAI's chat completions or Anthropic's messages,
//! answered turn by turn as a script says, so that an agent runs without a
//! model.
//!
//! A conversation whose user says `[test_case_id=…]` has turns for itself; what
//! is not as expected is refused, and told to whoever wrote the script.

mod anthropic;
mod api;
mod cases;
mod core;
mod facts;
mod journal;
mod openai;
mod said;
mod script;
mod seen;
mod speak;

use std::fmt;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;
use sparring_script::{Problems, Source};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use self::core::Core;
use crate::builder::LlmBuilder;
use crate::http_mock::run;
use crate::load::{load_llm, load_llm_file};
use crate::reading::LoadError;

pub use api::Api;
use facts::Facts;
pub use facts::OWN_ROOTS;
pub use journal::{LlmMiss, LlmRequest};
pub use script::LlmScript;
pub(crate) use script::{ApiError, Arguments, Call, Fault, Repeat, Turn};

/// A scripted LLM endpoint on this machine. Dropped, it stops.
pub struct LlmMock {
    core: Arc<Core>,
    address: SocketAddr,
    task: JoinHandle<()>,
}

impl LlmScript {
    /// Reads a script from a file; `vars` are variables besides or instead of
    /// its own.
    ///
    /// # Errors
    /// When it cannot be read, or is wrong; all that is wrong is told at once.
    pub fn from_file(
        path: impl AsRef<Path>,
        vars: &[(String, Value)],
    ) -> Result<Arc<LlmScript>, LoadError> {
        load_llm_file(path.as_ref(), vars)
    }

    /// Reads a script.
    ///
    /// # Errors
    /// When it is wrong; all that is wrong is told at once.
    pub fn from_yaml(text: &str) -> Result<Arc<LlmScript>, Problems> {
        load_llm(&Source::new("llm.yaml", text), &[])
    }
}

impl LlmMock {
    /// One of OpenAI's chat completions, to be told what it answers.
    pub fn openai() -> LlmBuilder {
        LlmBuilder::new(Api::OpenAi)
    }

    /// One of Anthropic's messages, to be told what it answers.
    pub fn anthropic() -> LlmBuilder {
        LlmBuilder::new(Api::Anthropic)
    }

    /// Starts one at this address; port 0 is any that is free.
    ///
    /// # Errors
    /// When it cannot be listened on.
    pub async fn listen(script: Arc<LlmScript>, address: SocketAddr) -> std::io::Result<LlmMock> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        let core = Arc::new(Core::new(script));
        let task = tokio::spawn(run(listener, Arc::clone(&core)));
        Ok(LlmMock { core, address, task })
    }

    /// What clients of its API take as their base URL: with `/v1` for OpenAI's,
    /// without for Anthropic's.
    pub fn url(&self) -> String {
        format!("http://{}{}", self.address, self.core.script.api.base())
    }

    /// Which API it speaks.
    pub fn api(&self) -> Api {
        self.core.script.api
    }

    /// Makes everything as it was at first: all cases begin anew, and no request
    /// has come.
    pub fn reset(&self) {
        self.core.reset();
    }

    /// Goes by another script of the same API from now on, from its first turns
    /// on; a reset brings the first one back.
    pub fn follow(&self, script: Arc<LlmScript>) {
        self.core.follow(script);
    }

    /// All requests, as far as they are kept.
    pub fn requests(&self) -> Vec<LlmRequest> {
        self.core.state().journal.all().cloned().collect()
    }

    /// How many requests came.
    pub fn total(&self) -> u64 {
        self.core.state().journal.total()
    }

    /// How many requests are not kept any more.
    pub fn forgotten(&self) -> u64 {
        self.core.state().journal.dropped
    }

    /// Tells somebody of every request from now on; only the first who wants to
    /// know.
    pub fn on_request(&self, ear: impl Fn(&LlmRequest) + Send + Sync + 'static) {
        let _ = self.core.state().journal.ear.set(Box::new(ear));
    }

    /// Fails a test where something did not go by the script.
    ///
    /// # Panics
    /// When something did not, with all of it.
    #[track_caller]
    pub fn verify(&self) {
        let misses: Vec<String> = self.misses().iter().map(ToString::to_string).collect();
        assert!(misses.is_empty(), "{}", misses.join("\n"));
    }
}

impl Drop for LlmMock {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Says where it is and what it has; what is expected of it may be a secret.
impl fmt::Debug for LlmMock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (url, script) = (self.url(), &self.core.script);
        f.debug_struct("LlmMock").field("url", &url).field("script", script).finish_non_exhaustive()
    }
}
