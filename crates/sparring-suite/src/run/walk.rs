//! Goes from step to step on a server: what is known on the way, and what is
//! held until its end.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use serde_json::{Map, Value};
use sparring_peer::client::Subscription;
use sparring_script::{Path, Span};

use super::Heard;
use super::agent::{self, Around, Case};
use super::running::Running;
use super::scope::OfTest;
use super::seat::Seat;
use super::stand_ins::{Journal, Listening, Marks, StandIns};
use super::step::perform;
use crate::event::{Failure, Story, Timing};
use crate::judge;
use crate::model::{Step, Suite, Test, Verb};

/// The most lines of what was written that a story has.
const LINES: usize = 20;

/// Whoever goes through steps.
pub(super) struct Walk<'a> {
    /// None where only agents are run.
    running: Option<Arc<Running>>,
    suite: &'a Suite,
    /// The server's name.
    name: &'a str,
    scope: OfTest<'a>,
    case: Case,
    /// How far the journals were when the step before began.
    marks: Marks,
    /// How much the server had written to its stderr before.
    before: u64,
    /// What was subscribed to on the way.
    held: Vec<Subscription>,
    pub(super) timings: Vec<Timing>,
}

/// Holds the answer of a step, by its number from 1, against one that was kept.
pub(super) type Keep<'k> = &'k dyn Fn(usize, Span, Value) -> Option<Failure>;

/// The same of one step.
type KeepOne<'k> = &'k dyn Fn(Span, Value) -> Option<Failure>;

/// Where a server can be had anew.
pub(super) type Renewing<'s, 'a> = Option<&'s tokio::sync::Mutex<Seat<'a>>>;

impl<'a> Walk<'a> {
    /// Begins on a server, with some values known.
    pub(super) fn new(
        running: Option<Arc<Running>>,
        seat: &Seat<'a>,
        stand_ins: Arc<StandIns>,
        saved: Map<String, Value>,
    ) -> Self {
        // What the server broke before is the first test's to tell; what it
        // wrote to its stderr before is nobody's.
        let before = running.as_ref().map(|it| it.wrote()).unwrap_or_default();
        // Nor does it wait for what came in another test; what comes with the
        // connection may be waited for.
        if let Some(running) = running.as_ref().filter(|it| it.used.load(Relaxed)) {
            running.begin();
        }
        Walk {
            running,
            suite: seat.suite,
            name: &seat.server.name,
            scope: OfTest::new(seat.world, stand_ins, saved),
            case: Case::default(),
            marks: Marks::default(),
            before,
            held: Vec::new(),
            timings: Vec::new(),
        }
    }

    /// The server that it goes on.
    pub(super) fn running(&self) -> Option<Arc<Running>> {
        self.running.clone()
    }

    /// Goes through a test.
    ///
    /// # Errors
    /// When the turns that it brings ask for what is not known.
    pub(super) fn begin(&mut self, test: &Test) -> Result<(), Story> {
        self.know(&test.case);
        self.case = Case::new(self.suite, test);
        match &test.turns {
            Some(turns) => self.scope.stand_ins.give_turns(self.suite, turns, &self.scope),
            None => Ok(()),
        }
    }

    /// Adds values that are known.
    fn know(&mut self, more: &Map<String, Value>) {
        let more = more.iter().map(|(name, value)| (name.clone(), value.clone()));
        self.scope.saved.extend(more);
    }

    /// The values that are known by now.
    pub(super) fn saved(&self) -> &Map<String, Value> {
        &self.scope.saved
    }

    /// Whether the server is there.
    pub(super) fn is_connected(&self) -> bool {
        self.running.as_ref().is_none_or(|running| running.client.is_connected())
    }

    /// Goes on with another server.
    pub(super) fn go_on_with(&mut self, running: Arc<Running>) {
        self.held.clear();
        self.before = 0;
        self.running = Some(running);
        // What had come to the one before is gone with it.
        let fresh = Marks::of_one(self.tested());
        self.marks.renew(fresh);
    }

    /// Takes steps until one fails.
    ///
    /// # Errors
    /// When one does.
    pub(super) async fn until_one_fails(
        &mut self,
        steps: &[Step],
        renewing: Renewing<'_, 'a>,
        keep: Keep<'_>,
    ) -> Result<(), Story> {
        for (step, number) in steps.iter().zip(1..) {
            self.step(step, renewing, &|span, answer| keep(number, span, answer)).await?;
        }
        Ok(())
    }

    /// Takes all steps, whatever fails, as a teardown does. Where something has
    /// failed before, a step that asks for what was not saved is passed over.
    pub(super) async fn all(&mut self, steps: &[Step], failed: bool) -> Option<Story> {
        let mut story: Option<Story> = None;
        for step in steps {
            if failed && !self.can_fill(step) {
                continue;
            }
            if let Err(more) = self.step(step, None, &|_, _| None).await {
                story = Some(match story {
                    Some(story) => story.and(Some(more)),
                    None => more,
                });
            }
        }
        story
    }

    /// Ends what is held.
    pub(super) async fn end(&mut self) {
        for subscription in self.held.drain(..) {
            // A server that does not let one go shows it in what it sends.
            let _ = subscription.close().await;
        }
    }

    async fn step(
        &mut self,
        step: &Step,
        renewing: Renewing<'_, 'a>,
        keep: KeepOne<'_>,
    ) -> Result<(), Story> {
        if let (Verb::Restart, Some(seat)) = (&step.verb, renewing) {
            let renewed = seat.lock().await.renew().await;
            let running = renewed.map_err(|story| story.at(step.span))?;
            self.go_on_with(running);
        }
        // What is waited for may have come since the step before began.
        if !matches!(step.verb, Verb::Wait(_) | Verb::Restart) {
            self.marks = Marks::of(&self.scope.stand_ins, self.tested());
        }
        match step.verb.is_agent() {
            true => self.run(step, keep).await,
            false => self.ask(step, keep).await,
        }
    }

    /// Runs an agent.
    async fn run(&mut self, step: &Step, keep: KeepOne<'_>) -> Result<(), Story> {
        let around = Around { suite: self.suite, case: &self.case, marks: &self.marks };
        let heard = agent::perform(&around, step, &mut self.scope).await?;
        let failures = self.hold(step, &heard, keep);
        match failures.is_empty() {
            true => Ok(()),
            false => Err(agent::story(failures, &heard)),
        }
    }

    /// Asks something of the server.
    async fn ask(&mut self, step: &Step, keep: KeepOne<'_>) -> Result<(), Story> {
        let Some(running) = self.running.clone() else {
            return Err(Story::of(Failure::new(step.span, "there is no server to ask")));
        };
        let stand_ins = Arc::clone(&self.scope.stand_ins);
        let tested = running.journal.as_ref().map(|journal| (self.name, journal));
        let listening = Listening::begin(&step.expect, &stand_ins, tested, &self.marks);
        let done =
            perform(&running, step, &self.scope, self.before, &mut self.held, listening).await;
        let failures = match done {
            Ok(heard) => self.hold(step, &heard, keep),
            Err(missing) => vec![Failure::new(missing.span, missing.undefined.to_string())],
        };
        if failures.is_empty() {
            return Ok(());
        }
        let (spoken, unheard) = running.watch.spoken();
        let stderr = end_of(&running.wrote_since(self.before));
        Err(Story { failures, spoken, unheard, stderr, ..Story::default() })
    }

    /// The server and what came to it, where it is a mock.
    fn tested(&self) -> Option<(&str, &Journal)> {
        let journal = self.running.as_ref()?.journal.as_ref()?;
        Some((self.name, journal))
    }

    /// What does not hold of what came of a step. Where all does, what it wants
    /// to be kept is kept.
    fn hold(&mut self, step: &Step, heard: &Heard, keep: KeepOne<'_>) -> Vec<Failure> {
        let timing = |asked: &String| Timing { asked: asked.clone(), took: heard.took };
        self.timings.extend(heard.asked.as_ref().map(timing));
        let mut failures = judge::judge(step, heard, &self.scope);
        if let Some((span, rules)) = step.expect.snapshot().filter(|_| failures.is_empty()) {
            let folders: Vec<String> = self.scope.folder.made().into_iter().collect();
            match rules.keep(heard.answer.whole(), &folders) {
                Ok(kept) => failures.extend(keep(span, kept)),
                Err(error) => failures.push(Failure::new(span, error.to_string())),
            }
        }
        if failures.is_empty() {
            failures.extend(self.save(step, heard));
        } else if heard.answer.error().is_some_and(|error| error["kind"] == "timeout") {
            self.took_too_long();
        }
        failures
    }

    /// Says that the server may hang.
    pub(super) fn took_too_long(&self) {
        if let Some(running) = &self.running {
            running.hangs.store(true, Relaxed);
        }
    }

    /// Keeps what the step wants to be kept.
    fn save(&mut self, step: &Step, heard: &Heard) -> Vec<Failure> {
        if step.save.is_empty() {
            return Vec::new();
        }
        let facts = heard.answer.facts();
        let mut keep = |name: &String, span: Span, path: &Path| {
            let found = path.find(&facts, 0);
            let found = found.map_err(|undefined| {
                let told = undefined.to_string();
                let told = told.split_once(": ").map_or(&*told, |(_, why)| why).to_owned();
                Failure::new(span, format!("`{name}` cannot be saved: {told}"))
            })?;
            self.scope.saved.insert(name.clone(), found.clone());
            Ok(())
        };
        step.save.iter().filter_map(|(name, span, path)| keep(name, *span, path).err()).collect()
    }

    fn can_fill(&self, step: &Step) -> bool {
        step.trees().into_iter().all(|tree| tree.render(&self.scope).is_ok())
    }
}

pub(super) fn end_of(stderr: &str) -> String {
    let lines: Vec<&str> = stderr.lines().collect();
    lines[lines.len().saturating_sub(LINES)..].join("\n")
}
