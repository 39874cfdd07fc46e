//! What a gateway adds to a trivial tool call: the same child over its pipes,
//! called directly and through the gateway, which has it as its server.
//!
//! The server is this program itself, started with the name of one; so is the
//! gateway where it is a process of its own. Every figure is a median of rounds in
//! which the contestants take turns; only ratios mean anything. Run it by
//! `cargo xtask bench gateway`.

#![expect(clippy::print_stdout, reason = "a benchmark prints its findings")]

#[path = "../../sparring-peer/benches/calls/turns.rs"]
mod turns;
#[path = "gateway/ways.rs"]
mod ways;

use std::process::ExitCode;

use turns::{check, median, ratio, take};
use ways::Way;

/// Turns that each contestant takes.
const ROUNDS: usize = 21;
/// Calls in a turn.
const CALLS: usize = 2_000;
/// How fast a call through a gateway is to be, beside a direct one.
const LEAST: f64 = 0.5;

fn main() -> ExitCode {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    match std::env::args().nth(1).as_deref() {
        Some("serve-echo") => runtime.block_on(ways::serve_echo()),
        Some("serve-gateway") => runtime.block_on(ways::serve_gateway()),
        // `--bench` is what cargo itself adds.
        _ => {
            // In a task of its own, as programs make their calls.
            let met = runtime.block_on(async { tokio::spawn(run()).await.expect("no panic") });
            return if met { ExitCode::SUCCESS } else { ExitCode::FAILURE };
        }
    }
    ExitCode::SUCCESS
}

async fn run() -> bool {
    let ways = [Way::direct().await, Way::within().await, Way::beyond().await];
    let mut times = [const { [const { Vec::new() }; 2] }; 3];
    for _ in 0..ROUNDS {
        for (way, times) in ways.iter().zip(&mut times) {
            take(way, CALLS, times).await;
        }
    }
    println!("a trivial tool call of a child, {ROUNDS} rounds of {CALLS}, medians\n");
    println!(
        "{:<36} {:>12} {:>9} {:>14} {:>9}",
        "", "1 at a time", "x direct", "64 in flight", "x direct"
    );
    let names =
        ["direct", "through a gateway in the process", "through one behind pipes of its own"];
    let slower =
        |way: usize, discipline: usize| ratio(&times[way][discipline], &times[0][discipline]);
    let ratios: Vec<[f64; 2]> = (0..3).map(|way| [slower(way, 0), slower(way, 1)]).collect();
    for ((name, times), [one, many]) in names.iter().zip(&times).zip(&ratios) {
        let [single, at_once] = times.each_ref().map(|times| median(&mut times.clone()));
        println!("{name:<36} {single:>9.2} µs {one:>8.2}x {at_once:>11.2} µs {many:>8.2}x");
    }
    println!();
    // Not slower than twice a direct call.
    let fast = |discipline: usize| ratio(&times[0][discipline], &times[1][discipline]);
    let one = check("through a gateway, 1 at a time, x direct", fast(0), LEAST);
    let many = check("through a gateway, 64 in flight, x direct", fast(1), LEAST);
    one && many
}
