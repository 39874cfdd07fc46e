//! Measures time and memory of `spar test`: compared with `mcptest` on the same calls,
//! compared with a minimal script on a real server, and on suites of many tests.

#![expect(clippy::print_stdout, reason = "a benchmark prints its results")]

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result};

use super::measure::{
    measure_peak_memory, measure_time, median, output, pinned, render_megabytes, render_met,
};
use super::program::run_minimal_client;

/// The number of tests that both runners run, one call each.
const CALLS: usize = 100;

/// The required factors over `mcptest` in time and memory.
const MIN_SPEEDUP: f64 = 5.0;
const MIN_MEMORY_RATIO: f64 = 10.0;

/// The number of calls on a real server, and the limit of their time relative to a
/// minimal script.
const REAL_CALLS: usize = 20;
const MAX_MINIMAL_RATIO: f64 = 1.1;

/// The limits of loading a suite of a thousand tests.
const MAX_LOAD_TIME: Duration = Duration::from_millis(50);
const MAX_LOAD_MEMORY: u64 = 30_000_000;

/// The limit of the time of a test among ten times as many tests.
const MAX_GROWTH: f64 = 1.2;

/// The number of turns of each program.
const ROUNDS: usize = 9;

/// Prints the measurements, and returns true if the limits are met.
pub(super) fn run(root: &Path, spar: &str, everything: Option<&str>) -> Result<bool> {
    let folder = SuiteFolder::create(root)?;
    let mut all = folder.compare_with_mcptest(root, spar)?;
    match everything {
        Some(server) => all &= folder.measure_real_server(root, spar, server)?,
        None => eprintln!("SKIPPED: spar test on server-everything, because it is not installed"),
    }
    all &= folder.measure_loading(root, spar)?;
    all &= folder.measure_growth(root, spar)?;
    Ok(all)
}

/// The folder of the suites.
struct SuiteFolder(PathBuf);

impl SuiteFolder {
    fn create(root: &Path) -> Result<SuiteFolder> {
        let folder = root.join("target/bench");
        fs::create_dir_all(&folder)?;
        let folder = SuiteFolder(folder);
        let mock = "tools: [{name: echo, input: {message: string}, text: \"${args.message}\"}]\n";
        folder.write("echo.mock.yaml", mock)?;
        Ok(folder)
    }

    fn write(&self, name: &str, text: &str) -> Result<String> {
        let path = self.0.join(name);
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        Ok(path.display().to_string())
    }

    /// Writes a suite of calls.
    fn write_suite(&self, name: &str, server: &str, calls: usize) -> Result<String> {
        let mut text = format!("servers: {{it: {server}}}\ntests:\n");
        for n in 0..calls {
            writeln!(
                text,
                "  - name: call {n}\n    call: echo\n    with: {{message: number {n}}}\n    \
                 expect: {{text: {{contains: number {n}}}}}"
            )?;
        }
        self.write(name, &text)
    }

    /// Runs the same calls on the same server with both programs.
    fn compare_with_mcptest(&self, root: &Path, spar: &str) -> Result<bool> {
        let server = format!("{{command: \"{spar}\", args: [mock, echo.mock.yaml]}}");
        let suite = self.write_suite("calls.spar.yaml", &server, CALLS)?;
        let ours = [spar, "test", "--quiet", &suite];
        let Ok(mcptest) = std::env::var("MCPTEST") else {
            let time = median(self.measure_times(root, &ours)?);
            let memory = measure_peak_memory(root, &ours)?;
            println!(
                "spar test, {CALLS} calls on a stdio mock: {time:.2?}, {} (MCPTEST is not set, so \
                 there is no comparison)",
                render_megabytes(memory)
            );
            return Ok(true);
        };
        let theirs = self.write("calls.mcptest.yaml", &self.render_mcptest_suite(spar)?)?;
        let theirs = [&*mcptest, "run", "--reporter", "quiet", &theirs];
        let (mut our_times, mut their_times) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            our_times.push(measure_time(|| output(pinned(root, &ours)).map(drop))?);
            // `mcptest` leaves files in its working folder.
            their_times.push(measure_time(|| output(pinned(&self.0, &theirs)).map(drop))?);
        }
        let (time, their_time) = (median(our_times), median(their_times));
        let (memory, their_memory) =
            (measure_peak_memory(root, &ours)?, measure_peak_memory(&self.0, &theirs)?);
        let faster = their_time.as_secs_f64() / time.as_secs_f64();
        let smaller = their_memory as f64 / memory as f64;
        println!(
            "spar test, {CALLS} calls on a stdio mock: {time:.2?}, mcptest {their_time:.2?}: \
             {faster:.1}x, at least {MIN_SPEEDUP}x required: {}",
            render_met(faster >= MIN_SPEEDUP)
        );
        println!(
            "  peak memory: {}, mcptest {}: {smaller:.1}x, at least {MIN_MEMORY_RATIO}x required: {}",
            render_megabytes(memory),
            render_megabytes(their_memory),
            render_met(smaller >= MIN_MEMORY_RATIO)
        );
        Ok(faster >= MIN_SPEEDUP && smaller >= MIN_MEMORY_RATIO)
    }

    /// Renders the same suite for `mcptest`.
    fn render_mcptest_suite(&self, spar: &str) -> Result<String> {
        let mock = self.0.join("echo.mock.yaml").display().to_string();
        let mut text =
            format!("servers:\n  it: {{command: [\"{spar}\", mock, \"{mock}\"]}}\ntools:\n");
        for n in 0..CALLS {
            writeln!(
                text,
                "  - name: call {n}\n    server: it\n    tool: echo\n    args: {{message: number \
                 {n}}}\n    expect: [{{target: \"result.content[0].text\", matcher: {{contains: \
                 number {n}}}}}]"
            )?;
        }
        Ok(text)
    }

    fn measure_real_server(&self, root: &Path, spar: &str, server: &str) -> Result<bool> {
        let described = format!("{{command: node, args: [\"{server}\"], protocol: 2025-11-25}}");
        let suite = self.write_suite("everything.spar.yaml", &described, REAL_CALLS)?;
        let (mut ours, mut minimal) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            minimal.push(measure_time(|| {
                run_minimal_client(pinned(root, &["node", server]), REAL_CALLS)
            })?);
            let words = [spar, "test", "--quiet", &suite];
            ours.push(measure_time(|| output(pinned(root, &words)).map(drop))?);
        }
        let (ours, minimal) = (median(ours), median(minimal));
        let ratio = ours.as_secs_f64() / minimal.as_secs_f64();
        println!(
            "spar test, {REAL_CALLS} calls on server-everything: {ours:.2?}, a minimal script \
             {minimal:.2?}: {ratio:.2}x, at most {MAX_MINIMAL_RATIO}x required: {}",
            render_met(ratio <= MAX_MINIMAL_RATIO)
        );
        Ok(ratio <= MAX_MINIMAL_RATIO)
    }

    fn measure_loading(&self, root: &Path, spar: &str) -> Result<bool> {
        let suite = self.write_suite("thousand.spar.yaml", "{mock: echo.mock.yaml}", 1_000)?;
        let words = [spar, "test", "--check", &suite];
        let (time, memory) =
            (median(self.measure_times(root, &words)?), measure_peak_memory(root, &words)?);
        println!(
            "spar test --check, 1,000 tests: {time:.2?}, less than {MAX_LOAD_TIME:?} required: {}; {}, less \
             than {} required: {}",
            render_met(time < MAX_LOAD_TIME),
            render_megabytes(memory),
            render_megabytes(MAX_LOAD_MEMORY),
            render_met(memory < MAX_LOAD_MEMORY)
        );
        Ok(time < MAX_LOAD_TIME && memory < MAX_LOAD_MEMORY)
    }

    fn measure_growth(&self, root: &Path, spar: &str) -> Result<bool> {
        let mut times = Vec::new();
        for tests in [1_000, 10_000] {
            let name = format!("{tests}.spar.yaml");
            let suite = self.write_suite(&name, "{mock: echo.mock.yaml}", tests)?;
            let words = [spar, "test", "--quiet", &suite];
            let time = median(self.measure_times(root, &words)?) / u32::try_from(tests)?;
            let memory = measure_peak_memory(root, &words)?;
            println!(
                "spar test, {tests} tests on a mock in memory: {time:.2?} a test, {}, {:.2} kB a \
                 test",
                render_megabytes(memory),
                memory as f64 / tests as f64 / 1_000.0
            );
            times.push(time.as_secs_f64());
        }
        let growth = times[1] / times[0];
        println!(
            "  a test among ten times as many takes {growth:.2}x as long, at most {MAX_GROWTH}x \
             required: {}",
            render_met(growth <= MAX_GROWTH)
        );
        Ok(growth <= MAX_GROWTH)
    }

    fn measure_times(&self, root: &Path, words: &[&str]) -> Result<Vec<Duration>> {
        (0..ROUNDS).map(|_| measure_time(|| output(pinned(root, words)).map(drop))).collect()
    }
}
