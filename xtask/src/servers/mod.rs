//! `cargo xtask servers`: checks real servers with `spar check`, or writes and runs suites for
//! them.
//!
//! The versions of the servers are in `xtask/servers`. They are installed below
//! `target/servers`. `xtask/servers/accepted` has the findings that are true, each with its
//! reason; any other finding fails.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};

use crate::command::{command, print_command, run as run_command};
use crate::peers::packages;

mod list;
mod suites;

use list::{Packages, RealServer, SERVERS};

/// The timeout of `spar`: some servers start slowly.
const TIMEOUT: &str = "60s";

/// The work to do with the servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Task {
    /// Check them against the accepted findings.
    Check,
    /// Check them, add the present findings to the accepted ones, and remove those that are
    /// gone.
    Accept,
    /// Write suites and run them.
    Suites,
}

/// A row of the result.
struct Outcome {
    name: String,
    result: String,
    is_good: bool,
    took: Duration,
}

/// Returns the names of all servers.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    SERVERS.iter().map(|server| server.name)
}

/// Installs one or all servers, does the task with each, and prints the results.
#[expect(clippy::print_stdout, reason = "the table is the output")]
pub(crate) fn run(root: &Path, only: Option<&str>, task: Task) -> Result<()> {
    let installation = Installation { root: root.to_owned() };
    let selected = SERVERS.iter().filter(|server| only.is_none_or(|only| only == server.name));
    let selected: Vec<&'static RealServer> = selected.collect();
    installation.install(&selected)?;
    run_command(command(
        root,
        "cargo build -p sparring-cli -p sparring-transport --all-features --bins --examples",
    ))?;
    let mut outcomes = Vec::new();
    for server in selected {
        match task {
            Task::Check | Task::Accept => {
                outcomes.push(installation.check(server, task == Task::Accept)?);
            }
            Task::Suites => outcomes.extend(installation.run_suites(server)?),
        }
    }
    let width = outcomes.iter().map(|it| it.name.len()).max().unwrap_or_default();
    for Outcome { name, result, is_good, took } in &outcomes {
        let state = if *is_good { "good" } else { "BAD " };
        println!("{state}  {name:width$}  {:>6.1}s  {result}", took.as_secs_f64());
    }
    ensure!(outcomes.iter().all(|it| it.is_good), "some servers have unexpected results");
    Ok(())
}

/// The servers below `target/servers`.
struct Installation {
    root: PathBuf,
}

impl Installation {
    fn folder(&self, packages: Packages) -> PathBuf {
        self.root.join("target/servers").join(packages.folder())
    }

    /// Installs the packages of these servers, and copies the servers of our own beside them.
    fn install(&self, servers: &[&RealServer]) -> Result<()> {
        let sources = self.root.join("xtask/servers");
        for packages in Packages::ALL {
            if !servers.iter().any(|server| server.packages == packages) {
                continue;
            }
            let (source, folder) = (sources.join(packages.folder()), self.folder(packages));
            match packages {
                Packages::Node => packages::install_npm(&source.join("package.json"), &folder)?,
                Packages::Python | Packages::PythonSdk1 => {
                    packages::install_python(&source.join("requirements.txt"), &folder)?;
                }
                Packages::Rust => continue,
            }
            copy_files(&sources.join("own"), &folder)?;
        }
        Ok(())
    }

    /// Checks a server in all its revisions.
    fn check(&self, server: &RealServer, accept: bool) -> Result<Outcome> {
        let work = self.create_work_folder(server)?;
        let mut check = self.spar(&work, &["check", "--strict"])?;
        check.args(server.flags);
        let folder = self.root.join("xtask/servers/accepted");
        let accepted = folder.join(server.name).with_extension("yaml");
        if accepted.exists() || accept {
            check.arg("--baseline").arg(&accepted);
        }
        if accept {
            fs::create_dir_all(&folder)
                .with_context(|| format!("creating {}", folder.display()))?;
            check.arg("--accept");
        }
        let began = Instant::now();
        let output = self.run_on(server, &work, check)?;
        let took = began.elapsed();
        let text = [output.stdout.as_slice(), b"\n", &output.stderr].concat();
        let report = work.with_extension("txt");
        fs::write(&report, &text).with_context(|| format!("writing {}", report.display()))?;
        let is_good = output.status.success();
        if !is_good {
            eprintln!("{}", String::from_utf8_lossy(&text));
        }
        let text = String::from_utf8_lossy(&output.stdout);
        let result = text.lines().last().unwrap_or("no report").to_owned();
        Ok(Outcome { name: server.name.to_owned(), result, is_good, took })
    }

    /// Creates a new working folder for a server, with a file and a git repository.
    fn create_work_folder(&self, server: &RealServer) -> Result<PathBuf> {
        let work = self.root.join("target/servers/work").join(server.name);
        if work.exists() {
            fs::remove_dir_all(&work).with_context(|| format!("removing {}", work.display()))?;
        }
        fs::create_dir_all(&work).with_context(|| format!("creating {}", work.display()))?;
        fs::write(work.join("note.txt"), "water the plants\n").context("writing note.txt")?;
        let mut init = command(&work, "git init --quiet");
        init.stdout(Stdio::null());
        run_command(init)?;
        Ok(work)
    }

    /// Returns a command of `spar` in a working folder.
    fn spar(&self, work: &Path, words: &[&str]) -> Result<Command> {
        let own = std::env::current_exe().context("cannot find the path of xtask")?;
        let mut spar = Command::new(own.with_file_name("spar"));
        spar.current_dir(work).args(words);
        Ok(spar)
    }

    /// Adds a server to a command of `spar`, and runs the command.
    fn run_on(&self, server: &RealServer, work: &Path, mut spar: Command) -> Result<Output> {
        spar.args(["--timeout", TIMEOUT]);
        for (name, value) in server.variables {
            spar.arg("--env").arg(format!("{name}={}", self.replace(server, work, value)));
        }
        spar.arg("--").args(self.server_command(server, work));
        run_spar(spar)
    }

    /// Returns the command of a server, with the paths of this machine.
    fn server_command(&self, server: &RealServer, work: &Path) -> Vec<String> {
        server.command.iter().map(|word| self.replace(server, work, word)).collect()
    }

    /// Returns a word with the paths of this machine.
    fn replace(&self, server: &RealServer, work: &Path, word: &str) -> String {
        let packages = self.folder(server.packages);
        let examples = self.root.join("target/debug/examples");
        let word = word.replace("{packages}", &packages.display().to_string());
        let word = word.replace("{work}", &work.display().to_string());
        word.replace("{examples}", &examples.display().to_string())
    }
}

fn run_spar(mut spar: Command) -> Result<Output> {
    print_command(&spar);
    spar.output().context("cannot start spar")
}

/// Copies the files of a folder.
fn copy_files(from: &Path, to: &Path) -> Result<()> {
    for entry in fs::read_dir(from).with_context(|| format!("reading {}", from.display()))? {
        let file = entry?.path();
        let copy = to.join(file.file_name().unwrap_or_default());
        fs::copy(&file, &copy).with_context(|| format!("copying {}", file.display()))?;
    }
    Ok(())
}
