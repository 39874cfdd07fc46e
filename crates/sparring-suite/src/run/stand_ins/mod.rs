//! The stand-ins of a suite while its tests run: started before the first,
//! made as they were at first before each, and gone after the last.

mod journal;
mod llm;
mod mcp;
mod upstream;

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use serde_json::{Map, Value, json};
use sparring_mock::MockServer;
use sparring_script::template::Missing;
use sparring_script::{Span, Tree};
use tempfile::TempDir;

pub(crate) use journal::Came;
pub(super) use journal::{Journal, Listening, Marks};

use super::World;
use super::running::Mocked;
use super::scope::{Folder, OfServer};
use super::seat::Refusal;
use crate::model::{Server, StandIn, StandInKind, Suite, Transport, Variant};

/// All stand-ins of a seat.
#[derive(Debug, Default)]
pub(super) struct StandIns {
    all: Vec<Standing>,
    /// What templates can ask of them.
    facts: Value,
    /// Has their configurations and journals.
    _folder: Option<TempDir>,
}

/// One that was started.
#[derive(Debug)]
struct Standing {
    name: String,
    journal: Journal,
    /// Held so that it goes on serving.
    _serving: Option<Mocked>,
}

/// What is needed to start one.
struct Starting<'a> {
    suite: &'a Suite,
    world: &'a World,
    stand_in: &'a StandIn,
    /// What those before it can be asked for.
    facts: &'a Value,
    /// For `${tmp}` in its description.
    tmp: &'a Folder,
    /// For its configuration and its journal.
    folder: &'a std::path::Path,
}

impl StandIns {
    /// Starts all of them, in their order.
    ///
    /// # Errors
    /// When one cannot be started.
    pub(super) async fn start(
        suite: &Suite,
        variant: Variant,
        server: &Server,
        world: &World,
        tmp: &Folder,
    ) -> Result<StandIns, Refusal> {
        let Some(first) = suite.stand_ins.first() else { return Ok(StandIns::default()) };
        let folder = tempfile::Builder::new().prefix("spar-mocks-").tempdir();
        let folder = folder.map_err(|error| refusal(first, first.span, &error.to_string()))?;
        let named = [&*suite.transports(), &server.transports].concat();
        let (mut all, mut facts) = (Vec::new(), Value::Object(Map::new()));
        for stand_in in &suite.stand_ins {
            let path = folder.path();
            let starting = Starting { suite, world, stand_in, facts: &facts, tmp, folder: path };
            let served = stand_in.served(variant.transport, &named);
            let (standing, own) = starting.start(served).await?;
            all.push(standing);
            facts[&stand_in.name] = own;
        }
        Ok(StandIns { all, facts, _folder: Some(folder) })
    }

    /// What templates can ask for, by the names of stand-ins.
    pub(super) fn facts(&self) -> &Value {
        &self.facts
    }

    /// What came to one.
    pub(super) fn journal(&self, name: &str) -> Option<&Journal> {
        self.all.iter().find(|it| it.name == name).map(|it| &it.journal)
    }

    /// Makes all of them as they were at first.
    pub(super) fn reset(&self) {
        self.all.iter().for_each(|it| it.journal.reset());
    }
}

impl Starting<'_> {
    async fn start(&self, served: Transport) -> Result<(Standing, Value), Refusal> {
        let name = self.stand_in.name.clone();
        match &self.stand_in.kind {
            StandInKind::Http(routes) => {
                let mock = self.upstream(routes).await?;
                let facts = json!({"url": mock.url("")});
                let journal = Journal::Http(Box::new(mock));
                Ok((Standing { name, journal, _serving: None }, facts))
            }
            StandInKind::Llm(llm) => {
                let mock = self.llm(llm).await?;
                let facts = json!({"url": mock.url()});
                let journal = Journal::Llm(Box::new(mock), AtomicUsize::new(0));
                Ok((Standing { name, journal, _serving: None }, facts))
            }
            StandInKind::Script(_) | StandInKind::Interactions(_) => match served {
                Transport::Stdio => {
                    let (journal, facts) = self.over_stdio()?;
                    Ok((Standing { name, journal, _serving: None }, facts))
                }
                served => {
                    let server = Arc::new(self.server()?);
                    let (serving, facts) = self.over_http(&server, served).await?;
                    let journal = Journal::Live(server);
                    Ok((Standing { name, journal, _serving: Some(serving) }, facts))
                }
            },
        }
    }

    /// The MCP server that it is.
    fn server(&self) -> Result<MockServer, Refusal> {
        match &self.stand_in.kind {
            StandInKind::Script(script) => {
                let (path, settings) = self.script(script)?;
                MockServer::from_file(path, &settings).map_err(|error| self.refusal(&error))
            }
            StandInKind::Interactions(_) | StandInKind::Http(_) | StandInKind::Llm(_) => {
                let script = self.interactions().to_string();
                MockServer::from_yaml(&script, ".").map_err(|it| self.refusal(&it))
            }
        }
    }

    fn value(&self, tree: &Tree) -> Result<Value, Refusal> {
        let scope = self.scope();
        tree.render(&scope).map_err(|missing| self.missing(&missing))
    }

    fn text(&self, tree: &Tree) -> Result<String, Refusal> {
        Ok(match self.value(tree)? {
            Value::String(text) => text,
            other => other.to_string(),
        })
    }

    fn scope(&self) -> OfServer<'_> {
        OfServer { world: self.world, folder: self.tmp, mocks: self.facts }
    }

    fn missing(&self, missing: &Missing) -> Refusal {
        refusal(self.stand_in, missing.span, &missing.undefined.to_string())
    }

    fn refusal(&self, why: &dyn std::fmt::Display) -> Refusal {
        refusal(self.stand_in, self.stand_in.span, &why.to_string())
    }
}

fn refusal(stand_in: &StandIn, span: Span, why: &str) -> Refusal {
    let message = format!("the mock `{}` cannot be started: {why}", stand_in.name);
    Refusal { span, message, stderr: String::new() }
}
