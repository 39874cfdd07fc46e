//! The model of a loaded suite.

mod agent;
mod expect;
mod files;
mod glob;
mod matcher_template;
mod mock;
mod server;
mod snapshot;
mod step;
mod variant;

use std::ops::RangeInclusive;
use std::path::Path;
use std::time::Duration;

use serde_json::{Map, Value};
use sparring_script::{Node, Source, Span};

pub(crate) use agent::{Agent, FileExpectation, FileForm};
pub(crate) use expect::{
    Aspect, Collection, Expectation, Expectations, Items, Journal, JournalExpectation,
};
pub(crate) use files::Files;
pub(crate) use glob::Glob;
pub(crate) use matcher_template::{MatcherTemplate, ValueMismatch};
pub(crate) use mock::{Body, Interactions, Llm, MockKind, Reply, Route, SuiteMock};
pub(crate) use server::{Address, Command, Container, HttpProcess, Script, Server, ServerKind};
pub(crate) use snapshot::SnapshotRules;
pub(crate) use step::{AnswerOrder, Answers, Cancel, Completion, RawMessage, Step, Verb};
pub use variant::{Transport, Variant};

/// A suite.
#[derive(Debug)]
pub struct Suite {
    /// The text of its file.
    pub source: Source,
    /// Its file and all files that it includes.
    pub(crate) files: Files,
    pub(crate) servers: Vec<Server>,
    pub(crate) mocks: Vec<SuiteMock>,
    /// The agent of tests without their own.
    pub(crate) agent: Option<Agent>,
    pub(crate) needs: Needs,
    /// The steps to run on each server after it starts.
    pub(crate) setup: Vec<Step>,
    /// The steps to run on each server before it stops.
    pub(crate) teardown: Vec<Step>,
    /// Its tests in order.
    pub tests: Vec<Test>,
}

/// The prerequisites of a suite.
#[derive(Debug, Default)]
pub(crate) struct Needs {
    pub(crate) programs: Vec<String>,
    pub(crate) env: Vec<String>,
    pub(crate) files: Vec<String>,
}

/// A test.
#[derive(Debug)]
pub struct Test {
    /// Its name.
    pub name: String,
    /// Its position in the suite.
    pub span: Span,
    /// The position of all its keys.
    pub(crate) extent: Span,
    /// Its tags.
    pub tags: Vec<String>,
    /// The reason to skip it, if it is skipped.
    pub skip: Option<String>,
    /// True if it has `only`: then only such tests run.
    pub only: bool,
    /// The maximum number of retries, if the suite sets it.
    pub(crate) retry: Option<u64>,
    /// The timeout of the whole test.
    pub(crate) timeout: Option<Duration>,
    /// True if a server is started for this test alone.
    pub(crate) isolate: bool,
    /// The values of its case.
    pub(crate) case: Map<String, Value>,
    /// The position of its server in the suite.
    pub(crate) server: usize,
    /// The interactions that are added to its agent's input.
    pub(crate) interactions: Option<Value>,
    /// The turns of LLM endpoints in this test, by the names of the endpoints.
    pub(crate) turns: Vec<(String, Node)>,
    pub(crate) setup: Vec<Step>,
    pub(crate) steps: Vec<Step>,
    pub(crate) teardown: Vec<Step>,
}

impl Test {
    /// All its steps.
    pub(crate) fn all_steps(&self) -> impl Iterator<Item = &Step> {
        self.setup.iter().chain(&self.steps).chain(&self.teardown)
    }
}

impl Suite {
    /// The transports that the mocks name.
    pub(crate) fn transports(&self) -> Vec<Transport> {
        let mut all: Vec<Transport> = Vec::new();
        for transport in self.mocks.iter().flat_map(|it| &it.transports) {
            if !all.contains(transport) {
                all.push(*transport);
            }
        }
        all
    }

    /// Its path.
    pub fn name(&self) -> &str {
        self.source.name()
    }

    /// The file of a span, which may be an included one, and the span in that file.
    pub fn place(&self, span: Span) -> (&Source, Span) {
        self.files.place(span).unwrap_or((&self.source, span))
    }

    /// The lines of a test in its file, from 1.
    pub fn lines(&self, test: &Test) -> RangeInclusive<usize> {
        let (source, span) = self.place(test.extent);
        let line = |at: usize| source.position(at).line;
        // The span may end with the line break after the last key.
        line(span.start)..=line(span.end.saturating_sub(1).max(span.start))
    }

    /// Its text and those of all included files.
    pub fn sources(&self) -> impl Iterator<Item = &Source> {
        self.files.sources()
    }

    /// All steps that can run on a server.
    pub(crate) fn steps_on(&self, server: usize) -> impl Iterator<Item = &Step> {
        let tests = self.tests.iter().filter(move |test| test.server == server);
        self.setup.iter().chain(&self.teardown).chain(tests.flat_map(Test::all_steps))
    }

    /// The folder of the suite.
    pub(crate) fn folder(&self) -> &Path {
        self.folder_of(Span::default())
    }

    /// The folder of the file that contains a span.
    pub(crate) fn folder_of(&self, span: Span) -> &Path {
        self.files.folder(span)
    }
}
