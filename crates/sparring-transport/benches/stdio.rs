//! Measures a trivial tool call over a real child's stdin and stdout: ours, rmcp's, and two
//! plain processes that only pass lines. Also measures the time until a child's faults are
//! reported.
//!
//! The servers are this program, started with a server's name. Every figure is a median of
//! rounds in which the pairs take turns; only ratios are meaningful. Run it with `cargo xtask
//! bench`.

#![expect(clippy::print_stdout, reason = "a benchmark prints its findings")]

#[path = "stdio/bare.rs"]
mod bare;
#[path = "stdio/faults.rs"]
mod faults;
#[path = "../../sparring-peer/benches/calls/measure.rs"]
mod measure;
#[path = "stdio/rmcp_pair.rs"]
mod rmcp_pair;
#[path = "stdio/sparring_pair.rs"]
mod sparring_pair;

use std::process::ExitCode;

use measure::{check, measure_round, median, ratio};

/// The number of rounds.
const ROUNDS: usize = 21;
/// Calls in a round.
const CALLS: usize = 2_000;

fn main() -> ExitCode {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    match std::env::args().nth(1).as_deref() {
        Some("serve-ours") => runtime.block_on(sparring_pair::serve()),
        Some("serve-rmcp") => runtime.block_on(rmcp_pair::serve()),
        Some("serve-bare") => bare::serve(),
        Some("serve-fault") => faults::serve(&std::env::args().nth(2).expect("a fault")),
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
    let rmcp = rmcp_pair::Rmcp::connect().await;
    let ours = sparring_pair::Ours::connect().await;
    let mut bare = bare::Bare::start();
    let mut times = [const { [const { Vec::new() }; 2] }; 3];
    for _ in 0..ROUNDS {
        measure_round(&rmcp, CALLS, &mut times[0]).await;
        measure_round(&ours, CALLS, &mut times[1]).await;
        times[2][0].push(bare.run_round());
    }
    // The plain pair has no calls in flight.
    times[2][1] = times[2][0].clone();
    let ours = |than: usize, way: usize| ratio(&times[than][way], &times[1][way]);
    let ratios = [ours(0, 0), ours(0, 1), ours(2, 0)];
    let medians = times.each_mut().map(|both| both.each_mut().map(|times| median(times)));
    let names = [
        "rmcp, child process and stdio_pipes",
        "sparring, child and stdio",
        "bare pipes, no parsing",
    ];
    println!("a trivial tool call over a child's pipes, {ROUNDS} rounds of {CALLS}, medians\n");
    println!(
        "{:<36} {:>12} {:>9} {:>14} {:>9}",
        "", "1 at a time", "x rmcp", "64 in flight", "x rmcp"
    );
    for (name, [one, many]) in names.iter().zip(medians) {
        let (ratio_one, ratio_many) = (medians[0][0] / one, medians[0][1] / many);
        println!("{name:<36} {one:>9.2} µs {ratio_one:>8.2}x {many:>11.2} µs {ratio_many:>8.2}x");
    }
    println!();
    let one = check("one at a time, x rmcp", ratios[0], 2.0);
    let many = check("64 in flight, x rmcp", ratios[1], 5.0);
    let floor = check("one at a time, x bare pipes", ratios[2], 0.3);
    let faults = faults::run().await;
    one && many && floor && faults
}

fn this_program() -> String {
    std::env::current_exe().expect("this program has a path").to_string_lossy().into_owned()
}
