//! Measures a trivial tool call over HTTP for three servers: ours, rmcp's, and a plain axum
//! route that echoes the body. Also measures the cost of two thousand sessions.
//!
//! The servers are this program, started with a server's name; the client is hyper's for all of
//! them. Every figure is a median of rounds in which the servers take turns; only ratios are
//! meaningful. Run it with `cargo xtask bench`.

#![expect(clippy::print_stdout, reason = "a benchmark prints its findings")]

#[path = "http_server/client.rs"]
mod client;
#[path = "http_server/crowd.rs"]
mod crowd;
#[path = "../../sparring-peer/benches/calls/measure.rs"]
mod measure;
#[path = "http_server/servers.rs"]
mod servers;

use std::process::ExitCode;

use client::{Caller, Era};
use measure::{check, measure_round, median, ratio};
use servers::Served;

/// The number of rounds.
const ROUNDS: usize = 15;
/// Calls in a round.
const CALLS: usize = 2_048;

fn main() -> ExitCode {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    match std::env::args().nth(1).as_deref() {
        Some("serve-ours") => runtime.block_on(servers::ours()),
        Some("serve-rmcp") => runtime.block_on(servers::rmcp()),
        Some("serve-axum") => runtime.block_on(servers::bare()),
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
    let [ours, rmcp, axum] = ["serve-ours", "serve-rmcp", "serve-axum"].map(Served::start);
    let contestants = [
        ("a bare axum echo", Caller::new(axum.address, "/mcp", Era::Modern).await),
        ("rmcp, 2026-07-28", Caller::new(rmcp.address, "/mcp", Era::Modern).await),
        ("sparring, 2026-07-28", Caller::new(ours.address, "/mcp", Era::Modern).await),
        ("rmcp, a session of 2025-11-25", Caller::new(rmcp.address, "/mcp", Era::Session).await),
        (
            "sparring, a session of 2025-11-25",
            Caller::new(ours.address, "/mcp", Era::Session).await,
        ),
        (
            "rmcp, 2026-07-28, preferring JSON",
            Caller::new(rmcp.address, "/json", Era::Modern).await,
        ),
    ];
    let mut times = [const { [const { Vec::new() }; 2] }; 6];
    for _ in 0..ROUNDS {
        for ((_, caller), times) in contestants.iter().zip(&mut times) {
            measure_round(caller, CALLS, times).await;
        }
    }
    let mut verdicts = Vec::new();
    for (era, ours, theirs) in [("2026-07-28", 2, 1), ("a session", 4, 3)] {
        for (discipline, way, least) in [("one at a time", 0, 2.5), ("64 in flight", 1, 1.7)] {
            let floor = ratio(&times[0][way], &times[ours][way]);
            verdicts.push((format!("{era}, {discipline}, x axum"), floor, 0.7));
            let rmcp = ratio(&times[theirs][way], &times[ours][way]);
            verdicts.push((format!("{era}, {discipline}, x rmcp"), rmcp, least));
        }
    }
    let medians = times.each_mut().map(|both| both.each_mut().map(|times| median(times)));
    println!("a trivial tool call over HTTP on loopback, {ROUNDS} rounds of {CALLS}, medians\n");
    println!(
        "{:<38} {:>12} {:>9} {:>14} {:>9}",
        "", "1 at a time", "x axum", "64 in flight", "x axum"
    );
    for ((name, _), [one, many]) in contestants.iter().zip(medians) {
        let (ratio_one, ratio_many) = (medians[0][0] / one, medians[0][1] / many);
        println!("{name:<38} {one:>9.2} µs {ratio_one:>8.2}x {many:>11.2} µs {ratio_many:>8.2}x");
    }
    println!();
    let mut met = true;
    for (what, ratio, least) in verdicts {
        met &= check(&what, ratio, least);
    }
    drop(contestants);
    println!();
    met & crowd::run(&Served::start("serve-ours")).await
}
