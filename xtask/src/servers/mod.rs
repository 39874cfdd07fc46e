//! `cargo xtask servers`: checks real servers with `spar check`.
//!
//! The versions of the servers are in `xtask/servers`. They are installed below
//! `target/servers`. `xtask/servers/accepted` has the findings that are true, each with its
//! reason; any other finding fails.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};

use crate::command::{command, print_command, run as run_command};
use crate::peers::packages;

mod list;

use list::{Packages, RealServer, SERVERS};

/// The result of checking one server.
struct Checked {
    name: &'static str,
    last_line: String,
    is_clean: bool,
    took: Duration,
}

/// Returns the names of all servers.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    SERVERS.iter().map(|server| server.name)
}

/// Installs the servers, and checks one or all of them. With `accept`, it adds the present
/// findings to the accepted ones and removes those that are gone.
#[expect(clippy::print_stdout, reason = "the table is the output")]
pub(crate) fn run(root: &Path, only: Option<&str>, accept: bool) -> Result<()> {
    let installation = Installation { root: root.to_owned(), accept };
    let selected = SERVERS.iter().filter(|server| only.is_none_or(|only| only == server.name));
    let selected: Vec<&RealServer> = selected.collect();
    installation.install(&selected)?;
    run_command(command(
        root,
        "cargo build -p sparring-cli -p sparring-transport --all-features --bins --examples",
    ))?;
    let mut results = Vec::new();
    for server in selected {
        results.push(installation.check(server)?);
    }
    let width = results.iter().map(|it| it.name.len()).max().unwrap_or_default();
    for Checked { name, last_line, is_clean, took } in &results {
        let state = if *is_clean { "good" } else { "BAD " };
        println!("{state}  {name:width$}  {:>6.1}s  {last_line}", took.as_secs_f64());
    }
    ensure!(results.iter().all(|it| it.is_clean), "some servers have new findings");
    Ok(())
}

/// The servers below `target/servers`.
struct Installation {
    root: PathBuf,
    accept: bool,
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

    /// Checks a server in all its revisions, in a new working folder.
    fn check(&self, server: &RealServer) -> Result<Checked> {
        let work = self.root.join("target/servers/work").join(server.name);
        if work.exists() {
            fs::remove_dir_all(&work).with_context(|| format!("removing {}", work.display()))?;
        }
        fs::create_dir_all(&work).with_context(|| format!("creating {}", work.display()))?;
        fs::write(work.join("note.txt"), "water the plants\n").context("writing note.txt")?;
        let mut init = command(&work, "git init --quiet");
        init.stdout(Stdio::null());
        run_command(init)?;
        let own = std::env::current_exe().context("cannot find the path of xtask")?;
        let mut check = Command::new(own.with_file_name("spar"));
        check.current_dir(&work).arg("check").args(server.flags);
        let folder = self.root.join("xtask/servers/accepted");
        let accepted = folder.join(server.name).with_extension("yaml");
        if accepted.exists() || self.accept {
            check.arg("--baseline").arg(&accepted);
        }
        if self.accept {
            fs::create_dir_all(&folder)
                .with_context(|| format!("creating {}", folder.display()))?;
            check.arg("--accept");
        }
        check.args(["--strict", "--timeout", "60s"]);
        for (name, value) in server.variables {
            check.arg("--env").arg(format!("{name}={}", self.replace(server, &work, value)));
        }
        check.arg("--").args(self.server_command(server, &work));
        print_command(&check);
        let began = Instant::now();
        let output = check.output().context("cannot start spar")?;
        let took = began.elapsed();
        let text = [output.stdout.as_slice(), b"\n", &output.stderr].concat();
        let report = work.with_extension("txt");
        fs::write(&report, &text).with_context(|| format!("writing {}", report.display()))?;
        let is_clean = output.status.success();
        if !is_clean {
            eprintln!("{}", String::from_utf8_lossy(&text));
        }
        let text = String::from_utf8_lossy(&output.stdout);
        let last_line = text.lines().last().unwrap_or("no report").to_owned();
        Ok(Checked { name: server.name, last_line, is_clean, took })
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

/// Copies the files of a folder.
fn copy_files(from: &Path, to: &Path) -> Result<()> {
    for entry in fs::read_dir(from).with_context(|| format!("reading {}", from.display()))? {
        let file = entry?.path();
        let copy = to.join(file.file_name().unwrap_or_default());
        fs::copy(&file, &copy).with_context(|| format!("copying {}", file.display()))?;
    }
    Ok(())
}
