//! Runs one test, step by step, until one fails.

use sparring_script::Span;
use tokio::time::timeout;

use super::agent::{self, Around, Case};
use super::scope::OfTest;
use super::seat::{Running, Seat};
use super::stand_ins::StandIns;
use super::step::perform;
use super::{Heard, World};
use crate::event::{Failure, Outcome, Story};
use crate::judge;
use crate::model::{Step, Test};

/// The most of stderr that a story has.
const STDERR: usize = 20;

/// Runs a test within its time, again where it may be, with a server of its own
/// where it wants one.
pub(super) async fn run(seat: &mut Seat<'_>, test: &Test, world: &World) -> Outcome {
    let mut outcome = attempt(seat, test, world).await;
    for _ in 0..test.retry {
        if let Outcome::Failed(_) = outcome {
            outcome = attempt(seat, test, world).await;
        }
    }
    outcome
}

async fn attempt(seat: &mut Seat<'_>, test: &Test, world: &World) -> Outcome {
    if test.isolate {
        seat.leave().await;
    }
    let outcome = match test.timeout {
        None => steps(seat, test, world).await,
        Some(within) => match timeout(within, steps(seat, test, world)).await {
            Ok(outcome) => outcome,
            Err(_) => {
                let message = format!("the test took longer than {within:?}");
                Outcome::Failed(Box::new(Story::of(Failure::new(test.span, message))))
            }
        },
    };
    if test.isolate {
        seat.leave().await;
    }
    outcome
}

async fn steps(seat: &mut Seat<'_>, test: &Test, world: &World) -> Outcome {
    match run_steps(seat, test, world).await {
        Ok(()) => Outcome::Passed,
        Err(story) => Outcome::Failed(Box::new(story)),
    }
}

async fn run_steps(seat: &mut Seat<'_>, test: &Test, world: &World) -> Result<(), Story> {
    let stand_ins = seat.stand_ins().await?;
    stand_ins.reset();
    let (suite, server) = (seat.suite, seat.server);
    let mut running = match test.steps.iter().all(|step| step.verb.is_agent()) {
        true => None,
        false => Some(seat.running().await?),
    };
    let mut scope = OfTest::new(world, stand_ins.facts(), test.case.clone());
    let case = Case::new(suite, test);
    let around = Around { suite, world, stand_ins: &stand_ins, case: &case };
    // What the server broke before is the first test's to tell; what it wrote
    // to its stderr before is nobody's.
    let before = running.as_ref().map(|it| it.wrote()).unwrap_or_default();
    for step in &test.steps {
        match &mut running {
            Some(running) if !step.verb.is_agent() => {
                let around = (&*server.name, &*stand_ins);
                take(running, step, &mut scope, before, around).await?;
            }
            _ => agent::take(&around, step, &mut scope).await?,
        }
    }
    Ok(())
}

/// Takes one step on the server.
///
/// # Errors
/// When something does not hold.
async fn take(
    running: &mut Running,
    step: &Step,
    scope: &mut OfTest<'_>,
    before: u64,
    around: (&str, &StandIns),
) -> Result<(), Story> {
    let failures = match perform(running, step, scope, before, around).await {
        Ok(heard) => hold(step, &heard, scope),
        Err(missing) => vec![Failure::new(missing.span, missing.undefined.to_string())],
    };
    if failures.is_empty() {
        return Ok(());
    }
    let (spoken, unheard) = running.watch.spoken();
    let stderr = end_of(&running.wrote_since(before));
    Err(Story { failures, spoken, unheard, stderr, ..Story::default() })
}

/// What does not hold of what came of a step; where all does, keeps what it
/// wants to be kept.
pub(super) fn hold(step: &Step, heard: &Heard, scope: &mut OfTest<'_>) -> Vec<Failure> {
    let mut failures = judge::judge(step, heard, scope);
    if failures.is_empty() {
        failures.extend(save(step, heard, scope));
    }
    failures
}

/// Keeps what the step wants to be kept.
fn save(step: &Step, heard: &Heard, scope: &mut OfTest<'_>) -> Vec<Failure> {
    if step.save.is_empty() {
        return Vec::new();
    }
    let facts = heard.answer.facts();
    let mut keep = |name: &String, span: Span, path: &sparring_script::Path| {
        let found = path.find(&facts, 0);
        let found = found.map_err(|undefined| {
            let told = undefined.to_string();
            let told = told.split_once(": ").map_or(&*told, |(_, why)| why).to_owned();
            Failure::new(span, format!("`{name}` cannot be saved: {told}"))
        })?;
        scope.saved.insert(name.clone(), found.clone());
        Ok(())
    };
    step.save.iter().filter_map(|(name, span, path)| keep(name, *span, path).err()).collect()
}

fn end_of(stderr: &str) -> String {
    let lines: Vec<&str> = stderr.lines().collect();
    lines[lines.len().saturating_sub(STDERR)..].join("\n")
}
