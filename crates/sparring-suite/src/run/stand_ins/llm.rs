//! An LLM endpoint from its description, and from what a test says instead.

use std::net::SocketAddr;
use std::sync::Arc;

use sparring_mock::{LlmKnown, LlmMock, LlmScript};
use sparring_script::{Node, Problem, Problems, Scope, Source, Span};

use super::{Journal, Refusal, StandIns, Starting, refusal};
use crate::event::{Failure, Story};
use crate::model::{Llm, StandIn, Suite};

impl Starting<'_> {
    /// Starts it on a port that is free.
    pub(super) async fn llm(&self, llm: &Llm) -> Result<LlmMock, Refusal> {
        let script = read(&llm.node, &self.scope())
            .map_err(|it| refusal(self.stand_in, it.span, &it.message))?;
        let address = SocketAddr::from(([127, 0, 0, 1], 0));
        LlmMock::listen(script, address).await.map_err(|error| self.refusal(&error))
    }
}

impl StandIns {
    /// Has the LLM endpoint answer by the turns that a test brings.
    ///
    /// # Errors
    /// When a hole in them cannot be filled.
    pub(in crate::run) fn give_turns(
        &self,
        suite: &Suite,
        turns: &Node,
        scope: &dyn Scope,
    ) -> Result<(), Story> {
        let described = suite.stand_ins.iter().find_map(StandIn::llm);
        let mock = self.all.iter().find_map(|it| match &it.journal {
            Journal::Llm(mock, _) => Some(mock),
            _ => None,
        });
        let (Some(described), Some(mock)) = (described, mock) else { return Ok(()) };
        let script = read(&described.with_turns(turns), scope)
            .map_err(|it| Story::of(Failure::new(it.span, it.message)))?;
        mock.follow(script);
        Ok(())
    }
}

/// Reads what was checked before, now that all is known that its holes ask for.
fn read(node: &Node, scope: &dyn Scope) -> Result<Arc<LlmScript>, Problem> {
    let mut problems = Problems::new(&Source::new("", ""));
    let script = LlmScript::read(node, LlmKnown::Suite(Some(scope)), &mut problems);
    let first = problems.iter().next().cloned();
    match (script, first) {
        (Some(script), None) => Ok(script),
        (_, Some(problem)) => Err(problem),
        (None, None) => {
            let message = "there is no API".to_owned();
            Err(Problem { span: Span::default(), message, help: None })
        }
    }
}
