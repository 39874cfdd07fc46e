//! How long `spar test` takes and what it needs in memory: beside `mcptest` on
//! the same calls, beside the barest script on a real server, and by itself on
//! suites of many tests.

#![expect(clippy::print_stdout, reason = "a benchmark prints its findings")]

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result};

use super::measure::{median, megabytes, met, output, peak, pinned, timed};
use super::program::barest;

/// The tests that both runners run, one call each.
const CALLS: usize = 100;

/// How much less time and memory than `mcptest` is wanted.
const TIME: f64 = 5.0;
const MEMORY: f64 = 10.0;

/// The calls on a real server, and how much longer than the barest script they
/// may take.
const REAL: usize = 20;
const BARE: f64 = 1.1;

/// What loading a suite of a thousand tests may take.
const LOAD: Duration = Duration::from_millis(50);
const LOADED: u64 = 30_000_000;

/// How much more a test may take where there are ten times as many.
const GROWTH: f64 = 1.2;

/// Turns that each contestant takes.
const ROUNDS: usize = 9;

/// Measures, prints, and says whether the limits are met.
pub(super) fn run(root: &Path, spar: &str, everything: Option<&str>) -> Result<bool> {
    let place = Place::new(root)?;
    let mut all = place.beside_mcptest(root, spar)?;
    match everything {
        Some(server) => all &= place.on_a_real_server(root, spar, server)?,
        None => eprintln!("SKIPPED: spar test on server-everything, because it is not installed"),
    }
    all &= place.loading(root, spar)?;
    all &= place.growing(root, spar)?;
    Ok(all)
}

/// The folder that has the suites.
struct Place(PathBuf);

impl Place {
    fn new(root: &Path) -> Result<Place> {
        let folder = root.join("target/bench");
        fs::create_dir_all(&folder)?;
        let place = Place(folder);
        let mock = "tools: [{name: echo, input: {message: string}, text: \"${args.message}\"}]\n";
        place.write("echo.mock.yaml", mock)?;
        Ok(place)
    }

    fn write(&self, name: &str, text: &str) -> Result<String> {
        let path = self.0.join(name);
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        Ok(path.display().to_string())
    }

    /// A suite of so many calls.
    fn suite(&self, name: &str, server: &str, calls: usize) -> Result<String> {
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

    /// The same calls on the same server by both.
    fn beside_mcptest(&self, root: &Path, spar: &str) -> Result<bool> {
        let server = format!("{{command: \"{spar}\", args: [mock, echo.mock.yaml]}}");
        let suite = self.suite("calls.spar.yaml", &server, CALLS)?;
        let ours = [spar, "test", "--quiet", &suite];
        let Ok(mcptest) = std::env::var("MCPTEST") else {
            let time = median(self.times(root, &ours)?);
            let memory = peak(root, &ours)?;
            println!(
                "spar test, {CALLS} calls on a stdio mock: {time:.2?}, {} (MCPTEST is not set, so \
                 there is nothing beside it)",
                megabytes(memory)
            );
            return Ok(true);
        };
        let theirs = self.write("calls.mcptest.yaml", &self.for_mcptest(spar)?)?;
        let theirs = [&*mcptest, "run", "--reporter", "quiet", &theirs];
        let (mut our_times, mut their_times) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            our_times.push(timed(|| output(pinned(root, &ours)).map(drop))?);
            // It leaves files where it is run.
            their_times.push(timed(|| output(pinned(&self.0, &theirs)).map(drop))?);
        }
        let (time, their_time) = (median(our_times), median(their_times));
        let (memory, their_memory) = (peak(root, &ours)?, peak(&self.0, &theirs)?);
        let faster = their_time.as_secs_f64() / time.as_secs_f64();
        let smaller = their_memory as f64 / memory as f64;
        println!(
            "spar test, {CALLS} calls on a stdio mock: {time:.2?}, mcptest {their_time:.2?}: \
             {faster:.1}x, at least {TIME}x wanted: {}",
            met(faster >= TIME)
        );
        println!(
            "  memory at its most: {}, mcptest {}: {smaller:.1}x, at least {MEMORY}x wanted: {}",
            megabytes(memory),
            megabytes(their_memory),
            met(smaller >= MEMORY)
        );
        Ok(faster >= TIME && smaller >= MEMORY)
    }

    /// The same suite in the words of `mcptest`.
    fn for_mcptest(&self, spar: &str) -> Result<String> {
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

    fn on_a_real_server(&self, root: &Path, spar: &str, server: &str) -> Result<bool> {
        let described = format!("{{command: node, args: [\"{server}\"], protocol: 2025-11-25}}");
        let suite = self.suite("everything.spar.yaml", &described, REAL)?;
        let (mut ours, mut bare) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            bare.push(timed(|| barest(pinned(root, &["node", server]), REAL))?);
            let words = [spar, "test", "--quiet", &suite];
            ours.push(timed(|| output(pinned(root, &words)).map(drop))?);
        }
        let (ours, bare) = (median(ours), median(bare));
        let ratio = ours.as_secs_f64() / bare.as_secs_f64();
        println!(
            "spar test, {REAL} calls on server-everything: {ours:.2?}, the barest script \
             {bare:.2?}: {ratio:.2}x, at most {BARE}x wanted: {}",
            met(ratio <= BARE)
        );
        Ok(ratio <= BARE)
    }

    fn loading(&self, root: &Path, spar: &str) -> Result<bool> {
        let suite = self.suite("thousand.spar.yaml", "{mock: echo.mock.yaml}", 1_000)?;
        let words = [spar, "test", "--check", &suite];
        let (time, memory) = (median(self.times(root, &words)?), peak(root, &words)?);
        println!(
            "spar test --check, 1,000 tests: {time:.2?}, less than {LOAD:?} wanted: {}; {}, less \
             than {} wanted: {}",
            met(time < LOAD),
            megabytes(memory),
            megabytes(LOADED),
            met(memory < LOADED)
        );
        Ok(time < LOAD && memory < LOADED)
    }

    fn growing(&self, root: &Path, spar: &str) -> Result<bool> {
        let mut found = Vec::new();
        for tests in [1_000, 10_000] {
            let name = format!("{tests}.spar.yaml");
            let suite = self.suite(&name, "{mock: echo.mock.yaml}", tests)?;
            let words = [spar, "test", "--quiet", &suite];
            let time = median(self.times(root, &words)?) / u32::try_from(tests)?;
            let memory = peak(root, &words)?;
            println!(
                "spar test, {tests} tests on a mock in memory: {time:.2?} a test, {}, {:.2} kB a \
                 test",
                megabytes(memory),
                memory as f64 / tests as f64 / 1_000.0
            );
            found.push(time.as_secs_f64());
        }
        let growth = found[1] / found[0];
        println!(
            "  a test among ten times as many takes {growth:.2}x as long, at most {GROWTH}x \
             wanted: {}",
            met(growth <= GROWTH)
        );
        Ok(growth <= GROWTH)
    }

    fn times(&self, root: &Path, words: &[&str]) -> Result<Vec<Duration>> {
        (0..ROUNDS).map(|_| timed(|| output(pinned(root, words)).map(drop))).collect()
    }
}
