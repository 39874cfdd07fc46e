//! Measures a test in memory: connect, list, ten calls, close. It compares this
//! library's client on its own server and on rmcp's server with rmcp's client over
//! `tokio::io::duplex` and with FastMCP's client in memory.
//!
//! All servers have the same tool. FastMCP is skipped with a message if it is not
//! installed. Every figure is the median of rounds in which the clients alternate;
//! only the ratios are meaningful. Run it by `cargo xtask bench memory`.

#![expect(clippy::print_stdout, reason = "a benchmark prints its results")]

#[path = "memory/fastmcp.rs"]
mod fastmcp;
#[path = "../../sparring-peer/benches/calls/measure.rs"]
#[expect(dead_code, reason = "the benchmark `calls` uses more of it")]
mod measure;
#[path = "memory/rmcp_client.rs"]
mod rmcp_client;
#[path = "memory/sparring_client.rs"]
mod sparring_client;

use std::process::ExitCode;
use std::time::Instant;

use fastmcp::FastMcp;
use measure::{check, median, micros_per_call, ratio};
use sparring::Revision;

/// The number of rounds of each client.
const ROUNDS: usize = 9;
/// The number of test bodies in a round.
const BODIES: usize = 200;
/// FastMCP is slow, so it runs fewer.
const FASTMCP_BODIES: usize = 20;
/// The number of calls in a test body.
pub(crate) const CALLS: usize = 10;

/// The required speedup over rmcp's client.
const MIN_RMCP_SPEEDUP: f64 = 3.0;
/// The required speedup over FastMCP's client.
const MIN_FASTMCP_SPEEDUP: f64 = 50.0;

/// The clients. FastMCP's client chooses the revision itself.
const NAMES: [&str; 5] = [
    "Client::in_memory on our server",
    "the same without the façade",
    "Client::in_memory on rmcp's server",
    "rmcp's client over duplex on rmcp's",
    "FastMCP's client in memory on its own",
];

fn main() -> ExitCode {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    // In a spawned task, as in real programs.
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
            times[0].push(measure_round(sparring_client::run_on_sparring, revision).await);
            times[1].push(measure_round(sparring_client::run_without_facade, revision).await);
            times[2].push(measure_round(sparring_client::run_on_rmcp, revision).await);
            times[3].push(measure_round(rmcp_client::run_on_rmcp, revision).await);
            times[4].extend(fastmcp.as_mut().map(|it| it.run_round(FASTMCP_BODIES)));
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
        met &= check("x rmcp", faster, MIN_RMCP_SPEEDUP);
        println!();
    }
    let [ours, .., python] = &times;
    if fastmcp.is_some() {
        met &= check("x FastMCP", ratio(python, ours), MIN_FASTMCP_SPEEDUP);
    }
    met
}

/// Runs a round and returns the microseconds of each test body.
async fn measure_round<F: Future<Output = ()>>(
    body: impl Fn(Revision) -> F,
    revision: Revision,
) -> f64 {
    let start = Instant::now();
    for _ in 0..BODIES {
        body(revision).await;
    }
    micros_per_call(start.elapsed(), BODIES)
}
