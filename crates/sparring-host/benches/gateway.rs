//! Measures the cost that a gateway adds to a trivial tool call. The same child is
//! called over its pipes, directly and through the gateway.
//!
//! The servers are ours, which does almost nothing, rmcp's, and npm's
//! `server-everything` if it is installed. This program itself, started with a name, is
//! our server, rmcp's server, or the gateway in another process.
//! Every figure is a median of rounds in which the contestants alternate; only
//! ratios are meaningful. Run it with `cargo xtask bench gateway`.

#![expect(clippy::print_stdout, reason = "a benchmark prints its findings")]

#[path = "../../sparring-peer/benches/calls/measure.rs"]
mod measure;
#[path = "gateway/other_servers.rs"]
mod other_servers;
#[path = "gateway/routes.rs"]
mod routes;

use std::process::ExitCode;

use measure::{check, measure_round, median, ratio};
use routes::{Route, this_program};
use sparring_transport::ChildTarget;

/// Rounds of each contestant.
const ROUNDS: usize = 21;
/// Calls in a round.
const CALLS: usize = 2_000;
/// The minimum speed of a call through a gateway in this process, relative to a
/// direct one: it may take twice as long.
const MIN_SPEED_IN_PROCESS: f64 = 0.5;
/// The same through a gateway in another process: it may take 2.5 times as
/// long. A call of a server that does nothing costs little more than two
/// process switches, and with a process in between four; the relay shows that cost alone.
const MIN_SPEED_OTHER_PROCESS: f64 = 0.4;

const DIRECT: usize = 0;
const IN_PROCESS: usize = 2;
const OTHER_PROCESS: usize = 3;

/// The contestants, as printed.
const NAMES: [&str; 4] = [
    "direct",
    "through a relay that copies bytes",
    "through a gateway in the process",
    "through a gateway in another process",
];

/// The numbers of open calls, as printed.
const LOADS: [&str; 2] = ["1 at a time", "64 in flight"];

/// The times of each contestant for both numbers of open calls.
type Times = [[Vec<f64>; 2]; 4];

fn main() -> ExitCode {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let mut args = std::env::args().skip(1);
    match args.next().as_deref() {
        Some("serve-echo") => runtime.block_on(routes::serve_echo()),
        Some("serve-rmcp") => runtime.block_on(other_servers::serve_rmcp()),
        Some("serve-relay") => routes::serve_relay(&args.collect::<Vec<_>>()),
        Some("serve-gateway") => runtime.block_on(routes::serve_gateway(args.collect())),
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
    let ours = compare("our server", &this_program("serve-echo"), CALLS).await;
    let rmcp = compare("rmcp's server", &this_program("serve-rmcp"), CALLS).await;
    let everything = match other_servers::everything() {
        Some(server) => Some(compare("npm's server-everything", &server, CALLS / 4).await),
        None => {
            println!("npm's server-everything is not installed\n");
            None
        }
    };
    let mut met = check_speed("our server", &ours) & check_speed("rmcp's server", &rmcp);
    if let Some(everything) = &everything {
        met &= check_speed("server-everything", everything);
    }
    met
}

/// Lets the contestants alternate, and prints their times.
async fn compare(what: &str, server: &ChildTarget, calls: usize) -> Times {
    let routes = [
        Route::direct(server).await,
        Route::relayed(server).await,
        Route::in_process(server).await,
        Route::other_process(server).await,
    ];
    let mut times = [const { [const { Vec::new() }; 2] }; 4];
    for _ in 0..ROUNDS {
        for (route, times) in routes.iter().zip(&mut times) {
            measure_round(route, calls, times).await;
        }
    }
    println!("a trivial tool call of {what}, {ROUNDS} rounds of {calls}, medians\n");
    println!(
        "{:<36} {:>12} {:>9} {:>14} {:>9}",
        "", "1 at a time", "x direct", "64 in flight", "x direct"
    );
    for (name, route) in NAMES.iter().zip(&times) {
        let [one, many] = [0, 1].map(|load| ratio(&route[load], &times[0][load]));
        let [single, at_once] = route.each_ref().map(|times| median(&mut times.clone()));
        println!("{name:<36} {single:>9.2} µs {one:>8.2}x {at_once:>11.2} µs {many:>8.2}x");
    }
    println!();
    times
}

/// Checks that calls through both gateways are fast enough.
fn check_speed(what: &str, times: &Times) -> bool {
    let mut met = true;
    for (route, minimum) in
        [(IN_PROCESS, MIN_SPEED_IN_PROCESS), (OTHER_PROCESS, MIN_SPEED_OTHER_PROCESS)]
    {
        for (load, calls) in LOADS.iter().enumerate() {
            let fast = ratio(&times[DIRECT][load], &times[route][load]);
            let name = NAMES[route];
            met &= check(&format!("{what}, {name}, {calls}: direct / this"), fast, minimum);
        }
    }
    met
}
