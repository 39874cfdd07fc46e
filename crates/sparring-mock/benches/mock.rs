//! Measures the speed of a mock: over HTTP compared with the servers of rmcp and FastMCP and
//! a bare axum echo, over stdio compared with rmcp; the cost of its journal; and ten thousand
//! concurrent test cases.
//!
//! The servers are this program, started with a server name; FastMCP is skipped with a notice if
//! it is not installed. All use the same client: hyper over HTTP, and plain lines over stdio.
//! Each result is the median of rounds in which the servers take turns; only the ratios are
//! meaningful. Run it with `cargo xtask bench`.

#![expect(clippy::print_stdout, reason = "a benchmark prints its results")]

#[path = "mock/cases.rs"]
mod cases;
#[path = "../../sparring-transport/benches/http_server/client.rs"]
#[expect(dead_code, reason = "the bench of the server uses more of it")]
mod client;
#[path = "../../sparring-peer/benches/calls/measure.rs"]
mod measure;
#[path = "mock/pipes.rs"]
mod pipes;
#[path = "../../sparring-transport/benches/stdio/rmcp_pair.rs"]
#[expect(dead_code, reason = "the bench of stdio uses more of it")]
mod rmcp_pair;
#[path = "../../sparring-transport/benches/http_server/servers.rs"]
#[expect(dead_code, reason = "the bench of the server uses more of it")]
mod servers;

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::Mutex;

use client::{Caller, Era};
use measure::{check, measure_round, median, ratio};
use pipes::Piped;
use servers::Served;
use sparring_mock::MockServer;
use sparring_transport::stdio;

/// Rounds of each server.
const ROUNDS: usize = 15;
/// Calls in a round.
const CALLS: usize = 2_048;

const SCRIPT: &str = "
tools:
  - {name: echo, input: {message: string}, text: hello}
";

const FILLED: &str = "
tools:
  - {name: echo, input: {message: string}, text: \"${args.message}\"}
";

fn main() -> ExitCode {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    match std::env::args().nth(1).as_deref() {
        Some("serve-mock") => runtime.block_on(mock(SCRIPT, false)),
        Some("serve-filled") => runtime.block_on(mock(FILLED, false)),
        Some("serve-journal") => runtime.block_on(mock(SCRIPT, true)),
        Some("serve-rmcp") => runtime.block_on(servers::rmcp()),
        Some("pipe-mock") => runtime.block_on(piped()),
        Some("pipe-rmcp") => runtime.block_on(rmcp_pair::serve()),
        Some("serve-axum") => runtime.block_on(servers::bare()),
        // cargo adds `--bench`.
        _ => {
            // In a spawned task, as programs make their calls.
            let met = runtime.block_on(async { tokio::spawn(run()).await.expect("no panic") });
            return if met { ExitCode::SUCCESS } else { ExitCode::FAILURE };
        }
    }
    ExitCode::SUCCESS
}

/// Serves a script, with or without a journal file.
async fn mock(script: &str, journal: bool) {
    let mock = MockServer::from_yaml(script, ".").expect("a good script");
    if journal {
        let path = std::env::temp_dir().join(format!("journal-{}", std::process::id()));
        let file = std::fs::File::create(&path).expect("a file");
        let file = std::io::BufWriter::with_capacity(64 * 1024, file);
        // The file is deleted when the last handle closes.
        std::fs::remove_file(&path).expect("a file");
        let file = Mutex::new(file);
        mock.on_received(move |received| {
            let mut file = file.lock().expect("the lock is not poisoned");
            writeln!(file, "{}", received.to_line()).expect("a file");
        });
    }
    let serving = mock.listen("127.0.0.1:0".parse().expect("an address")).await.expect("a port");
    println!("{}", serving.address().expect("an address"));
    std::future::pending().await
}

/// Serves a script over stdio.
async fn piped() {
    let mock = MockServer::from_yaml(SCRIPT, ".").expect("a good script");
    mock.serve(stdio(Default::default())).await;
}

/// Starts FastMCP's server, if it is installed.
fn fastmcp() -> Option<Served> {
    let python = std::env::var_os("SPAR_PEERS_DIR")
        .map(|folder| Path::new(&folder).join("python/bin/python"))
        .filter(|python| python.exists());
    let Some(python) = python else {
        println!("SKIPPED: FastMCP is not installed; run `cargo xtask peers`\n");
        return None;
    };
    let server = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/mock/fastmcp4.py");
    Some(Served::by(Command::new(python).arg(server)))
}

fn this_program() -> std::path::PathBuf {
    std::env::current_exe().expect("this program has a path")
}

async fn run() -> bool {
    let over_http = over_http().await;
    println!();
    let over_stdio = over_stdio();
    println!();
    cases::run().await;
    over_http && over_stdio
}

fn over_stdio() -> bool {
    let (mut rmcp, mut mock) = (Piped::start("pipe-rmcp"), Piped::start("pipe-mock"));
    let mut times = [const { [const { Vec::new() }; 2] }; 2];
    for _ in 0..ROUNDS {
        rmcp.measure_round(CALLS, &mut times[0]);
        mock.measure_round(CALLS, &mut times[1]);
    }
    let ratios = [0, 1].map(|way| ratio(&times[0][way], &times[1][way]));
    println!("a tool call over pipes, {ROUNDS} rounds of {CALLS}, medians\n");
    for (name, both) in ["rmcp, 2025-11-25", "a mock, one text"].iter().zip(times.each_mut()) {
        let [one, many] = both.each_mut().map(|times| median(times));
        println!("{name:<34} {one:>9.2} µs 1 at a time {many:>9.2} µs 64 in flight");
    }
    println!("\na mock over stdio, 1 at a time, x rmcp: {:.2}", ratios[0]);
    check("a mock over stdio, 64 in flight, x rmcp", ratios[1], 3.0)
}

async fn over_http() -> bool {
    let names = ["serve-axum", "serve-rmcp", "serve-mock", "serve-filled", "serve-journal"];
    let servers = names.map(Served::start);
    let mut callers = Vec::new();
    for server in &servers {
        callers.push(Caller::new(server.address, "/mcp", Era::Modern).await);
    }
    let fastmcp = fastmcp();
    let slow = match &fastmcp {
        Some(server) => Some(Caller::new(server.address, "/mcp", Era::Modern).await),
        None => None,
    };
    let mut times = [const { [const { Vec::new() }; 2] }; 5];
    let mut slows = [const { Vec::new() }; 2];
    for _ in 0..ROUNDS {
        for (caller, times) in callers.iter().zip(&mut times) {
            measure_round(caller, CALLS, times).await;
        }
        if let Some(slow) = &slow {
            measure_round(slow, CALLS / 16, &mut slows).await;
        }
    }
    let many = |at: usize| &times[at][1];
    let than_slow = if slow.is_some() { ratio(&slows[1], many(2)) } else { 0.0 };
    let verdicts = [
        ("a mock, 64 in flight, x axum", ratio(many(0), many(2)), 0.6),
        ("a mock, 64 in flight, x rmcp", ratio(many(1), many(2)), 1.5),
        ("a mock with its journal in a file, x one without", ratio(many(2), many(4)), 1.0 / 1.2),
    ];
    println!("a tool call over HTTP on loopback, {ROUNDS} rounds of {CALLS}, medians\n");
    let shown = [
        "a bare axum echo",
        "rmcp, 2026-07-28",
        "a mock, one text",
        "a mock, a text with a hole",
        "a mock, its journal in a file",
    ];
    for (name, both) in shown.iter().zip(times.each_mut()) {
        let [one, many] = both.each_mut().map(|times| median(times));
        println!("{name:<34} {one:>9.2} µs 1 at a time {many:>9.2} µs 64 in flight");
    }
    let mut verdicts = verdicts.to_vec();
    if slow.is_some() {
        verdicts.push(("a mock, 64 in flight, x FastMCP", than_slow, 10.0));
        let [one, many] = slows.each_mut().map(|times| median(times));
        let name = "FastMCP 4, 2026-07-28";
        println!("{name:<34} {one:>9.2} µs 1 at a time {many:>9.2} µs 64 in flight");
    }
    println!();
    let mut met = true;
    for (what, ratio, least) in verdicts {
        met &= check(what, ratio, least);
    }
    met
}
