//! Runs one test, step by step, until one fails.

use sparring_script::Span;
use tokio::time::timeout;

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
    let stand_ins = match seat.stand_ins().await {
        Ok(stand_ins) => stand_ins,
        Err(story) => return Outcome::Failed(Box::new(story)),
    };
    stand_ins.reset();
    let server = seat.server;
    let running = match seat.running().await {
        Ok(running) => running,
        Err(story) => return Outcome::Failed(Box::new(story)),
    };
    let mut scope = OfTest::new(world, stand_ins.facts(), test.case.clone());
    // What the server broke before is the first test's to tell; what it wrote
    // to its stderr before is nobody's.
    let before = running.wrote();
    for step in &test.steps {
        let failures = take(running, step, &mut scope, before, (&server.name, &stand_ins)).await;
        if !failures.is_empty() {
            let (spoken, unheard) = running.watch.spoken();
            let stderr = end_of(&running.wrote_since(before));
            return Outcome::Failed(Box::new(Story { failures, spoken, unheard, stderr }));
        }
    }
    Outcome::Passed
}

/// Takes one step, and gives what did not hold.
async fn take(
    running: &mut Running,
    step: &Step,
    scope: &mut OfTest<'_>,
    before: u64,
    around: (&str, &StandIns),
) -> Vec<Failure> {
    let heard = match perform(running, step, scope, before, around).await {
        Ok(heard) => heard,
        Err(missing) => return vec![Failure::new(missing.span, missing.undefined.to_string())],
    };
    let mut failures = judge::judge(step, &heard, scope);
    if failures.is_empty() {
        failures.extend(save(step, &heard, scope));
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
