//! Measures a trivial tool call over loopback HTTP for three clients: ours, rmcp's, and reqwest
//! without a protocol, each against the same plain axum echo server.
//!
//! The echo server is this program in another process. Every figure is a median of rounds in
//! which the clients take turns; only ratios are meaningful. Run it with `cargo xtask bench`.

#![expect(clippy::print_stdout, reason = "a benchmark prints its findings")]

#[path = "http_client/contestants.rs"]
mod contestants;
#[path = "http_client/echo.rs"]
mod echo;
#[path = "../../sparring-peer/benches/calls/measure.rs"]
mod measure;

use std::process::ExitCode;

use contestants::{Ours, Reqwest, Rmcp};
use measure::{check, measure_round, median, ratio};
use sparring_wire::Revision;

/// The number of rounds.
const ROUNDS: usize = 21;
/// Calls in a round.
const CALLS: usize = 1_024;

fn main() -> ExitCode {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    if std::env::args().nth(1).as_deref() == Some("serve-echo") {
        runtime.block_on(echo::serve());
        return ExitCode::SUCCESS;
    }
    // In its own task, as programs make their calls.
    let met = runtime.block_on(async { tokio::spawn(run()).await.expect("no panic") });
    if met { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

async fn run() -> bool {
    let echo = echo::Echo::start();
    let mut met = true;
    println!("a trivial call over loopback HTTP on a bare axum echo, {ROUNDS} rounds of {CALLS}\n");
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        let reqwest = Reqwest::new(&echo.url, revision);
        let rmcp = Rmcp::connect(&echo.url, revision).await;
        let ours = Ours::connect(&echo.url, revision).await;
        let mut times = [const { [const { Vec::new() }; 2] }; 3];
        for _ in 0..ROUNDS {
            measure_round(&reqwest, CALLS, &mut times[0]).await;
            measure_round(&rmcp, CALLS, &mut times[1]).await;
            measure_round(&ours, CALLS, &mut times[2]).await;
        }
        let ratios =
            [0, 1].map(|way| [0, 1].map(|rival| ratio(&times[rival][way], &times[2][way])));
        let medians = times.each_mut().map(|both| both.each_mut().map(|times| median(times)));
        println!("{:<36} {:>12} {:>14}", revision.name(), "1 at a time", "64 in flight");
        for (name, [one, many]) in ["reqwest", "rmcp", "sparring"].iter().zip(medians) {
            println!("{name:<36} {one:>9.2} µs {many:>11.2} µs");
        }
        for (discipline, [reqwest, rmcp]) in ["one at a time", "64 in flight"].iter().zip(ratios) {
            met &= check(&format!("{discipline}, x reqwest"), reqwest, 0.85);
            met &= check(&format!("{discipline}, x rmcp"), rmcp, 5.0);
        }
        println!();
    }
    met
}
