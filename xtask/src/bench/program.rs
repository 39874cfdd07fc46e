//! How long the program itself takes: `spar --version`, `spar mock` to its first
//! answer over stdio, and `spar call` on a real server beside the barest script that could
//! do the same.

#![expect(clippy::print_stdout, reason = "a benchmark prints its findings")]

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};

use super::measure::{median, met, output, pinned, timed};
use super::{mock, suites};
use crate::command::{command, run as run_command};
use crate::peers::Peers;

/// The longest that `spar --version` may take.
const VERSION: Duration = Duration::from_millis(5);

/// The longest that `spar mock` may take from its start to its first answer.
pub(super) const MOCK: Duration = Duration::from_millis(20);

/// How much longer than the barest script `spar call` may take.
const CALL: f64 = 1.15;

/// Turns that each contestant takes.
const ROUNDS: usize = 9;

/// Measures, prints, and says whether the limits are met.
pub(super) fn run(root: &Path, peers: &Peers) -> Result<bool> {
    run_command(command(root, "cargo build --release -p sparring-cli"))?;
    let spar = root.join("target/release/spar").display().to_string();
    let mut times = Vec::new();
    for _ in 0..4 * ROUNDS {
        times.push(timed(|| output(pinned(root, &[&spar, "--version"])).map(drop))?);
    }
    let version = median(times);
    println!(
        "spar --version: {version:.2?}, less than {VERSION:?} wanted: {}",
        met(version < VERSION)
    );

    let mock = median((0..4 * ROUNDS).map(|_| first_answer(root, &spar)).collect::<Result<_>>()?);
    println!(
        "spar mock to its first answer: {mock:.2?}, less than {MOCK:?} wanted: {}",
        met(mock < MOCK)
    );
    let over_http = mock::run(root, &spar)?;
    let quick = version < VERSION && mock < MOCK && over_http;

    let server = peers
        .folder
        .join("node/node_modules/@modelcontextprotocol/server-everything/dist/index.js");
    if !server.is_file() {
        eprintln!("SKIPPED: spar call on server-everything, because it is not installed");
        return Ok(suites::run(root, &spar, None)? && quick);
    }
    let server = server.display().to_string();
    let (mut ours, mut bare) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        bare.push(timed(|| barest(pinned(root, &["node", &server]), 1))?);
        let call = ["call", "echo", "message=hi", "--", "node", &server];
        let words: Vec<&str> = std::iter::once(&*spar).chain(call).collect();
        ours.push(timed(|| {
            let text = output(pinned(root, &words))?;
            ensure!(text.contains("Echo: hi"), "spar said: {text}");
            Ok(())
        })?);
    }
    let (ours, bare) = (median(ours), median(bare));
    let ratio = ours.as_secs_f64() / bare.as_secs_f64();
    println!(
        "spar call on server-everything: {ours:.2?}, the barest script {bare:.2?}: {ratio:.2}x, at most {CALL}x wanted: {}",
        met(ratio <= CALL)
    );
    Ok(suites::run(root, &spar, Some(&server))? && quick && ratio <= CALL)
}

/// From the start of a mock to its first answer.
fn first_answer(root: &Path, spar: &str) -> Result<Duration> {
    let script = root.join("examples/weather.mock.yaml").display().to_string();
    let mut command = pinned(root, &[spar, "mock", &script]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let start = Instant::now();
    let mut child: Child = command.spawn().context("it does not start")?;
    let mut stdin: ChildStdin = child.stdin.take().context("a pipe")?;
    let mut lines = BufReader::new(child.stdout.take().context("a pipe")?).lines();
    stdin.write_all(concat!(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#, "\n").as_bytes())?;
    wait_for(&mut lines, r#""id":1"#)?;
    let took = start.elapsed();
    drop(stdin);
    child.wait()?;
    Ok(took)
}

/// Starts the server, shakes hands, makes so many calls, closes, and waits for
/// the end: all that must be done, and nothing else.
pub(super) fn barest(mut command: Command, calls: usize) -> Result<()> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child: Child = command.spawn().context("it does not start")?;
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
    anyhow::bail!("the server ended before {id}")
}
