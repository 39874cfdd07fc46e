//! The mocks of a suite: started before the first test, reset before each test, and
//! ended after the last.

mod journals;
mod llm;
mod mcp;
mod process;
pub(super) mod serve;
mod transcript;
mod upstream;

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use serde_json::{Map, Value, json};
use sparring_mock::MockServer;
use sparring_script::template::RenderError;
use sparring_script::{Span, TemplateTree};
use tempfile::TempDir;

pub(super) use journals::{Journal, JournalPositions, JournalReader};
pub(super) use llm::MISFIT_GRACE;

use super::scope::{ServerScope, TempFolder};
use super::server_runner::{StartError, TestedServer};
use crate::context::RunContext;
use crate::model::{MockKind, Suite, SuiteMock, Transport};
use process::MockProcess;
use serve::RestartableMock;

/// The mocks that run beside one server.
#[derive(Debug, Default)]
pub(super) struct RunningMocks {
    all: Vec<RunningMock>,
    /// The values of the mocks for templates, by their names.
    values: Value,
    /// Contains their configurations and journals.
    _folder: Option<TempDir>,
}

/// A mock that runs.
#[derive(Debug)]
struct RunningMock {
    name: String,
    journal: Journal,
    serving: Serving,
}

/// The way in which a mock is served.
#[derive(Debug)]
enum Serving {
    /// By its own value in `journal`, or by processes that others start.
    Elsewhere,
    /// Over HTTP by a task, until it is dropped.
    Task(RestartableMock),
    /// By a separate process, until it is dropped.
    Process {
        process: Box<MockProcess>,
        /// The position of the mock.
        span: Span,
    },
}

/// Starts one mock.
struct MockStarter<'a> {
    suite: &'a Suite,
    context: &'a RunContext,
    mock: &'a SuiteMock,
    /// The values of the mocks that are started already.
    values: &'a Value,
    /// The folder for `${tmp}` in its description.
    tmp: &'a TempFolder,
    /// The folder for its configuration and its journal.
    folder: &'a std::path::Path,
}

impl RunningMocks {
    /// Starts all mocks of the suite in their order.
    ///
    /// # Errors
    /// When a mock cannot be started.
    pub(super) async fn start(
        tested: &TestedServer<'_>,
        tmp: &TempFolder,
    ) -> Result<RunningMocks, StartError> {
        let TestedServer { suite, server, variant, context, .. } = *tested;
        let Some(first) = suite.mocks.first() else { return Ok(RunningMocks::default()) };
        let folder = tempfile::Builder::new().prefix("spar-mocks-").tempdir();
        let folder = folder.map_err(|error| start_error(first, first.span, &error.to_string()))?;
        let named = [&*suite.transports(), &server.transports].concat();
        let (mut all, mut values) = (Vec::new(), Value::Object(Map::new()));
        for mock in &suite.mocks {
            let path = folder.path();
            let starter = MockStarter { suite, context, mock, values: &values, tmp, folder: path };
            let served = mock.served(variant.transport, &named);
            let (running, own) = starter.start(served).await?;
            all.push(running);
            values[&mock.name] = own;
        }
        Ok(RunningMocks { all, values, _folder: Some(folder) })
    }

    /// The values for templates, by the names of the mocks.
    pub(super) fn values(&self) -> &Value {
        &self.values
    }

    /// The journal of a mock.
    pub(super) fn journal(&self, name: &str) -> Option<&Journal> {
        self.all.iter().find(|it| it.name == name).map(|it| &it.journal)
    }

    /// Resets all mocks to their first state, and restarts those that a script ended.
    ///
    /// # Errors
    /// When a mock in a separate process cannot be reset.
    pub(super) async fn reset(&self) -> Result<(), StartError> {
        for mock in &self.all {
            mock.journal.reset();
            match &mock.serving {
                Serving::Elsewhere => {}
                Serving::Task(served) => served.restart().await,
                Serving::Process { process, span } => process.reset().await.map_err(|why| {
                    let message = format!("cannot reset mock `{}`: {why}", mock.name);
                    StartError { span: *span, message, stderr: String::new() }
                })?,
            }
        }
        Ok(())
    }
}

impl MockStarter<'_> {
    async fn start(&self, served: Transport) -> Result<(RunningMock, Value), StartError> {
        let name = self.mock.name.clone();
        match &self.mock.kind {
            MockKind::Http(routes) => {
                let mock = self.upstream(routes).await?;
                let values = json!({"url": mock.url("")});
                let journal = Journal::Http(Box::new(mock));
                Ok((RunningMock { name, journal, serving: Serving::Elsewhere }, values))
            }
            MockKind::Llm(llm) => {
                let mock = self.llm(llm).await?;
                let values = json!({"url": mock.url()});
                let journal = Journal::Llm(Box::new(mock), AtomicUsize::new(0));
                Ok((RunningMock { name, journal, serving: Serving::Elsewhere }, values))
            }
            MockKind::Script(_) | MockKind::Interactions(_) => match served {
                Transport::Stdio => {
                    let (journal, values) = self.over_stdio()?;
                    Ok((RunningMock { name, journal, serving: Serving::Elsewhere }, values))
                }
                served if self.mock.is_process() => {
                    let (journal, process, values) = self.process(served).await?;
                    let serving =
                        Serving::Process { process: Box::new(process), span: self.mock.span };
                    Ok((RunningMock { name, journal, serving }, values))
                }
                served => {
                    let server = Arc::new(self.server()?);
                    let (mock, values) = self.over_http(&server, served).await?;
                    let journal = Journal::Live(server);
                    let serving = Serving::Task(mock);
                    Ok((RunningMock { name, journal, serving }, values))
                }
            },
        }
    }

    /// The MCP server of the mock.
    fn server(&self) -> Result<MockServer, StartError> {
        match &self.mock.kind {
            MockKind::Script(script) => {
                let (path, settings) = self.script(script)?;
                MockServer::from_file(path, &settings).map_err(|error| self.error(&error))
            }
            MockKind::Interactions(_) | MockKind::Http(_) | MockKind::Llm(_) => {
                let script = self.interactions().to_string();
                MockServer::from_yaml(&script, ".").map_err(|it| self.error(&it))
            }
        }
    }

    fn value(&self, tree: &TemplateTree) -> Result<Value, StartError> {
        let scope = self.scope();
        tree.render(&scope).map_err(|missing| self.missing(&missing))
    }

    fn text(&self, tree: &TemplateTree) -> Result<String, StartError> {
        Ok(match self.value(tree)? {
            Value::String(text) => text,
            other => other.to_string(),
        })
    }

    fn scope(&self) -> ServerScope<'_> {
        ServerScope { context: self.context, folder: self.tmp, mocks: self.values, port: None }
    }

    fn missing(&self, missing: &RenderError) -> StartError {
        start_error(self.mock, missing.span, &missing.undefined.to_string())
    }

    fn error(&self, why: &dyn std::fmt::Display) -> StartError {
        start_error(self.mock, self.mock.span, &why.to_string())
    }
}

fn start_error(mock: &SuiteMock, span: Span, why: &str) -> StartError {
    let message = format!("cannot start mock `{}`: {why}", mock.name);
    StartError { span, message, stderr: String::new() }
}
