//! Measures `spar mock` over HTTP: the time to its first response, and the cost of its
//! journal.
//!
//! The client is minimal: it sends fixed requests on open connections, and of a
//! response it only parses the length.

#![expect(clippy::print_stdout, reason = "a benchmark prints its results")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};

use super::measure::{median, pinned, render_met};
use super::program::MAX_MOCK_START;

/// The limit of the time of a call with a journal file, relative to one without.
const MAX_JOURNAL_RATIO: f64 = 1.2;

/// The number of turns of each program.
const ROUNDS: usize = 15;

/// The number of concurrent calls, and their repetitions in a turn.
const CONCURRENT_CALLS: usize = 64;
const REPEATS: usize = 64;

const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_weather","arguments":{"city":"London"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;

/// Prints the measurements, and returns true if the limits are met.
pub(super) fn run(root: &Path, spar: &str) -> Result<bool> {
    let first = (0..2 * ROUNDS).map(|_| measure_first_response(root, spar));
    let first = median(first.collect::<Result<_>>()?);
    let is_fast = first < MAX_MOCK_START;
    println!(
        "spar mock --http to its first response: {first:.2?}, less than {MAX_MOCK_START:?} required: {}",
        render_met(is_fast)
    );
    let file = std::env::temp_dir().join(format!("journal-{}", std::process::id()));
    let mut without = MockProcess::start(root, spar, &[])?;
    let mut with = MockProcess::start(root, spar, &["--journal", &file.display().to_string()])?;
    let mut ratios = Vec::new();
    for _ in 0..ROUNDS {
        let (plain, written) = (without.run_round()?, with.run_round()?);
        ratios.push(written.as_secs_f64() / plain.as_secs_f64());
    }
    drop((without, with));
    let lines = std::fs::read_to_string(&file).unwrap_or_default().lines().count();
    std::fs::remove_file(&file)?;
    let expected = ROUNDS * CONCURRENT_CALLS * REPEATS;
    ratios.sort_by(f64::total_cmp);
    let ratio = ratios[ROUNDS / 2];
    println!(
        "spar mock --journal FILE, {CONCURRENT_CALLS} in flight, x without: {ratio:.2}, at most {MAX_JOURNAL_RATIO} required: {}; the journal has {lines} of {expected} lines",
        render_met(ratio <= MAX_JOURNAL_RATIO)
    );
    Ok(is_fast && ratio <= MAX_JOURNAL_RATIO)
}

fn measure_first_response(root: &Path, spar: &str) -> Result<Duration> {
    let start = Instant::now();
    let served = MockProcess::start(root, spar, &[])?;
    Connection::connect(&served.address)?.call(&served.address)?;
    Ok(start.elapsed())
}

/// A mock process; dropping it stops it.
struct MockProcess {
    child: Child,
    address: String,
    connections: Vec<Connection>,
}

impl MockProcess {
    fn start(root: &Path, spar: &str, flags: &[&str]) -> Result<Self> {
        let script = root.join("examples/weather.mock.yaml").display().to_string();
        let mut command = pinned(root, &[spar, "mock", &script, "--http", "127.0.0.1:0", "-q"]);
        command.args(flags).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().context("cannot start the program")?;
        let mut url = String::new();
        let stdout = child.stdout.take().context("a pipe")?;
        BufReader::new(stdout).read_line(&mut url)?;
        let address = url.trim().strip_prefix("http://").and_then(|it| it.strip_suffix("/mcp"));
        let address = address.with_context(|| format!("spar mock printed {url:?}"))?.to_owned();
        Ok(MockProcess { child, address, connections: Vec::new() })
    }

    /// Runs a round and returns its time.
    fn run_round(&mut self) -> Result<Duration> {
        while self.connections.len() < CONCURRENT_CALLS {
            self.connections.push(Connection::connect(&self.address)?);
        }
        let start = Instant::now();
        for _ in 0..REPEATS {
            for connection in &mut self.connections {
                connection.send(&self.address)?;
            }
            for connection in &mut self.connections {
                connection.receive()?;
            }
        }
        Ok(start.elapsed())
    }
}

impl Drop for MockProcess {
    fn drop(&mut self) {
        // By SIGTERM, so that the mock flushes its journal.
        let id = self.child.id().to_string();
        let _ = std::process::Command::new("kill").arg(id).status();
        let _ = self.child.wait();
    }
}

/// A connection to the mock.
struct Connection(BufReader<TcpStream>);

impl Connection {
    fn connect(address: &str) -> Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        Ok(Connection(BufReader::new(stream)))
    }

    fn call(&mut self, address: &str) -> Result<()> {
        self.send(address)?;
        self.receive()
    }

    fn send(&mut self, address: &str) -> Result<()> {
        let length = CALL.len();
        let request = format!(
            "POST /mcp HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\nmcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\nmcp-name: get_weather\r\ncontent-length: {length}\r\n\r\n{CALL}"
        );
        Ok(self.0.get_mut().write_all(request.as_bytes())?)
    }

    fn receive(&mut self) -> Result<()> {
        let (mut line, mut length) = (String::new(), 0);
        self.0.read_line(&mut line)?;
        ensure!(line.starts_with("HTTP/1.1 200"), "the mock sent {line}");
        while line != "\r\n" {
            line.clear();
            self.0.read_line(&mut line)?;
            if let Some(value) = line.strip_prefix("content-length: ") {
                length = value.trim().parse()?;
            }
        }
        let mut body = vec![0; length];
        Ok(self.0.read_exact(&mut body)?)
    }
}
