//! Runs steps one after the other on a server: carries saved values, subscriptions
//! and journal positions from one step to the next.

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Map, Value};
use sparring_check::CheckOptions;
use sparring_peer::client::Subscription;
use sparring_script::{Path, Span};

use super::agent::{self, AgentStep, TestCase};
use super::check_step;
use super::connection::ServerConnection;
use super::mocks::{Journal, JournalPositions, JournalReader};
use super::scope::TestScope;
use super::server_handle::{Observations, ReadyServer, ServerHandle};
use super::server_runner::TestedServer;
use super::snapshot_store::TestSnapshots;
use super::step::{self, StepInput};
use crate::event::{FailedTry, Failure, Note, Timing, Transcript, TranscriptEntry};
use crate::judge;
use crate::model::{Step, Suite, Test, Verb};
use crate::step_result::{Exchange, StepResult};

/// The maximum number of lines of output that a failed try has.
const MAX_OUTPUT_LINES: usize = 20;

/// Runs steps on a server.
pub(super) struct StepRunner<'a> {
    /// `None` if the suite only runs agents.
    connection: Option<Arc<ServerConnection>>,
    tested: TestedServer<'a>,
    suite: &'a Suite,
    server_name: &'a str,
    /// Restarts the server and receives observations. `None` in the suite's own setup
    /// and teardown, which the owner of the server runs itself.
    server: Option<ServerHandle>,
    scope: TestScope<'a>,
    case: TestCase,
    /// The lengths of the journals at the start of the previous step.
    journal_positions: JournalPositions,
    /// The number of bytes that the server had written to its stderr before.
    stderr_before: u64,
    /// The number of requests that the server had sent before the current step.
    requests_before: u64,
    /// The subscriptions that steps made.
    subscriptions: Vec<Subscription>,
    observations: Observations,
    /// If true, a warning is a failure.
    strict: bool,
    pub(super) timings: Vec<Timing>,
    /// The time from which the times of the transcript count.
    start: Timestamp,
    transcript: Vec<TranscriptEntry>,
    /// True while an agent runs.
    agent_runs: bool,
    /// Remarks about the steps.
    pub(super) notes: Vec<Note>,
}

/// The snapshot of a step: the store, and the step's number from 1.
type StepSnapshot<'s> = Option<(TestSnapshots<'s>, usize)>;

impl<'a> StepRunner<'a> {
    /// Makes a runner with the values that the suite's setup saved.
    pub(super) fn new(
        tested: TestedServer<'a>,
        ready: ReadyServer,
        server: Option<ServerHandle>,
    ) -> Self {
        let ReadyServer { connection, mocks, saved, is_used } = ready;
        // The first test also reports earlier violations. Earlier stderr is not reported.
        let stderr_before = connection.as_ref().map(|it| it.stderr_bytes()).unwrap_or_default();
        // A step may wait for a message from before the first step, but not for a message of
        // another test.
        let used = connection.as_ref().filter(|_| is_used);
        let requests_before = used.map(|it| it.begin_step()).unwrap_or_default();
        StepRunner {
            connection,
            tested,
            suite: tested.suite,
            server_name: &tested.server.name,
            server,
            scope: TestScope::new(tested.context, mocks, saved),
            case: TestCase::default(),
            journal_positions: JournalPositions::default(),
            stderr_before,
            requests_before,
            subscriptions: Vec::new(),
            observations: Observations::default(),
            strict: tested.strict,
            timings: Vec::new(),
            start: Timestamp::now(),
            transcript: Vec::new(),
            agent_runs: false,
            notes: Vec::new(),
        }
    }

    /// Prepares the runner for a test that has begun at `start`: adds the values of its case,
    /// and gives its turns to the LLM mock.
    ///
    /// # Errors
    /// When the turns use an unknown value.
    pub(super) fn begin_test(&mut self, test: &Test, start: Timestamp) -> Result<(), FailedTry> {
        self.start = start;
        let case = test.case.iter().map(|(name, value)| (name.clone(), value.clone()));
        self.scope.saved.extend(case);
        self.case = TestCase::new(self.suite, test);
        self.scope.mocks.set_turns(self.suite, test, &self.scope)
    }

    /// Returns a failure for each turn of an LLM endpoint that the test should have requested.
    /// Tests that run at the same time share the conversations, so these are not checked.
    pub(super) fn unused_turns(&self, test: &Test) -> Option<FailedTry> {
        let server = self.suite.servers.get(test.server);
        let is_shared = server.is_some_and(|server| server.concurrency > 1);
        let failures = if is_shared { Vec::new() } else { self.scope.mocks.unused_turns(test) };
        (!failures.is_empty()).then(|| FailedTry { failures, ..FailedTry::default() })
    }

    /// Returns the failures of requests that do not fit the scripts of LLM endpoints, which no
    /// step reported.
    pub(super) fn unreported_misfits(&self, span: Span) -> Vec<Failure> {
        judge::violation_failures(span, self.scope.mocks.take_misfits().iter())
    }

    /// The values that steps saved.
    pub(super) fn saved(&self) -> &Map<String, Value> {
        &self.scope.saved
    }

    pub(super) fn is_connected(&self) -> bool {
        self.connection.as_ref().is_none_or(|connection| connection.client.is_connected())
    }

    /// Continues on another connection.
    pub(super) fn continue_on(&mut self, connection: Arc<ServerConnection>) {
        self.subscriptions.clear();
        self.stderr_before = 0;
        self.requests_before = 0;
        self.connection = Some(connection);
        // The journal of the earlier connection is gone.
        let fresh = JournalPositions::of_server(self.server_journal());
        self.journal_positions.replace(fresh);
    }

    /// Runs steps until one fails. Checks their snapshots if `snapshots` is given.
    ///
    /// # Errors
    /// When a step fails.
    pub(super) async fn run_until_failure(
        &mut self,
        steps: &[Step],
        snapshots: Option<TestSnapshots<'_>>,
    ) -> Result<(), FailedTry> {
        for (step, number) in steps.iter().zip(1..) {
            self.run(step, snapshots.map(|snapshots| (snapshots, number))).await?;
        }
        Ok(())
    }

    /// Runs all steps of a teardown, even if some fail. After an earlier failure, skips steps
    /// that use values which were never saved.
    pub(super) async fn run_all(&mut self, steps: &[Step], failed: bool) -> Option<FailedTry> {
        let mut all: Option<FailedTry> = None;
        for step in steps {
            if failed && !self.can_render(step) {
                continue;
            }
            if let Err(more) = self.run(step, None).await {
                all = Some(match all {
                    Some(all) => all.and(Some(more)),
                    None => more,
                });
            }
        }
        all
    }

    /// Ends the subscriptions that steps made.
    pub(super) async fn close_subscriptions(&mut self) {
        for subscription in self.subscriptions.drain(..) {
            // If the server ignores this, its later frames show it.
            let _ = subscription.close().await;
        }
    }

    /// Records that a step or the test timed out.
    pub(super) fn record_timeout(&mut self) {
        self.observations.timed_out = true;
        self.send_observations();
    }

    /// Takes the observations that were not sent to the owner of the server.
    pub(super) fn take_observations(&mut self) -> Observations {
        std::mem::take(&mut self.observations)
    }

    async fn run(&mut self, step: &Step, snapshot: StepSnapshot<'_>) -> Result<(), FailedTry> {
        if let (Verb::Restart, Some(server)) = (&step.verb, &self.server) {
            let connection = server.restart().await.map_err(|failed| failed.at(step.span))?;
            self.continue_on(connection);
        }
        // A `wait` also accepts messages since the start of the previous step.
        if !matches!(step.verb, Verb::Wait(_) | Verb::Restart) {
            self.journal_positions = JournalPositions::of(&self.scope.mocks, self.server_journal());
        }
        match &step.verb {
            Verb::Agent { .. } => self.run_agent(step, snapshot).await,
            Verb::Check(options) => self.run_check(step, options).await,
            _ => self.run_request(step, snapshot).await,
        }
    }

    /// Checks the server, on connections of its own.
    async fn run_check(&mut self, step: &Step, options: &CheckOptions) -> Result<(), FailedTry> {
        let connection = self.connection.as_ref().and_then(|it| it.checked.clone());
        let Some(target) = connection else {
            let message = "the suite has no server to check";
            return Err(FailedTry::new(Failure::new(step.span, message)));
        };
        let checked = check_step::run(step.span, options, &target, self.tested).await;
        self.notes.extend(checked.notes);
        match checked.failed {
            None => Ok(()),
            Some(failed) => Err(failed),
        }
    }

    async fn run_agent(
        &mut self,
        step: &Step,
        snapshot: StepSnapshot<'_>,
    ) -> Result<(), FailedTry> {
        let agent_step = AgentStep {
            suite: self.suite,
            case: &self.case,
            journal_positions: &self.journal_positions,
        };
        self.agent_runs = true;
        let ran = agent::run(&agent_step, step, &mut self.scope).await;
        let exchanges = self.record_exchanges();
        let mut result = ran.map_err(|failed| self.with_transcript(failed))?;
        result.transcript = exchanges;
        let left = result.answer.agent().and_then(|agent| agent.ended.left.as_ref());
        self.notes.extend(
            left.map(|left| Note { span: step.span, message: format!("the agent left {left}") }),
        );
        let failures = self.judge(step, &result, snapshot);
        match failures.is_empty() {
            true => Ok(()),
            false => Err(self.with_transcript(agent::failed_try(failures, &result))),
        }
    }

    /// Adds the exchanges of the agent's step to the transcript, and returns them.
    fn record_exchanges(&mut self) -> Vec<Exchange> {
        self.agent_runs = false;
        let exchanges = self.scope.mocks.exchanges(&self.journal_positions, self.start);
        self.transcript.extend(exchanges.iter().map(|it| it.entry.clone()));
        exchanges
    }

    /// Adds the end of the transcript to a failure.
    pub(super) fn with_transcript(&mut self, failed: FailedTry) -> FailedTry {
        let entries = self.transcript().to_vec();
        let transcript = Transcript::new(entries, Transcript::MAX_SHOWN);
        FailedTry { transcript: Box::new(transcript), ..failed }
    }

    /// The exchanges of agents so far.
    pub(super) fn transcript(&mut self) -> &[TranscriptEntry] {
        // The test may have been abandoned while an agent ran.
        if self.agent_runs {
            self.record_exchanges();
        }
        &self.transcript
    }

    async fn run_request(
        &mut self,
        step: &Step,
        snapshot: StepSnapshot<'_>,
    ) -> Result<(), FailedTry> {
        let Some(connection) = self.connection.clone() else {
            return Err(FailedTry::new(Failure::new(step.span, "the suite has no server")));
        };
        let mocks = Arc::clone(&self.scope.mocks);
        let own = connection.journal.as_ref().map(|journal| (self.server_name, journal));
        let journals = JournalReader::new(&step.expect, &mocks, own, &self.journal_positions);
        let input = StepInput {
            connection: &connection,
            scope: &self.scope,
            stderr_before: self.stderr_before,
            requests_before: &mut self.requests_before,
            subscriptions: &mut self.subscriptions,
        };
        let done = step::run(step, input, journals).await;
        if let Ok(result) = &done {
            self.observations.used = true;
            self.observations.last_unusable = result.answer.is_unusable();
            self.observations.end_reported |= result.answer.is_unusable();
        }
        let failures = match done {
            Ok(result) => self.judge(step, &result, snapshot),
            Err(missing) => vec![Failure::new(missing.span, missing.undefined.to_string())],
        };
        self.send_observations();
        if failures.is_empty() {
            return Ok(());
        }
        let (frames, frames_left_out) = connection.traffic.shown();
        let stderr = last_lines(&connection.stderr_since(self.stderr_before));
        Err(FailedTry { failures, frames, frames_left_out, stderr, ..FailedTry::default() })
    }

    /// The server's name and journal, if the server is a mock.
    fn server_journal(&self) -> Option<(&str, &Journal)> {
        let journal = self.connection.as_ref()?.journal.as_ref()?;
        Some((self.server_name, journal))
    }

    /// Checks the result of a step and its snapshot. If everything holds, saves the values
    /// that the step names in `save`.
    fn judge(
        &mut self,
        step: &Step,
        result: &StepResult,
        snapshot: StepSnapshot<'_>,
    ) -> Vec<Failure> {
        let timing = |asked: &String| Timing { asked: asked.clone(), took: result.took };
        self.timings.extend(result.request.as_ref().map(timing));
        self.notes.extend(judge::notes(step, result, &self.scope, self.strict));
        let mut failures = judge::judge(step, result, &self.scope, self.strict);
        if let Some((span, rules)) = step.expect.snapshot().filter(|_| failures.is_empty()) {
            let folders: Vec<String> = self.scope.folder.created().into_iter().collect();
            match rules.apply(result.answer.whole(), &folders) {
                Ok(answer) => {
                    let checked = snapshot
                        .and_then(|(snapshots, number)| snapshots.check(number, span, answer));
                    failures.extend(checked);
                }
                Err(error) => failures.push(Failure::new(span, error.to_string())),
            }
        }
        if failures.is_empty() {
            failures.extend(self.save(step, result));
        } else if result.answer.error().is_some_and(|error| error["kind"] == "timeout") {
            self.observations.timed_out = true;
        }
        failures
    }

    /// Saves the values that the step names.
    fn save(&mut self, step: &Step, result: &StepResult) -> Vec<Failure> {
        if step.save.is_empty() {
            return Vec::new();
        }
        let values = result.answer.values();
        let mut save = |name: &String, span: Span, path: &Path| {
            let found = path.find(&values, 0);
            let found = found.map_err(|undefined| {
                let message = undefined.to_string();
                let why = message.split_once(": ").map_or(&*message, |(_, why)| why);
                Failure::new(span, format!("cannot save `{name}`: {why}"))
            })?;
            self.scope.saved.insert(name.clone(), found.clone());
            Ok(())
        };
        step.save.iter().filter_map(|(name, span, path)| save(name, *span, path).err()).collect()
    }

    fn can_render(&self, step: &Step) -> bool {
        step.trees().into_iter().all(|tree| tree.render(&self.scope).is_ok())
    }

    fn send_observations(&mut self) {
        if let (Some(server), Some(connection)) = (&self.server, &self.connection) {
            server.observe(connection, std::mem::take(&mut self.observations));
        }
    }
}

/// The last lines of some output.
pub(super) fn last_lines(output: &str) -> String {
    let lines: Vec<&str> = output.lines().collect();
    lines[lines.len().saturating_sub(MAX_OUTPUT_LINES)..].join("\n")
}
