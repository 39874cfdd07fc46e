//! Runs one test: its setup, its steps until one fails, and its teardown
//! whatever came of them.

use std::time::{Duration, Instant};

use tokio::sync::Mutex;
use tokio::time::timeout;

use super::seat::Seat;
use super::shots::Place;
use super::stop::Stop;
use super::walk::Walk;
use crate::event::{End, Failure, Outcome, Story, Timing, Traffic};
use crate::model::Test;

/// Runs a test within its time, again where it may be, with a server of its own
/// where it wants one. Gives nothing when it was given up because the run ends.
pub(super) async fn run(
    seat: &Mutex<Seat<'_>>,
    test: &Test,
    tries: u64,
    stop: &Stop,
) -> Option<End> {
    let begun = Instant::now();
    let (mut earlier, mut timings) = (Vec::new(), Vec::new());
    let outcome = loop {
        match attempt(seat, test, stop, &mut timings).await? {
            Outcome::Failed(story) if (earlier.len() as u64) + 1 < tries => earlier.push(*story),
            outcome => break outcome,
        }
    };
    let (took, traffic) = (begun.elapsed(), Traffic::default());
    Some(End { outcome, took, earlier, timings, traffic })
}

async fn attempt(
    seat: &Mutex<Seat<'_>>,
    test: &Test,
    stop: &Stop,
    timings: &mut Vec<Timing>,
) -> Option<Outcome> {
    let mut later = None;
    if test.isolate {
        later = seat.lock().await.leave(stop).await;
    }
    seat.lock().await.begin_test();
    let outcome = tokio::select! {
        biased;
        () = stop.asked() => None,
        ready = async { seat.lock().await.ready().await } => Some(ready),
    };
    let outcome = match outcome? {
        Err(story) => Outcome::Failed(Box::new(story)),
        Ok(mut walk) => match walk.begin(test) {
            Err(story) => Outcome::Failed(Box::new(story)),
            Ok(()) => {
                let outcome = around(seat, &mut walk, test, stop).await;
                timings.append(&mut walk.timings);
                outcome?
            }
        },
    };
    let outcome = outcome.and(later);
    Some(match test.isolate {
        true => outcome.and(seat.lock().await.leave(stop).await),
        false => outcome,
    })
}

/// Setup, steps and teardown of a test. The teardown has as much time as the
/// rest, and little when the run is to end.
async fn around<'a>(
    seat: &Mutex<Seat<'a>>,
    walk: &mut Walk<'a>,
    test: &Test,
    stop: &Stop,
) -> Option<Outcome> {
    let within = test.timeout.unwrap_or(Duration::MAX);
    let (shots, variant) = {
        let seat = seat.lock().await;
        (seat.shots, seat.variant)
    };
    let keep =
        |step, span, answer| shots.check(Place { test: &test.name, step, variant }, span, answer);
    let walked = async {
        let set_up = walk.until_one_fails(&test.setup, Some(seat), &|_, _, _| None).await;
        set_up.map_err(|story| story.during("the setup"))?;
        walk.until_one_fails(&test.steps, Some(seat), &keep).await
    };
    let mut is_too_long = false;
    let outcome = tokio::select! {
        biased;
        () = stop.asked() => None,
        walked = timeout(within, walked) => Some(match walked {
            Ok(Ok(())) => Outcome::Passed,
            Ok(Err(story)) => Outcome::Failed(Box::new(story)),
            Err(_) => {
                is_too_long = true;
                Outcome::Failed(Box::new(too_long(test, "the test", within)))
            }
        }),
    };
    if is_too_long {
        walk.took_too_long();
    }
    let outcome = match outcome {
        Some(Outcome::Passed) => Some(Outcome::Passed.and(ended(seat, test).await)),
        outcome => outcome,
    };
    let failed = !matches!(outcome, Some(Outcome::Passed));
    let torn_down = async {
        // A server that has ended is started again to clean up on it.
        if !test.teardown.is_empty()
            && !walk.is_connected()
            && let Ok(fresh) = seat.lock().await.ready().await
            && let Some(running) = fresh.running()
        {
            walk.go_on_with(running);
        }
        let story = walk.all(&test.teardown, failed).await;
        walk.end().await;
        story.map(|story| story.during("the teardown"))
    };
    let later = match stop.bound(timeout(within, torn_down)).await {
        Some(Ok(story)) => story,
        Some(Err(_)) => {
            walk.took_too_long();
            Some(too_long(test, "the teardown of the test", within))
        }
        None => None,
    };
    outcome.map(|outcome| outcome.and(later))
}

/// What is told where the server has ended and no step has met that.
async fn ended(seat: &Mutex<Seat<'_>>, test: &Test) -> Option<Story> {
    let cause = seat.lock().await.ended_unseen().await?;
    let message = format!("the server ended after the last step: {cause}");
    Some(Story::of(Failure::new(test.span, message)))
}

fn too_long(test: &Test, what: &str, within: Duration) -> Story {
    let message = format!("{what} took longer than {within:?}");
    Story::of(Failure::new(test.span, message))
}
