//! What a suite says, ready to be run.

mod agent;
mod expect;
mod pattern;
mod server;
mod stand_in;
mod step;
mod variant;

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Map, Value};
use sparring_script::{Source, Span};

pub(crate) use agent::{Agent, Files, Reading};
pub(crate) use expect::{Aspect, Collection, Coming, Expect, Facet, Items, Journal};
pub(crate) use pattern::Pattern;
pub(crate) use server::{Address, Command, Script, Server, Way};
pub(crate) use stand_in::{Body, Reply, Route, StandIn, StandInKind};
pub(crate) use step::{Answers, Completion, Step, Turns, Verb};
pub use variant::{Transport, Variant};

/// One file of tests.
#[derive(Debug)]
pub struct Suite {
    /// What was read.
    pub source: Source,
    /// Its folder, from which the paths in it start.
    pub(crate) folder: PathBuf,
    pub(crate) servers: Vec<Server>,
    pub(crate) stand_ins: Vec<StandIn>,
    /// The agent of all tests that do not have their own.
    pub(crate) agent: Option<Agent>,
    pub(crate) needs: Needs,
    /// Its tests, in their order.
    pub tests: Vec<Test>,
}

/// What must be there for a suite to run.
#[derive(Debug, Default)]
pub(crate) struct Needs {
    pub(crate) programs: Vec<String>,
    pub(crate) env: Vec<String>,
    pub(crate) files: Vec<String>,
}

/// One test.
#[derive(Debug)]
pub struct Test {
    /// What it shows.
    pub name: String,
    /// Where it stands.
    pub span: Span,
    /// Words to choose it by.
    pub tags: Vec<String>,
    /// Why it is not run, where it is not.
    pub skip: Option<String>,
    /// Whether all tests without this are left out.
    pub only: bool,
    /// How often it is tried again.
    pub(crate) retry: u64,
    /// How long it may take as a whole.
    pub(crate) timeout: Option<Duration>,
    /// Whether it has the server for itself.
    pub(crate) isolate: bool,
    /// The row of its table.
    pub(crate) case: Map<String, Value>,
    /// Which of the suite's servers it is about.
    pub(crate) server: usize,
    /// The responses that its agent's input carries.
    pub(crate) interactions: Option<Value>,
    pub(crate) steps: Vec<Step>,
}

impl Suite {
    /// The transports that stand-ins are wanted over, where that is said.
    pub(crate) fn transports(&self) -> Vec<Transport> {
        let mut all: Vec<Transport> = Vec::new();
        for transport in self.stand_ins.iter().flat_map(|it| &it.transports) {
            if !all.contains(transport) {
                all.push(*transport);
            }
        }
        all
    }

    /// What it is called: its path.
    pub fn name(&self) -> &str {
        self.source.name()
    }
}
