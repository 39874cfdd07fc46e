//! `cargo xtask test`: everything that must pass before a commit.
//!
//! There is no stage for the tests with other implementations as peers: those
//! are installed first, the run over the workspace includes the tests, and
//! `cargo xtask peers` runs them alone.
//! Benches are built by clippy's `--all-targets`, and not measured here.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};

use crate::command::{command, example, has_nextest, run as run_command};
use crate::conformance;
use crate::containers::Containers;
use crate::peers::{self, Peers};
use crate::public_api;
use crate::scratch;
use crate::tidy;

/// What the environment says about this run.
#[derive(Clone, Copy)]
pub(crate) struct Settings {
    /// The specification's schemas are at hand.
    pub(crate) has_spec: bool,
    /// There is a Chromium to show the HTML report.
    pub(crate) has_browser: bool,
    /// Nobody is watching, so a skipped test must not pass for a good one.
    pub(crate) ci: bool,
}

const NO_SPEC: &str = "SKIPPED: the tests against the specification's schemas, \
                       because SPAR_SPEC_DIR is not set";
const NO_BROWSER: &str = "SKIPPED: the tests of the HTML report in a browser, \
                          because there is no Chromium on the PATH or in SPAR_CHROMIUM";

impl Settings {
    /// What is not at hand, a line for each kind of tests that need it.
    fn skipped(self) -> impl Iterator<Item = &'static str> {
        let lines = [(self.has_spec, NO_SPEC), (self.has_browser, NO_BROWSER)];
        lines.into_iter().filter(|(there, _)| !there).map(|(_, line)| line)
    }
}

/// Runs the stages in order and stops at the first that fails.
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
        // Some tests start examples as peers of their own, and the suites in
        // `examples` the servers beside them.
        run("cargo build --workspace --all-features --examples --bins")?;
        Containers::start(root, settings.ci)
    })?;
    stages.run("tests", || tests(root, settings, &peers, &containers))?;
    stages.run("conformance", || conformance::judge(root, &peers))?;
    stages.run("doc tests", || run("cargo test --workspace --all-features --doc"))?;
    stages.run("examples", || examples(root))?;
    stages.run("scratch", || scratch::run(root))?;
    stages.run("docs", || docs(root))?;
    stages.run("public API", || public_api::run(root, false))?;
    stages.run("tidy", || tidy::run(root))?;
    settings.skipped().for_each(|line| eprintln!("\n{line}"));
    peers.tell_skipped();
    containers.tell_skipped();
    stages.finish();
    Ok(())
}

/// What can be left out of the library, left out, and so out of the crates below it; the
/// stages around this one have all of it.
const FEATURES: [&str; 7] =
    ["", "mock", "http", "containers", "mock,http", "mock,oauth", "mock,llm"];

fn features(root: &Path) -> Result<()> {
    for features in FEATURES {
        let mut lint = command(root, "cargo clippy -p sparring --no-default-features");
        lint.args(["--features", features, "--", "-D", "warnings"]);
        run_command(lint)?;
    }
    // What is left out must not be passed over in silence.
    let line = "cargo test -p sparring-mock --no-default-features --lib load::absent";
    run_command(command(root, line))
}

fn tests(root: &Path, settings: Settings, peers: &Peers, containers: &Containers) -> Result<()> {
    // A runner hides what a passing test prints, so the tests' own words
    // about being skipped would go unread.
    for line in settings.skipped() {
        eprintln!("{line}");
        ensure!(!settings.ci, "with CI set no test may be skipped");
    }
    let line = if has_nextest() {
        "cargo nextest run --workspace --all-features"
    } else {
        "cargo test --workspace --all-features --lib --bins --tests"
    };
    let mut tests = command(root, line);
    tests.env(peers::FOLDER, &peers.folder);
    containers.tell_tests(&mut tests);
    run_command(tests)
}

/// Runs each example of the façade, which the tests have built; an example that
/// fails misleads its reader. The one that the official suite drives has been run
/// by it.
fn examples(root: &Path) -> Result<()> {
    let folder = root.join("crates/sparring/examples");
    if !folder.is_dir() {
        eprintln!("no examples yet");
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
        let mut built = Command::new(example(name)?);
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

/// Counts and times the stages of a run.
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
