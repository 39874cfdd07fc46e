//! Starts an LLM endpoint, and replaces its turns by those of a test.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use sparring_mock::{LlmMock, LlmScope, LlmScript};
use sparring_script::{Node, Problem, Problems, Scope, Source, Span};

use super::{Journal, MockStarter, RunningMocks, StartError, start_error};
use crate::event::{FailedTry, Failure};
use crate::model::{Llm, Suite, SuiteMock, Test};

/// The wait for a request that fits, after one that does not. Agents that go on send their next
/// request sooner.
pub(in crate::run) const MISFIT_GRACE: Duration = Duration::from_secs(3);

impl MockStarter<'_> {
    /// Starts the endpoint on a free port.
    pub(super) async fn llm(&self, llm: &Llm) -> Result<LlmMock, StartError> {
        let script = parse_script(&llm.node, &self.scope())
            .map_err(|it| start_error(self.mock, it.span, &it.message))?;
        let address = SocketAddr::from(([127, 0, 0, 1], 0));
        LlmMock::listen(script, address).await.map_err(|error| self.error(&error))
    }
}

impl RunningMocks {
    /// Makes the LLM endpoints answer by the turns of a test.
    ///
    /// # Errors
    /// When a template in them uses an unknown value.
    pub(in crate::run) fn set_turns(
        &self,
        suite: &Suite,
        test: &Test,
        scope: &dyn Scope,
    ) -> Result<(), FailedTry> {
        for (name, turns) in &test.turns {
            let described = suite.mocks.iter().find(|it| it.name == *name);
            let running = self.llms().find(|(running, _)| running == name);
            let (Some(described), Some((_, mock))) = (described.and_then(SuiteMock::llm), running)
            else {
                continue;
            };
            let script = parse_script(&described.with_turns(turns), scope)
                .map_err(|it| FailedTry::new(Failure::new(it.span, it.message)))?;
            mock.set_script(script);
        }
        Ok(())
    }

    /// Returns a failure for each turn that the test did not request, although it has the turn
    /// itself or has started the conversation. A test that ends with a request that does not fit
    /// expects that, so the turns after it count as optional.
    pub(in crate::run) fn unused_turns(&self, test: &Test) -> Vec<Failure> {
        let mut failures = Vec::new();
        for (name, mock) in self.llms().filter(|(_, mock)| !mock.latest_misfits()) {
            let has_own = test.turns.iter().any(|(own, _)| own == name);
            failures.extend(mock.unused_turns(has_own).into_iter().map(|unused| {
                let message = format!("mock `{name}`: {}", unused.message);
                Failure::new(unused.span, message)
            }));
        }
        failures
    }

    /// Waits until an LLM endpoint refused a request, and no other request fitted its script
    /// since.
    pub(in crate::run) async fn stuck(&self) {
        let mut stuck: FuturesUnordered<_> =
            self.llms().map(|(_, mock)| mock.stuck(MISFIT_GRACE)).collect();
        if stuck.next().await.is_none() {
            std::future::pending().await
        }
    }

    /// The LLM endpoints, with their names.
    fn llms(&self) -> impl Iterator<Item = (&str, &LlmMock)> {
        self.all.iter().filter_map(|it| match &it.journal {
            Journal::Llm(mock, _) => Some((&*it.name, &**mock)),
            _ => None,
        })
    }
}

/// Parses a script that was checked when the suite was loaded, with its templates
/// rendered.
fn parse_script(node: &Node, scope: &dyn Scope) -> Result<Arc<LlmScript>, Problem> {
    let mut problems = Problems::new(&Source::new("", ""));
    let script = LlmScript::read(node, LlmScope::Suite(Some(scope)), &mut problems);
    let first = problems.iter().next().cloned();
    match (script, first) {
        (Some(script), None) => Ok(script),
        (_, Some(problem)) => Err(problem),
        (None, None) => {
            let message = "the mock names no API".to_owned();
            Err(Problem { span: Span::default(), message, help: None })
        }
    }
}
