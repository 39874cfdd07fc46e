//! `cargo xtask test`: all checks that must pass before a commit.
//!
//! The tests against other implementations are part of the workspace tests; a stage
//! before them installs the implementations. `cargo xtask peers` runs them alone.
//! Clippy's `--all-targets` builds the benchmarks; they do not run here.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};

use crate::agents;
use crate::command::{command, example_path, has_nextest, run as run_command};
use crate::conformance;
use crate::containers::Containers;
use crate::peers::{self, Peers};
use crate::public_api;
use crate::scratch;
use crate::tidy;

/// The settings of this run, from the environment.
#[derive(Clone, Copy)]
pub(crate) struct Settings {
    /// The specification's schemas are available.
    pub(crate) has_spec: bool,
    /// A Chromium is available for the HTML report.
    pub(crate) has_browser: bool,
    /// Skipping a test is a failure.
    pub(crate) ci: bool,
}

const NO_SPEC: &str = "SKIPPED: the tests against the specification's schemas, \
                       because SPAR_SPEC_DIR is not set";
const NO_BROWSER: &str = "SKIPPED: the tests of the HTML report in a browser, \
                          because no Chromium is on PATH or in SPAR_CHROMIUM";

impl Settings {
    /// Returns a line for each kind of tests that cannot run.
    fn skipped(self) -> impl Iterator<Item = &'static str> {
        let lines = [(self.has_spec, NO_SPEC), (self.has_browser, NO_BROWSER)];
        lines.into_iter().filter(|(available, _)| !available).map(|(_, line)| line)
    }
}

/// Runs the stages in order and stops at the first failure.
pub(crate) fn run(root: &Path, settings: Settings) -> Result<()> {
    let run = |line| run_command(command(root, line));
    let mut stages = Stages::new();
    stages.run("format", || run("cargo fmt --all --check"))?;
    stages.run("lints", || {
        run("cargo clippy --workspace --all-targets --all-features -- -D warnings")
    })?;
    stages.run("features", || features(root))?;
    let peers = stages.run("peers", || peers::install(root, settings.ci))?;
    let containers = stages.run("containers", || {
        // Some tests start examples as peers, and the suites in `examples` start the
        // servers of that folder.
        run("cargo build --workspace --all-features --examples --bins")?;
        Containers::start(root, settings.ci)
    })?;
    stages.run("tests", || tests(root, settings, &peers, &containers))?;
    stages.run("conformance", || conformance::run_suite(root, &peers))?;
    stages.run("doc tests", || run("cargo test --workspace --all-features --doc"))?;
    stages.run("examples", || examples(root))?;
    stages.run("scratch", || scratch::run(root))?;
    stages.run("docs", || docs(root))?;
    stages.run("public API", || public_api::run(root, false))?;
    stages.run("tidy", || tidy::run(root))?;
    settings.skipped().for_each(|line| eprintln!("\n{line}"));
    peers.print_skipped();
    containers.print_skipped();
    stages.finish();
    Ok(())
}

/// The feature combinations to check. The other stages enable all features.
const FEATURES: [&str; 8] =
    ["", "mock", "http", "containers", "check", "mock,http", "mock,oauth", "mock,llm"];

fn features(root: &Path) -> Result<()> {
    for features in FEATURES {
        let mut lint = command(root, "cargo clippy -p sparring --no-default-features");
        lint.args(["--features", features, "--", "-D", "warnings"]);
        run_command(lint)?;
    }
    // A script that needs a disabled feature must be rejected.
    let line = "cargo test -p sparring-mock --no-default-features --lib load::disabled_features";
    run_command(command(root, line))
}

fn tests(root: &Path, settings: Settings, peers: &Peers, containers: &Containers) -> Result<()> {
    // A runner hides the output of passing tests, and with it their lines about being
    // skipped.
    for line in settings.skipped() {
        eprintln!("{line}");
        ensure!(!settings.ci, "tests must not be skipped when CI is set");
    }
    let line = if has_nextest() {
        "cargo nextest run --workspace --all-features"
    } else {
        "cargo test --workspace --all-features --lib --bins --tests"
    };
    let mut tests = command(root, line);
    tests.env(peers::FOLDER_VARIABLE, &peers.folder);
    tests.env(agents::FOLDER_VARIABLE, agents::folder(root));
    containers.set_engine(&mut tests);
    run_command(tests)
}

/// Runs each example of the façade, because a failing example misleads its reader. The
/// tests stage has built them, and the conformance suite has run its own.
fn examples(root: &Path) -> Result<()> {
    let folder = root.join("crates/sparring/examples");
    if !folder.is_dir() {
        eprintln!("no examples");
        return Ok(());
    }
    let mut names = Vec::new();
    for entry in fs::read_dir(&folder).with_context(|| format!("reading {}", folder.display()))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "rs") {
            names.extend(path.file_stem().map(|stem| stem.display().to_string()));
        }
    }
    names.retain(|name| name != conformance::CLIENT);
    names.sort();
    for name in &names {
        let mut built = Command::new(example_path(name)?);
        built.current_dir(root);
        run_command(built).with_context(|| format!("example {name}"))?;
    }
    Ok(())
}

fn docs(root: &Path) -> Result<()> {
    let line = "cargo doc --workspace --all-features --no-deps";
    let mut command = command(root, line);
    command.env("RUSTDOCFLAGS", "-Dwarnings");
    run_command(command)
}

/// Counts the stages of a run and measures their time.
struct Stages {
    started: Instant,
    passed: usize,
}

impl Stages {
    fn new() -> Self {
        Self { started: Instant::now(), passed: 0 }
    }

    fn run<T>(&mut self, name: &str, stage: impl FnOnce() -> Result<T>) -> Result<T> {
        eprintln!("\n== {name}");
        let started = Instant::now();
        let result = stage();
        let seconds = started.elapsed().as_secs_f64();
        let result =
            result.with_context(|| format!("stage `{name}` failed after {seconds:.1}s"))?;
        eprintln!("== {name} passed in {seconds:.1}s");
        self.passed += 1;
        Ok(result)
    }

    fn finish(self) {
        let seconds = self.started.elapsed().as_secs_f64();
        eprintln!("\nall {} stages passed in {seconds:.1}s", self.passed);
    }
}
