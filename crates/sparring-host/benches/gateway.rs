//! Measures the cost that a gateway adds to a trivial tool call. The same child is
//! called over its pipes, directly and through the gateway.
//!
//! The servers are ours, which does almost nothing, rmcp's, and npm's
//! `server-everything` if it is installed. This program itself, started with a name, is
//! our server, rmcp's server, or the gateway in another process.
//! Every figure is a median of rounds in which the contestants take turns; only
//! ratios are meaningful. Run it with `cargo xtask bench gateway`.

#![expect(clippy::print_stdout, reason = "a benchmark prints its findings")]

#[path = "gateway/theirs.rs"]
mod theirs;
#[path = "../../sparring-peer/benches/calls/turns.rs"]
mod turns;
#[path = "gateway/ways.rs"]
mod ways;

use std::process::ExitCode;

use sparring_transport::ChildTarget;
use turns::{check, median, ratio, take};
use ways::{Way, this_program};

/// Rounds of each contestant.
const ROUNDS: usize = 21;
/// Calls in a round.
const CALLS: usize = 2_000;
/// The minimum speed of a call through a gateway in this process, relative to a
/// direct one: it may take twice as long.
const LEAST_WITHIN: f64 = 0.5;
/// The same through a gateway in another process: it may take 2.5 times as
/// long. A call of a server that does nothing costs little more than two
/// process switches, and with a process in between four; the relay shows that cost alone.
const LEAST_BEYOND: f64 = 0.4;

const DIRECT: usize = 0;
const WITHIN: usize = 2;
const BEYOND: usize = 3;

/// The contestants, as printed.
const NAMES: [&str; 4] = [
    "direct",
    "through a relay that copies bytes",
    "through a gateway in the process",
    "through one behind pipes of its own",
];

/// The numbers of open calls, as printed.
const DISCIPLINES: [&str; 2] = ["1 at a time", "64 in flight"];

/// The times of each contestant for both numbers of open calls.
type Times = [[Vec<f64>; 2]; 4];

fn main() -> ExitCode {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let mut args = std::env::args().skip(1);
    match args.next().as_deref() {
        Some("serve-echo") => runtime.block_on(ways::serve_echo()),
        Some("serve-rmcp") => runtime.block_on(theirs::serve_rmcp()),
        Some("serve-relay") => ways::serve_relay(&args.collect::<Vec<_>>()),
        Some("serve-gateway") => runtime.block_on(ways::serve_gateway(args.collect())),
        // cargo adds `--bench`.
        _ => {
            // In its own task, as programs make their calls.
            let met = runtime.block_on(async { tokio::spawn(run()).await.expect("no panic") });
            return if met { ExitCode::SUCCESS } else { ExitCode::FAILURE };
        }
    }
    ExitCode::SUCCESS
}

async fn run() -> bool {
    let ours = race("our server", &this_program("serve-echo"), CALLS).await;
    let rmcp = race("rmcp's server", &this_program("serve-rmcp"), CALLS).await;
    let everything = match theirs::everything() {
        Some(server) => Some(race("npm's server-everything", &server, CALLS / 4).await),
        None => {
            println!("npm's server-everything is not installed\n");
            None
        }
    };
    let mut met = judge("our server", &ours) & judge("rmcp's server", &rmcp);
    if let Some(everything) = &everything {
        met &= judge("server-everything", everything);
    }
    met
}

/// Lets the contestants take turns, and prints their times.
async fn race(what: &str, server: &ChildTarget, calls: usize) -> Times {
    let ways = [
        Way::direct(server).await,
        Way::relayed(server).await,
        Way::within(server).await,
        Way::beyond(server).await,
    ];
    let mut times = [const { [const { Vec::new() }; 2] }; 4];
    for _ in 0..ROUNDS {
        for (way, times) in ways.iter().zip(&mut times) {
            take(way, calls, times).await;
        }
    }
    println!("a trivial tool call of {what}, {ROUNDS} rounds of {calls}, medians\n");
    println!(
        "{:<36} {:>12} {:>9} {:>14} {:>9}",
        "", "1 at a time", "x direct", "64 in flight", "x direct"
    );
    for (name, way) in NAMES.iter().zip(&times) {
        let [one, many] = [0, 1].map(|discipline| ratio(&way[discipline], &times[0][discipline]));
        let [single, at_once] = way.each_ref().map(|times| median(&mut times.clone()));
        println!("{name:<36} {single:>9.2} µs {one:>8.2}x {at_once:>11.2} µs {many:>8.2}x");
    }
    println!();
    times
}

/// Checks that calls through both gateways are fast enough.
fn judge(what: &str, times: &Times) -> bool {
    let mut met = true;
    for (way, least) in [(WITHIN, LEAST_WITHIN), (BEYOND, LEAST_BEYOND)] {
        for (discipline, calls) in DISCIPLINES.iter().enumerate() {
            let fast = ratio(&times[DIRECT][discipline], &times[way][discipline]);
            let name = NAMES[way];
            met &= check(&format!("{what}, {name}, {calls}: direct / this"), fast, least);
        }
    }
    met
}
