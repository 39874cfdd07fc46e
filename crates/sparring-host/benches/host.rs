//! Measures the cost of a hundred servers: the time to connect to all, relative
//! to the slowest one; memory and files of each; the effect of a reload; and the leaks
//! of a thousand reloads. Then it measures good servers beside broken ones.
//!
//! The servers are this program itself, started with the name of a kind. Each
//! takes a little longer to start than the one before, as real ones do; the
//! last one is the slowest. Run it with `cargo xtask bench host`.

#![expect(clippy::print_stdout, reason = "a benchmark prints its findings")]

#[path = "host/broken_servers.rs"]
mod broken_servers;
#[path = "host/process.rs"]
mod process;
#[path = "host/servers.rs"]
mod servers;

use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use process::{ResourceCounts, cpu, cpu_of, cpu_share};
use servers::{Kind, Servers};
use sparring_host::config::ServerConfig;
use sparring_host::manager::Manager;

/// The number of servers.
const SERVER_COUNT: usize = 100;
/// The number of measurements.
const ROUNDS: usize = 5;
/// All servers together may take so many times as long as the slowest one, not
/// counting the CPU time of the servers.
const MAX_SLOWDOWN: f64 = 1.5;
/// The number of reloads, and the number of those before counting begins.
const RELOADS: usize = 1_000;
const WARM_UP_RELOADS: usize = 100;
/// The maximum growth of memory, in bytes.
const MAX_MEMORY_GROWTH: usize = 4 * 1024 * 1024;

fn main() -> ExitCode {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args[..] {
        ["serve-stdio", delay] => runtime.block_on(servers::over_stdio(delay)),
        ["serve-http", count] => runtime.block_on(servers::over_http(count)),
        ["measure", kind] => {
            let kind = kind.to_owned();
            let measuring = async move {
                match &*kind {
                    "broken" => broken_servers::measure().await,
                    "stdio" => measure(Kind::Stdio).await,
                    _ => measure(Kind::Http).await,
                }
            };
            let measuring = async { tokio::spawn(measuring).await.expect("no panic") };
            return if runtime.block_on(measuring) { ExitCode::SUCCESS } else { ExitCode::FAILURE };
        }
        // cargo adds `--bench`. Each kind runs in its own process, so that
        // memory of one does not count for another.
        _ => {
            let met = ["stdio", "http", "broken"].map(|kind| {
                let mut measuring = Command::new(servers::this_program());
                measuring.args(["measure", kind]).status().expect("this program starts").success()
            });
            return if met == [true; 3] { ExitCode::SUCCESS } else { ExitCode::FAILURE };
        }
    }
    ExitCode::SUCCESS
}

async fn measure(kind: Kind) -> bool {
    let cpu_share = cpu_share();
    if cpu_share < 0.9 {
        println!("others are at work: of a processor we get only {:.0} %", cpu_share * 100.0);
    }
    let servers = Servers::start(kind, SERVER_COUNT);
    // Memory first, before other measurements leave some behind.
    let reloads = measure_reloading(&servers).await;
    let connections = measure_connecting(&servers).await;
    println!();
    reloads && connections
}

/// The slowest server alone, and all at once.
async fn measure_connecting(servers: &Servers) -> bool {
    let (mut alone, mut together, mut work, mut ours) = (vec![], vec![], vec![], vec![]);
    for _ in 0..ROUNDS {
        let (took, _, _) = connect_and_measure(servers, &servers.configs[SERVER_COUNT - 1..]).await;
        alone.push(took);
        let (took, servers_cpu, own) = connect_and_measure(servers, &servers.configs).await;
        together.push(took);
        work.push(servers_cpu);
        ours.push(own);
    }
    let [alone, together, work, ours] = [alone, together, work, ours].map(median);
    let limit = alone.mul_f64(MAX_SLOWDOWN) + work;
    println!("  the slowest alone        {alone:>10.1?}, medians of {ROUNDS}");
    println!("  all together             {together:>10.1?}");
    println!("  the servers' own work    {work:>10.1?}");
    println!(
        "  the host's own work      {ours:>10.1?}, {:.1?} a server",
        ours / SERVER_COUNT as u32
    );
    check(
        &format!("{MAX_SLOWDOWN} x the slowest and the servers' work: {limit:.1?}"),
        together <= limit,
    )
}

/// Connects to these servers; returns the elapsed time, and the CPU times of
/// the servers and of this process.
async fn connect_and_measure(
    servers: &Servers,
    configs: &[ServerConfig],
) -> (Duration, Duration, Duration) {
    let manager = Manager::new(configs.to_vec());
    let (before, ours, start) = (servers.work(), cpu(), Instant::now());
    let outcomes = manager.connect_all().await;
    let took = start.elapsed();
    let ours = cpu() - ours;
    let mut servers_cpu = servers.work() - before;
    for (name, outcome) in outcomes {
        let connection = outcome.unwrap_or_else(|error| panic!("{name}: {error}"));
        servers_cpu += servers.work_of(&connection).await;
    }
    manager.shut_down(Duration::from_secs(30)).await;
    (took, servers_cpu, ours)
}

/// The resources of a hundred servers, the time of a reload, and the leaks of a thousand reloads.
async fn measure_reloading(servers: &Servers) -> bool {
    let nothing = ResourceCounts::now();
    let mut configs = servers.configs.clone();
    let manager = Manager::new(configs.clone());
    manager.connect_all().await;
    let held = ResourceCounts::now();
    let memory = held.memory.saturating_sub(nothing.memory) / SERVER_COUNT / 1024;
    let files = (held.files - nothing.files) as f64 / SERVER_COUNT as f64;
    println!("{SERVER_COUNT} servers over {} at once", servers.kind);
    println!("  a server in the host     {memory:>7} KiB, {files:.1} files");
    let (mut after_some, mut start) = (held, Instant::now());
    for round in 0..RELOADS {
        if round == WARM_UP_RELOADS {
            (after_some, start) = (ResourceCounts::now(), Instant::now());
        }
        // The fastest server gets another entry each time.
        servers.change(&mut configs[0], round);
        let changes = manager.reload(configs.clone()).await.expect("the manager is there");
        assert_eq!((changes.changed.len(), changes.untouched.len()), (1, SERVER_COUNT - 1));
        assert!(changes.failed.is_empty(), "{changes:?}");
    }
    let one = start.elapsed() / (RELOADS - WARM_UP_RELOADS) as u32;
    let after = ResourceCounts::now();
    let growth = after.memory.saturating_sub(after_some.memory);
    println!("  a reload, one of {SERVER_COUNT} new  {one:>10.1?}");
    println!(
        "  after {RELOADS} reloads       {:>7} KiB more than after {WARM_UP_RELOADS}",
        growth / 1024
    );
    let memory = check(
        &format!("at most {} KiB more", MAX_MEMORY_GROWTH / 1024),
        growth <= MAX_MEMORY_GROWTH,
    );
    let same = after.files <= after_some.files && after.children == after_some.children;
    let counted = format!("{} files and {} children, as before", after.files, after.children);
    let counted = check(&counted, same);
    manager.shut_down(Duration::from_secs(30)).await;
    memory && counted
}

fn check(what: &str, met: bool) -> bool {
    println!("  {what}: {}", if met { "met" } else { "MISSED" });
    met
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}
