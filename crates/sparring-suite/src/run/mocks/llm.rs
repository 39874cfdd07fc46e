//! Starts an LLM endpoint, and replaces its turns by those of a test.

use std::net::SocketAddr;
use std::sync::Arc;

use sparring_mock::{LlmMock, LlmScope, LlmScript};
use sparring_script::{Node, Problem, Problems, Scope, Source, Span};

use super::{Journal, MockStarter, RunningMocks, StartError, start_error};
use crate::event::{FailedTry, Failure};
use crate::model::{Llm, Suite, SuiteMock};

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
    /// Makes the LLM endpoint answer by the turns of a test.
    ///
    /// # Errors
    /// When a template in them uses an unknown value.
    pub(in crate::run) fn set_turns(
        &self,
        suite: &Suite,
        turns: &Node,
        scope: &dyn Scope,
    ) -> Result<(), FailedTry> {
        let described = suite.mocks.iter().find_map(SuiteMock::llm);
        let mock = self.all.iter().find_map(|it| match &it.journal {
            Journal::Llm(mock, _) => Some(mock),
            _ => None,
        });
        let (Some(described), Some(mock)) = (described, mock) else { return Ok(()) };
        let script = parse_script(&described.with_turns(turns), scope)
            .map_err(|it| FailedTry::new(Failure::new(it.span, it.message)))?;
        mock.set_script(script);
        Ok(())
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
