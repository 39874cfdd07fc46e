//! `cargo xtask agents`: runs the suites in `examples/agents` with the real agents.
//!
//! Each agent has a folder with the versions of its packages. They are installed below
//! `target/agents`, beside a copy of the folder, because programs of npm find their
//! packages only beside themselves.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail, ensure};

use crate::command::{command, print_command, run as run_command};
use crate::peers::packages;

mod table;

use table::Table;

/// The variable with the folder of the agents, for the tests.
pub(crate) const FOLDER_VARIABLE: &str = "SPAR_AGENTS_DIR";

/// The agents that are fast enough for `cargo xtask test`.
const LIGHT: [&str; 2] = ["openai-agents", "vercel-ai"];

/// Runs a shell without a network besides loopback, and ends all its processes with it; Linux
/// only.
const ISOLATED: &str = "unshare --user --map-root-user --net --pid --fork --kill-child \
                        --mount-proc sh -c";

/// The suites and the installation of all agents.
struct Agents {
    examples: PathBuf,
    /// The folder of the installations.
    folder: PathBuf,
}

/// Installs one agent or all, and runs their suites.
#[expect(clippy::print_stdout, reason = "the table is the output")]
pub(crate) fn run(root: &Path, only: Option<&str>) -> Result<()> {
    let agents = Agents::new(root);
    let names = agents.names()?;
    let selected: Vec<&String> =
        names.iter().filter(|name| only.is_none_or(|only| only == *name)).collect();
    ensure!(!selected.is_empty(), "no such agent; available: {}", names.join(", "));
    run_command(command(root, "cargo build -p sparring-cli --all-features --bins"))?;
    let spar = std::env::current_exe().context("cannot find the path of xtask")?;
    let spar = spar.with_file_name(format!("spar{}", std::env::consts::EXE_SUFFIX));
    let isolated = can_isolate(root);
    if !isolated {
        eprintln!("note: the agents can use the network, because `unshare` does not work");
    }
    let mut table = Table::default();
    for name in selected {
        if let Err(error) = agents.install(name) {
            eprintln!("{name} cannot be installed: {error:#}");
            table.add_missing(name);
            continue;
        }
        for suite in agents.suites(name)? {
            agents.run_suite(&spar, &suite, isolated, &mut table)?;
        }
    }
    print!("{table}");
    ensure!(table.all_passed(), "some suites failed");
    Ok(())
}

/// Returns true if this machine can run an agent without a network besides loopback.
fn can_isolate(root: &Path) -> bool {
    let mut isolated = command(root, ISOLATED);
    isolated.arg("ip link set lo up").stdout(Stdio::null()).stderr(Stdio::null());
    isolated.status().is_ok_and(|status| status.success())
}

/// Returns the folder of the installed agents.
pub(crate) fn folder(root: &Path) -> PathBuf {
    root.join("target/agents")
}

/// Installs the agents that are fast enough for `cargo xtask test`.
pub(crate) fn install_light(root: &Path) -> Result<()> {
    let agents = Agents::new(root);
    LIGHT.iter().try_for_each(|name| agents.install(name))
}

impl Agents {
    fn new(root: &Path) -> Self {
        Self { examples: root.join("examples/agents"), folder: folder(root) }
    }

    /// Returns the names of all agents.
    fn names(&self) -> Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in read_folder(&self.examples)? {
            if entry.is_dir() {
                names.extend(entry.file_name().map(|name| name.display().to_string()));
            }
        }
        Ok(names)
    }

    /// Installs the packages of an agent, and copies its files and the shared files.
    fn install(&self, name: &str) -> Result<()> {
        let (source, folder) = (self.examples.join(name), self.folder.join(name));
        let package = source.join("package.json");
        let requirements = source.join("requirements.txt");
        if package.exists() {
            packages::install_npm(&package, &folder)?;
        } else if requirements.exists() {
            packages::install_python(&requirements, &folder.join(".venv"))?;
        } else {
            bail!("{} has neither package.json nor requirements.txt", source.display());
        }
        copy_files(&self.examples, &self.folder)?;
        copy_files(&source, &folder)
    }

    /// Returns the copies of an agent's suites.
    fn suites(&self, name: &str) -> Result<Vec<PathBuf>> {
        let files = read_folder(&self.examples.join(name))?.into_iter();
        let names = files.filter_map(|file| Some(file.file_name()?.to_owned()));
        let is_suite = |name: &OsString| name.to_string_lossy().ends_with(".spar.yaml");
        Ok(names.filter(is_suite).map(|suite| self.folder.join(name).join(suite)).collect())
    }

    /// Runs a suite and adds its results to the table.
    fn run_suite(
        &self,
        spar: &Path,
        suite: &Path,
        isolated: bool,
        table: &mut Table,
    ) -> Result<()> {
        let label = suite.strip_prefix(&self.folder).unwrap_or(suite).display().to_string();
        let report = suite.with_extension("report.json");
        if report.exists() {
            // The report of an earlier run must not pass for one of this run.
            fs::remove_file(&report).with_context(|| format!("removing {}", report.display()))?;
        }
        let mut test = match isolated {
            true => {
                let mut test = command(&self.folder, ISOLATED);
                test.args(["ip link set lo up && exec \"$@\"", "sh"]).arg(spar);
                test
            }
            false => {
                let mut test = Command::new(spar);
                test.current_dir(&self.folder);
                test
            }
        };
        test.arg("test").arg(suite).arg("--report").arg(format!("json={}", report.display()));
        test.env("PATH", search_path(suite.parent().unwrap_or(&self.folder))?);
        print_command(&test);
        let status = test.status().context("cannot start spar")?;
        let written = fs::read(&report).with_context(|| format!("{label}: spar {status}"))?;
        table.add(&label, &written)
    }
}

/// Returns the PATH with the programs of the agent's packages first, such as a Node of theirs.
fn search_path(folder: &Path) -> Result<OsString> {
    let inherited = std::env::var_os("PATH").unwrap_or_default();
    let own = std::iter::once(folder.join("node_modules/.bin"));
    let folders = own.chain(std::env::split_paths(&inherited));
    std::env::join_paths(folders).context("cannot extend PATH")
}

/// Copies the files of a folder, without its folders.
fn copy_files(from: &Path, to: &Path) -> Result<()> {
    for file in read_folder(from)?.iter().filter(|path| path.is_file()) {
        let copy = to.join(file.file_name().unwrap_or_default());
        fs::copy(file, &copy).with_context(|| format!("copying {}", file.display()))?;
    }
    Ok(())
}

/// Returns the paths in a folder, in order.
fn read_folder(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))?;
    let mut paths =
        entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>, std::io::Error>>()?;
    paths.sort();
    Ok(paths)
}
