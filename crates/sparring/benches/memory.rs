//! How fast a test in memory is: connect, list, ten calls, close, by this
//! library's client on its own server and on one of rmcp's, side by side with rmcp's client over
//! `tokio::io::duplex` and with FastMCP's client in memory.
//!
//! All serve the same tool. FastMCP is skipped, loudly, where it is not
//! installed. Every figure is a median of rounds in which the contestants take
//! turns; only ratios mean anything. Run it by `cargo xtask bench memory`.

#![expect(clippy::print_stdout, reason = "a benchmark prints its findings")]

#[path = "memory/fastmcp.rs"]
mod fastmcp;
#[path = "memory/ours.rs"]
mod ours;
#[path = "memory/theirs.rs"]
mod theirs;
#[path = "../../sparring-peer/benches/calls/turns.rs"]
#[expect(dead_code, reason = "the bench of calls uses more of it")]
mod turns;

use std::process::ExitCode;
use std::time::Instant;

use fastmcp::FastMcp;
use sparring::Revision;
use turns::{check, each, median, ratio};

/// Turns that each contestant takes.
const ROUNDS: usize = 9;
/// Test bodies in a turn.
const BODIES: usize = 200;
/// Those of FastMCP, which takes long.
const BODIES_OF_FASTMCP: usize = 20;
/// Calls in a test body.
pub(crate) const CALLS: usize = 10;

/// How many times as fast as rmcp's client a test body shall be.
const RMCP: f64 = 3.0;
/// How many times as fast as FastMCP's.
const FASTMCP: f64 = 50.0;

/// The contestants; FastMCP's client speaks what it likes.
const NAMES: [&str; 5] = [
    "Client::in_memory on our server",
    "the same without this crate",
    "Client::in_memory on rmcp's server",
    "rmcp's client over duplex on rmcp's",
    "FastMCP's client in memory on its own",
];

fn main() -> ExitCode {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    // In a task of its own, as programs make their calls.
    match runtime.block_on(async { tokio::spawn(run()).await.expect("no panic") }) {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

async fn run() -> bool {
    let mut fastmcp = FastMcp::start();
    let mut met = true;
    let mut times: [Vec<f64>; 5] = Default::default();
    for revision in [Revision::LATEST_LEGACY, Revision::LATEST] {
        times = Default::default();
        for _ in 0..ROUNDS {
            times[0].push(turn(ours::on_ours, revision).await);
            times[1].push(turn(ours::below, revision).await);
            times[2].push(turn(ours::on_rmcp, revision).await);
            times[3].push(turn(theirs::on_rmcp, revision).await);
            times[4].extend(fastmcp.as_mut().map(|it| it.turn(BODIES_OF_FASTMCP)));
        }
        let [ours, _, mixed, rmcp, _] = &times;
        let (faster, mixed) = (ratio(rmcp, ours), ratio(rmcp, mixed));
        println!("{revision}: connect, list, {CALLS} calls, close; {ROUNDS} rounds, medians\n");
        for (name, times) in NAMES.iter().zip(&times) {
            if !times.is_empty() {
                println!("{name:<40} {:>10.1} µs", median(&mut times.clone()));
            }
        }
        println!("\non rmcp's server, x rmcp's client: {mixed:.2}");
        met &= check("x rmcp", faster, RMCP);
        println!();
    }
    let [ours, .., python] = &times;
    if fastmcp.is_some() {
        met &= check("x FastMCP", ratio(python, ours), FASTMCP);
    }
    met
}

/// Takes a turn: microseconds for each test body.
async fn turn<F: Future<Output = ()>>(body: impl Fn(Revision) -> F, revision: Revision) -> f64 {
    let start = Instant::now();
    for _ in 0..BODIES {
        body(revision).await;
    }
    each(start.elapsed(), BODIES)
}
