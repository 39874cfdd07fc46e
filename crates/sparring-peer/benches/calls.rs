//! Measures a trivial tool call, side by side with rmcp and with a bare pair of
//! tokio tasks, and the memory of an idle client and of a request in flight.
//!
//! Every figure is a median of rounds in which the contestants take turns; only
//! ratios mean anything. Run it with `cargo xtask bench`.

#![expect(clippy::print_stdout, reason = "a benchmark prints its findings")]

#[path = "calls/baseline.rs"]
mod baseline;
#[path = "calls/measure.rs"]
mod measure;
#[path = "calls/memory_use.rs"]
mod memory_use;
#[path = "calls/rmcp.rs"]
mod rmcp_contestant;
#[path = "calls/sparring.rs"]
mod sparring_contestants;

use std::process::ExitCode;

use measure::{check, measure_round, median, ratio};
use sparring_wire::Revision;

/// The number of rounds.
const ROUNDS: usize = 9;
/// The number of calls of a contestant in a round.
const CALLS: usize = 4_000;

fn main() -> ExitCode {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    // Memory first, while there is no freed memory to reuse.
    runtime.block_on(memory_use::print());
    // In a task, as programs make their calls.
    match runtime.block_on(async { tokio::spawn(run()).await.expect("no panic") }) {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

async fn run() -> bool {
    let legacy = Revision::V2025_11_25;
    let modern = Revision::V2026_07_28;
    let rmcp = rmcp_contestant::Rmcp::connect(legacy).await;
    let rmcp_modern = rmcp_contestant::Rmcp::connect(modern).await;
    let memory = sparring_contestants::ConnectedClient::in_memory(legacy).await;
    let memory_modern = sparring_contestants::ConnectedClient::in_memory(modern).await;
    let duplex = sparring_contestants::ConnectedClient::over_duplex(legacy).await;
    let direct = sparring_contestants::DirectServer::new().await;
    let baseline = baseline::Baseline::start();

    let mut times = vec![[const { Vec::new() }; 2]; 7];
    for _ in 0..ROUNDS {
        measure_round(&rmcp, CALLS, &mut times[0]).await;
        measure_round(&rmcp_modern, CALLS, &mut times[1]).await;
        measure_round(&memory, CALLS, &mut times[2]).await;
        measure_round(&memory_modern, CALLS, &mut times[3]).await;
        measure_round(&duplex, CALLS, &mut times[4]).await;
        measure_round(&direct, CALLS, &mut times[5]).await;
        measure_round(&baseline, CALLS, &mut times[6]).await;
    }
    let ratios = [0, 1].map(|way| ratio(&times[0][way], &times[2][way]));
    let medians: Vec<[f64; 2]> =
        times.iter_mut().map(|both| both.each_mut().map(|times| median(times))).collect();
    let names = [
        "rmcp over duplex, 2025-11-25",
        "rmcp over duplex, 2026-07-28",
        "sparring in memory, 2025-11-25",
        "sparring in memory, 2026-07-28",
        "sparring over duplex, 2025-11-25",
        "sparring process_request, no link",
        "bare tokio tasks, no protocol",
    ];
    println!("a trivial tool call, {ROUNDS} rounds of {CALLS}, medians\n");
    println!(
        "{:<36} {:>12} {:>9} {:>14} {:>9}",
        "", "1 at a time", "x rmcp", "64 in flight", "x rmcp"
    );
    for (index, name) in names.iter().enumerate() {
        let rival = if name.ends_with("2026-07-28") { 1 } else { 0 };
        let [one, many] = medians[index];
        let (ratio_one, ratio_many) = (medians[rival][0] / one, medians[rival][1] / many);
        println!("{name:<36} {one:>9.2} µs {ratio_one:>8.2}x {many:>11.2} µs {ratio_many:>8.2}x");
    }
    println!();
    let one = check("one at a time, x rmcp", ratios[0], 3.5);
    let many = check("64 in flight, x rmcp", ratios[1], 5.0);
    one && many
}
