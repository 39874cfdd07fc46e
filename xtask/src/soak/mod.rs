//! `cargo xtask soak`: runs a mock and a gateway over HTTP for a long time, under good and hostile
//! clients.
//!
//! One server runs after the other. First only the good clients run, then all of them. The limits:
//! the memory of each server, the latency of the good clients compared with the quiet part, and no
//! open files or processes that are left at the end.

#![expect(clippy::print_stdout, reason = "a benchmark prints its results")]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};

use self::good_clients::{GoodClients, Latencies};
use self::server_process::{ServerProcess, Usage};
use crate::bench::render_met;
use crate::command::{command, run as run_command};

mod good_clients;
mod hostile_clients;
mod http_connection;
mod server_process;

/// The duration of the quiet part.
const QUIET_PART: Duration = Duration::from_secs(60);

/// The limit of the memory of one server.
const MAX_MEMORY_BYTES: u64 = 512 * 1024 * 1024;

/// The limit of the 99th percentile of the good clients' latencies, relative to the quiet part.
const MAX_SLOWDOWN: f64 = 2.0;

/// The number of open files that a server may have more at the end than before: connections of
/// the system that are being closed.
const MAX_MORE_FILES: usize = 8;

/// The time for the end of all connections after the clients have stopped. An unread stream is
/// noticed only after the write timeout.
const SETTLE_TIME: Duration = Duration::from_secs(90);

/// The interval of the samples.
const SAMPLE_INTERVAL: Duration = Duration::from_secs(1);

/// The script of the mock, and of the servers behind the gateway. Its notifications fill the
/// queues of clients that do not read.
const SCRIPT: &str = "\
server: {name: soak, version: 1.0.0}
tools:
  - name: echo
    description: Repeats a text.
    input: {text: string}
    text: \"${args.text}\"
templates:
  - {uri_template: \"soak://{a}/{b}\", name: pair, text: \"${args.a}\"}
resources:
  - {uri: \"soak://a\", name: a, text: a}
timers:
  - {every: 1s, notify: {method: tools/list_changed, params: {_meta: {filler: FILLER}}}}
";

/// The results of one server.
struct Outcome {
    name: &'static str,
    quiet: Latencies,
    hostile: Latencies,
    before: Usage,
    peak: Usage,
    after: Usage,
}

/// Prints the measurements; fails if a limit is not met. The hostile clients run for this number
/// of seconds; each server gets half of that time.
pub(crate) fn run(root: &Path, seconds: u32) -> Result<()> {
    ensure!(cfg!(target_os = "linux"), "the soak reads /proc, so it runs only on Linux");
    run_command(command(root, "cargo build --release -p sparring-cli"))?;
    let spar = root.join("target/release/spar");
    let folder = root.join("target/soak");
    write_scripts(&folder, &spar)?;
    let hostile_part = Duration::from_secs(seconds.into()) / 2;
    let began = Instant::now();
    let gateway = ["serve", "--config", "servers.yaml", "--allow", "mcp__a"];
    let mock = ServerProcess::start("mock", "echo", &spar, &folder, &["mock", "soak.mock.yaml"])?;
    let mock_met = soak(mock, hostile_part)?.print();
    let gateway = ServerProcess::start("gateway", "mcp__a__echo", &spar, &folder, &gateway)?;
    let gateway_met = soak(gateway, hostile_part)?.print();
    println!("soak: took {:.0?}", began.elapsed());
    ensure!(mock_met && gateway_met, "a limit is not met");
    Ok(())
}

fn write_scripts(folder: &Path, spar: &Path) -> Result<()> {
    std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    let script = SCRIPT.replace("FILLER", &"x".repeat(64 * 1024));
    let write = |name: &str, text: &str| {
        let path: PathBuf = folder.join(name);
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
    };
    write("soak.mock.yaml", &script)?;
    let spar = spar.display();
    let server = |name| format!("  {name}: {{command: {spar}, args: [mock, soak.mock.yaml]}}\n");
    write("servers.yaml", &format!("servers:\n{}{}", server("a"), server("b")))
}

/// Measures a server and stops it.
fn soak(server: ServerProcess, hostile_part: Duration) -> Result<Outcome> {
    let name = server.name();
    let good = GoodClients::start(server.endpoint())?;
    // The first calls are slower.
    thread::sleep(QUIET_PART / 10);
    drop(good.take_latencies());
    thread::sleep(QUIET_PART);
    let quiet = good.take_latencies();
    let before = server.usage()?;

    let stop = Arc::new(AtomicBool::new(false));
    let hostile = hostile_clients::start(server.endpoint(), &stop);
    let mut peak = before.clone();
    let until = Instant::now() + hostile_part;
    while Instant::now() < until {
        thread::sleep(SAMPLE_INTERVAL);
        peak.raise_to(&server.usage()?);
    }
    let during = good.take_latencies();
    stop.store(true, Ordering::Relaxed);
    hostile.into_iter().for_each(|client| drop(client.join()));
    let after = server.settle(&before, MAX_MORE_FILES, SETTLE_TIME)?;
    good.stop()?;
    server.stop()?;
    Ok(Outcome { name, quiet, hostile: during, before, peak, after })
}

impl Outcome {
    /// Prints the results, and returns true if all limits are met.
    fn print(&self) -> bool {
        let Outcome { name, quiet, hostile, before, peak, after } = self;
        let [quiet_p99, hostile_p99] = [quiet, hostile].map(Latencies::percentile_99);
        let slowdown = hostile_p99.as_secs_f64() / quiet_p99.as_secs_f64();
        let is_fast = slowdown <= MAX_SLOWDOWN && hostile.failed == 0;
        println!(
            "soak of the {name}: p99 of {} calls of good clients {hostile_p99:.2?}, quiet {quiet_p99:.2?}: {slowdown:.2}x, at most {MAX_SLOWDOWN}x required; {} failed, none allowed: {}",
            hostile.count(),
            hostile.failed,
            render_met(is_fast)
        );
        let is_small = peak.memory_bytes <= MAX_MEMORY_BYTES;
        let mib = |bytes: u64| bytes / 1024 / 1024;
        println!(
            "soak of the {name}: memory {} MiB before, at most {} MiB, {} MiB after; at most {} MiB required: {}",
            mib(before.memory_bytes),
            mib(peak.memory_bytes),
            mib(after.memory_bytes),
            mib(MAX_MEMORY_BYTES),
            render_met(is_small)
        );
        let is_tidy =
            after.files <= before.files + MAX_MORE_FILES && after.processes == before.processes;
        println!(
            "soak of the {name}: open files {} before, at most {}, {} after; processes {} before, at most {}, {} after: {}",
            before.files,
            peak.files,
            after.files,
            before.processes,
            peak.processes,
            after.processes,
            render_met(is_tidy)
        );
        is_fast && is_small && is_tidy
    }
}
