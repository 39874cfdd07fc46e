//! One round of `spar test`: what was chosen of the suites is run, and told of.

use std::num::NonZeroUsize;
use std::time::Duration;

use sparring_suite::{Options, Plan, Stop, Suite, World, run};
use tokio::sync::mpsc;
use tokio::time::{MissedTickBehavior, interval};

use super::{LastFailed, Test, is_ci, listed, refuse_only};
use crate::exit::{Exit, Signal};
use crate::failure::Failure;
use crate::output::Printer;
use crate::report::{Reports, Round, Terminal};
use crate::signals::Signals;

/// How often it is shown how far a run is.
const TICK: Duration = Duration::from_millis(100);

/// What every round finds.
#[derive(Clone, Copy)]
pub(super) struct Around<'a> {
    pub(super) printer: &'a Printer,
    pub(super) world: &'a World,
    pub(super) last_failed: LastFailed<'a>,
}

impl Around<'_> {
    /// Tells why nothing is run; the reports say so too, or else those of
    /// another run would be taken for its.
    pub(super) async fn nothing(
        self,
        told: &str,
        signals: &mut Signals,
        reports: &mut Reports,
    ) -> Result<Exit, Failure> {
        self.empty(&Plan::default(), None, told, signals, reports).await
    }

    /// The same where there is a plan, of which nothing is left.
    async fn empty(
        self,
        plan: &Plan,
        shard: Option<String>,
        told: &str,
        signals: &mut Signals,
        reports: &mut Reports,
    ) -> Result<Exit, Failure> {
        self.printer.error(told).await;
        let secrets = &self.world.secrets;
        let round = reports.begin(plan, shard, secrets, self.printer, signals).await?;
        let unwritten = round.end(false, signals).await?;
        self.unwritten(&unwritten, Ok(Exit::Nothing)).await
    }

    /// Tells what could not be written, which is no good end of a good run.
    async fn unwritten(
        self,
        failures: &[Failure],
        exit: Result<Exit, Failure>,
    ) -> Result<Exit, Failure> {
        for failure in failures {
            self.printer.trouble(failure).await;
        }
        match exit {
            Ok(exit) if exit != Exit::Failed && !failures.is_empty() => Ok(Exit::Usage),
            exit => exit,
        }
    }
}

impl Test {
    /// Runs what was chosen of these.
    pub(super) async fn run_suites(
        &self,
        suites: Vec<Suite>,
        around: Around<'_>,
        signals: &mut Signals,
        reports: &mut Reports,
    ) -> Result<Exit, Failure> {
        let Around { printer, world, last_failed } = around;
        if is_ci(world) {
            refuse_only(&suites)?;
        }
        let plan = Plan::new(suites, &self.choice());
        let mut plan = plan.map_err(|error| Failure::Usage(format!("--filter: {error}")))?;
        for variant in plan.left_out() {
            printer.note(&format!("there is no{variant}, and no test is run in it")).await;
        }
        let shard = self.shard.map(|part| part.shard(&world.variables)).transpose();
        let shard = shard.map_err(Failure::Usage)?;
        let part = shard.map(|shard| shard.to_string());
        if let Some(told) = self.narrow(&mut plan, shard, last_failed)? {
            return around.empty(&plan, part, &told, signals, reports).await;
        }
        if let Some(seed) = self.shuffle {
            plan.shuffle(seed);
            printer.note(&format!("the order is that of --shuffle {seed}")).await;
        }
        if self.list {
            let lines: String = plan.tests().map(listed).collect();
            return printer.print(&lines).await.map(|()| Exit::Good);
        }
        let silent = reports.have_stdout();
        let mut round = match reports.are_wanted() {
            true => Some(reports.begin(&plan, part, &world.secrets, printer, signals).await?),
            false => None,
        };
        let mut terminal = Terminal::new(&plan, printer, &world.secrets, silent);
        let signal = self.follow(&plan, &mut terminal, round.as_mut(), signals, world).await?;
        if let Err(error) = last_failed.keep(terminal.ended()) {
            printer.note(&format!("which tests failed cannot be kept: {error}")).await;
        }
        let unwritten = match round {
            Some(round) => round.end(signal.is_some(), signals).await?,
            None => Vec::new(),
        };
        let exit = signals.during(terminal.end(self.timings)).await?;
        let exit = around.unwritten(&unwritten, exit).await;
        match signal {
            Some(signal) => Err(Failure::Stopped(signal)),
            None => exit,
        }
    }

    /// Leaves out what has passed before and what other machines run, and says
    /// why nothing is left.
    fn narrow(
        &self,
        plan: &mut Plan,
        shard: Option<sparring_suite::Shard>,
        last_failed: LastFailed<'_>,
    ) -> Result<Option<String>, Failure> {
        if plan.is_empty() {
            return Ok(Some("no test has such a name and such a tag".to_owned()));
        }
        if self.last_failed {
            plan.retain(last_failed.filter()?);
            if plan.is_empty() {
                return Ok(Some("no test failed when it last ran".to_owned()));
            }
        }
        if let Some(shard) = shard {
            let all = plan.len();
            plan.take_shard(shard);
            if plan.is_empty() {
                return Ok(Some(format!("there are not enough tests for shard {shard}: {all}")));
            }
        }
        Ok(None)
    }

    /// Runs, and reports meanwhile. The first signal ends the run in good order,
    /// a second one at once.
    async fn follow(
        &self,
        plan: &Plan,
        terminal: &mut Terminal<'_>,
        mut round: Option<&mut Round<'_>>,
        signals: &mut Signals,
        world: &World,
    ) -> Result<Option<Signal>, Failure> {
        let stop = Stop::default();
        let (tell, mut events) = mpsc::unbounded_channel();
        let cores = || std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        let options = Options {
            jobs: self.jobs.unwrap_or_else(cores),
            fail_fast: self.fail_fast,
            retry: self.retry,
            update: self.update,
            traffic: round.is_some(),
        };
        let running = run(plan, options, world, &stop, tell);
        let reporting = async {
            let mut ticks = interval(TICK);
            ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
            loop {
                tokio::select! {
                    biased;
                    event = events.recv() => {
                        let Some(mut event) = event else { break };
                        if let Some(round) = &mut round {
                            round.take(&mut event).await;
                        }
                        terminal.take(event).await;
                    }
                    _ = ticks.tick() => terminal.tick().await,
                }
            }
        };
        let both = async { tokio::join!(running, reporting) };
        tokio::pin!(both);
        let mut asked = None;
        loop {
            tokio::select! {
                biased;
                signal = signals.next() => match asked {
                    Some(_) => return Err(Failure::Stopped(signal)),
                    None => {
                        asked = Some(signal);
                        stop.ask();
                    }
                },
                _ = &mut both => return Ok(asked),
            }
        }
    }
}
