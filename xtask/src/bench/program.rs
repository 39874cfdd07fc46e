//! Measures the program: `spar --version`, `spar mock` to its first response over
//! stdio, and `spar call` on a real server compared with a minimal script.

#![expect(clippy::print_stdout, reason = "a benchmark prints its results")]

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};

use super::measure::{measure_time, median, output, pinned, render_met};
use super::{mock, suites};
use crate::command::{command, run as run_command};
use crate::peers::Peers;

const MAX_VERSION_TIME: Duration = Duration::from_millis(5);

/// The limit of `spar mock` from its start to its first response.
pub(super) const MAX_MOCK_START: Duration = Duration::from_millis(20);

/// The limit of the time of `spar call`, relative to a minimal script.
const MAX_CALL_RATIO: f64 = 1.15;

/// The number of turns of each program.
const ROUNDS: usize = 9;

/// Prints the measurements, and returns true if the limits are met.
pub(super) fn run(root: &Path, peers: &Peers) -> Result<bool> {
    run_command(command(root, "cargo build --release -p sparring-cli"))?;
    let spar = root.join("target/release/spar").display().to_string();
    let mut times = Vec::new();
    for _ in 0..4 * ROUNDS {
        times.push(measure_time(|| output(pinned(root, &[&spar, "--version"])).map(drop))?);
    }
    let version = median(times);
    println!(
        "spar --version: {version:.2?}, less than {MAX_VERSION_TIME:?} required: {}",
        render_met(version < MAX_VERSION_TIME)
    );

    let mock = median(
        (0..4 * ROUNDS).map(|_| measure_first_response(root, &spar)).collect::<Result<_>>()?,
    );
    println!(
        "spar mock to its first response: {mock:.2?}, less than {MAX_MOCK_START:?} required: {}",
        render_met(mock < MAX_MOCK_START)
    );
    let over_http = mock::run(root, &spar)?;
    let is_fast = version < MAX_VERSION_TIME && mock < MAX_MOCK_START && over_http;

    let server = peers
        .folder
        .join("node/node_modules/@modelcontextprotocol/server-everything/dist/index.js");
    if !server.is_file() {
        eprintln!("SKIPPED: spar call on server-everything, because it is not installed");
        return Ok(suites::run(root, &spar, None)? && is_fast);
    }
    let server = server.display().to_string();
    let (mut ours, mut minimal) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        minimal.push(measure_time(|| run_minimal_client(pinned(root, &["node", &server]), 1))?);
        let call = ["call", "echo", "message=hi", "--", "node", &server];
        let words: Vec<&str> = std::iter::once(&*spar).chain(call).collect();
        ours.push(measure_time(|| {
            let text = output(pinned(root, &words))?;
            ensure!(text.contains("Echo: hi"), "spar printed: {text}");
            Ok(())
        })?);
    }
    let (ours, minimal) = (median(ours), median(minimal));
    let ratio = ours.as_secs_f64() / minimal.as_secs_f64();
    println!(
        "spar call on server-everything: {ours:.2?}, a minimal script {minimal:.2?}: {ratio:.2}x, at most {MAX_CALL_RATIO}x required: {}",
        render_met(ratio <= MAX_CALL_RATIO)
    );
    Ok(suites::run(root, &spar, Some(&server))? && is_fast && ratio <= MAX_CALL_RATIO)
}

/// Measures the time from the start of a mock to its first response.
fn measure_first_response(root: &Path, spar: &str) -> Result<Duration> {
    let script = root.join("examples/weather.mock.yaml").display().to_string();
    let mut command = pinned(root, &[spar, "mock", &script]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let start = Instant::now();
    let mut child: Child = command.spawn().context("cannot start the program")?;
    let mut stdin: ChildStdin = child.stdin.take().context("a pipe")?;
    let mut lines = BufReader::new(child.stdout.take().context("a pipe")?).lines();
    stdin.write_all(concat!(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#, "\n").as_bytes())?;
    wait_for(&mut lines, r#""id":1"#)?;
    let time = start.elapsed();
    drop(stdin);
    child.wait()?;
    Ok(time)
}

/// Starts a server, initializes, makes the calls, closes, and waits for its end, with
/// as little work as possible.
pub(super) fn run_minimal_client(mut command: Command, calls: usize) -> Result<()> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child: Child = command.spawn().context("cannot start the program")?;
    let mut stdin: ChildStdin = child.stdin.take().context("a pipe")?;
    let mut lines = BufReader::new(child.stdout.take().context("a pipe")?).lines();
    stdin.write_all(concat!(r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bare","version":"1"}}}"#, "\n").as_bytes())?;
    wait_for(&mut lines, r#""id":1"#)?;
    stdin.write_all(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n")?;
    for id in 2..2 + calls {
        let call = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"echo","arguments":{{"message":"hi"}}}}}}"#
        );
        stdin.write_all(format!("{call}\n").as_bytes())?;
        wait_for(&mut lines, &format!(r#""id":{id}"#))?;
    }
    drop(stdin);
    child.wait()?;
    Ok(())
}

fn wait_for(lines: &mut impl Iterator<Item = std::io::Result<String>>, id: &str) -> Result<()> {
    for line in lines {
        if line?.contains(id) {
            return Ok(());
        }
    }
    anyhow::bail!("the server ended before it sent {id}")
}
