//! What a suite says, ready to be run.

mod agent;
mod expect;
mod files;
mod glob;
mod pattern;
mod server;
mod snapshot;
mod stand_in;
mod step;
mod variant;

use std::path::Path;
use std::time::Duration;

use serde_json::{Map, Value};
use sparring_script::{Node, Source, Span};

pub(crate) use agent::{Agent, FileExpect, Reading};
pub(crate) use expect::{Aspect, Collection, Coming, Expect, Facet, Items, Journal};
pub(crate) use files::Files;
pub(crate) use glob::Glob;
pub(crate) use pattern::{Pattern, Unfit};
pub(crate) use server::{Address, Command, Container, Script, Server, Way};
pub(crate) use snapshot::Rules;
pub(crate) use stand_in::{Body, Llm, Reply, Route, StandIn, StandInKind};
pub(crate) use step::{Answers, Cancel, Completion, Raw, Step, Turns, Verb};
pub use variant::{Transport, Variant};

/// One file of tests.
#[derive(Debug)]
pub struct Suite {
    /// What was read.
    pub source: Source,
    /// It and all that it includes.
    pub(crate) files: Files,
    pub(crate) servers: Vec<Server>,
    pub(crate) stand_ins: Vec<StandIn>,
    /// The agent of all tests that do not have their own.
    pub(crate) agent: Option<Agent>,
    pub(crate) needs: Needs,
    /// What is done on each server after its start.
    pub(crate) setup: Vec<Step>,
    /// What is done on each server before its end.
    pub(crate) teardown: Vec<Step>,
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
    /// How often it is tried again, where it says so.
    pub(crate) retry: Option<u64>,
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
    /// What the LLM endpoint answers in it, where that is said.
    pub(crate) turns: Option<Node>,
    pub(crate) setup: Vec<Step>,
    pub(crate) steps: Vec<Step>,
    pub(crate) teardown: Vec<Step>,
}

impl Test {
    /// All of its steps.
    pub(crate) fn all_steps(&self) -> impl Iterator<Item = &Step> {
        self.setup.iter().chain(&self.steps).chain(&self.teardown)
    }
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

    /// Where something stands: in its own text, or in that of a file that it
    /// includes.
    pub fn place(&self, span: Span) -> (&Source, Span) {
        self.files.place(span).unwrap_or((&self.source, span))
    }

    /// Its text, and those of all files that it includes.
    pub fn sources(&self) -> impl Iterator<Item = &Source> {
        self.files.sources()
    }

    /// All steps that may be done on a server.
    pub(crate) fn steps_on(&self, server: usize) -> impl Iterator<Item = &Step> {
        let tests = self.tests.iter().filter(move |test| test.server == server);
        self.setup.iter().chain(&self.teardown).chain(tests.flat_map(Test::all_steps))
    }

    /// The folder from which its own paths start.
    pub(crate) fn folder(&self) -> &Path {
        self.folder_of(Span::default())
    }

    /// The folder from which paths at a place start.
    pub(crate) fn folder_of(&self, span: Span) -> &Path {
        self.files.folder(span)
    }
}
