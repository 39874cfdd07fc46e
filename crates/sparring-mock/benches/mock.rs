//! How fast a mock answers over HTTP, side by side with rmcp's server and with a
//! bare axum route that gives back what it got; what its journal costs; and ten
//! thousand test cases at once.
//!
//! The servers are this program itself, started with the name of one; the client
//! is hyper's for all of them. Every figure is a median of rounds in which the
//! contestants take turns; only ratios mean anything. Run it by `cargo xtask
//! bench`.

#![expect(clippy::print_stdout, reason = "a benchmark prints its findings")]

#[path = "mock/cases.rs"]
mod cases;
#[path = "../../sparring-transport/benches/http_server/client.rs"]
#[expect(dead_code, reason = "the bench of the server uses more of it")]
mod client;
#[path = "../../sparring-transport/benches/http_server/servers.rs"]
#[expect(dead_code, reason = "the bench of the server uses more of it")]
mod servers;
#[path = "../../sparring-peer/benches/calls/turns.rs"]
mod turns;

use std::io::Write as _;
use std::process::ExitCode;
use std::sync::Mutex;

use client::{Caller, Era};
use servers::Served;
use sparring_mock::MockServer;
use turns::{check, median, ratio, take};

/// Turns that each contestant takes.
const ROUNDS: usize = 15;
/// Calls in a turn.
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
        Some("serve-axum") => runtime.block_on(servers::bare()),
        // `--bench` is what cargo itself adds.
        _ => {
            // In a task of its own, as programs make their calls.
            let met = runtime.block_on(async { tokio::spawn(run()).await.expect("no panic") });
            return if met { ExitCode::SUCCESS } else { ExitCode::FAILURE };
        }
    }
    ExitCode::SUCCESS
}

/// Serves a script, with its journal in a file or not.
async fn mock(script: &str, journal: bool) {
    let mock = MockServer::from_yaml(script, ".").expect("a good script");
    if journal {
        let path = std::env::temp_dir().join(format!("journal-{}", std::process::id()));
        let file = std::io::BufWriter::new(std::fs::File::create(&path).expect("a file"));
        // It goes with the last who has it open.
        std::fs::remove_file(&path).expect("a file");
        let file = Mutex::new(file);
        mock.on_received(move |received| {
            let mut file = file.lock().expect("nobody panics");
            writeln!(file, "{}", received.to_line()).expect("a file");
        });
    }
    let serving = mock.listen("127.0.0.1:0".parse().expect("an address")).await.expect("a port");
    println!("{}", serving.address().expect("an address"));
    std::future::pending().await
}

async fn run() -> bool {
    let names = ["serve-axum", "serve-rmcp", "serve-mock", "serve-filled", "serve-journal"];
    let servers = names.map(Served::start);
    let mut callers = Vec::new();
    for server in &servers {
        callers.push(Caller::new(server.address, "/mcp", Era::Modern).await);
    }
    let mut times = [const { [const { Vec::new() }; 2] }; 5];
    for _ in 0..ROUNDS {
        for (caller, times) in callers.iter().zip(&mut times) {
            take(caller, CALLS, times).await;
        }
    }
    let many = |at: usize| &times[at][1];
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
    println!();
    let mut met = true;
    for (what, ratio, least) in verdicts {
        met &= check(what, ratio, least);
    }
    println!();
    cases::run().await;
    met
}
