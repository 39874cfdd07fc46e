//! `spar mock` over HTTP: how soon it answers, and what its journal costs.
//!
//! The client is as bare as can be: requests that were written before, on
//! connections that are kept, and of an answer only its length is looked at.

#![expect(clippy::print_stdout, reason = "a benchmark prints its findings")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};

use super::measure::{median, met, pinned};
use super::program::MOCK;

/// How much longer a call may take with a journal in a file.
const JOURNAL: f64 = 1.2;

/// Turns that each contestant takes.
const ROUNDS: usize = 15;

/// Calls in flight at once, and how often in a turn.
const AT_ONCE: usize = 64;
const TIMES: usize = 64;

const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_weather","arguments":{"city":"London"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;

/// Measures, prints, and says whether the limits are met.
pub(super) fn run(root: &Path, spar: &str) -> Result<bool> {
    let first = (0..2 * ROUNDS).map(|_| first_answer(root, spar));
    let first = median(first.collect::<Result<_>>()?);
    let quick = first < MOCK;
    println!(
        "spar mock --http to its first answer: {first:.2?}, less than {MOCK:?} wanted: {}",
        met(quick)
    );
    let file = std::env::temp_dir().join(format!("journal-{}", std::process::id()));
    let mut without = Served::start(root, spar, &[])?;
    let mut with = Served::start(root, spar, &["--journal", &file.display().to_string()])?;
    let mut ratios = Vec::new();
    for _ in 0..ROUNDS {
        let (plain, written) = (without.turn()?, with.turn()?);
        ratios.push(written.as_secs_f64() / plain.as_secs_f64());
    }
    drop((without, with));
    let lines = std::fs::read_to_string(&file).unwrap_or_default().lines().count();
    std::fs::remove_file(&file)?;
    let wanted = ROUNDS * AT_ONCE * TIMES;
    ratios.sort_by(f64::total_cmp);
    let ratio = ratios[ROUNDS / 2];
    println!(
        "spar mock --journal FILE, {AT_ONCE} in flight, x without: {ratio:.2}, at most {JOURNAL} wanted: {}; {lines} of {wanted} lines are in it",
        met(ratio <= JOURNAL)
    );
    Ok(quick && ratio <= JOURNAL)
}

fn first_answer(root: &Path, spar: &str) -> Result<Duration> {
    let start = Instant::now();
    let served = Served::start(root, spar, &[])?;
    Caller::connect(&served.address)?.call(&served.address)?;
    Ok(start.elapsed())
}

/// A mock in a process of its own, which ends with this.
struct Served {
    child: Child,
    address: String,
    callers: Vec<Caller>,
}

impl Served {
    fn start(root: &Path, spar: &str, flags: &[&str]) -> Result<Self> {
        let script = root.join("examples/weather.mock.yaml").display().to_string();
        let mut command = pinned(root, &[spar, "mock", &script, "--http", "127.0.0.1:0", "-q"]);
        command.args(flags).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().context("it does not start")?;
        let mut url = String::new();
        let stdout = child.stdout.take().context("a pipe")?;
        BufReader::new(stdout).read_line(&mut url)?;
        let address = url.trim().strip_prefix("http://").and_then(|it| it.strip_suffix("/mcp"));
        let address = address.with_context(|| format!("it said {url:?}"))?.to_owned();
        Ok(Served { child, address, callers: Vec::new() })
    }

    /// Takes a turn, and says how long it took.
    fn turn(&mut self) -> Result<Duration> {
        while self.callers.len() < AT_ONCE {
            self.callers.push(Caller::connect(&self.address)?);
        }
        let start = Instant::now();
        for _ in 0..TIMES {
            for caller in &mut self.callers {
                caller.say(&self.address)?;
            }
            for caller in &mut self.callers {
                caller.hear()?;
            }
        }
        Ok(start.elapsed())
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // Asked, so that what its journal has is written.
        let id = self.child.id().to_string();
        let _ = std::process::Command::new("kill").arg(id).status();
        let _ = self.child.wait();
    }
}

/// A connection.
struct Caller(BufReader<TcpStream>);

impl Caller {
    fn connect(address: &str) -> Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        Ok(Caller(BufReader::new(stream)))
    }

    fn call(&mut self, address: &str) -> Result<()> {
        self.say(address)?;
        self.hear()
    }

    fn say(&mut self, address: &str) -> Result<()> {
        let length = CALL.len();
        let request = format!(
            "POST /mcp HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\nmcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\nmcp-name: get_weather\r\ncontent-length: {length}\r\n\r\n{CALL}"
        );
        Ok(self.0.get_mut().write_all(request.as_bytes())?)
    }

    fn hear(&mut self) -> Result<()> {
        let (mut line, mut length) = (String::new(), 0);
        self.0.read_line(&mut line)?;
        ensure!(line.starts_with("HTTP/1.1 200"), "it said {line}");
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
