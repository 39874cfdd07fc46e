//! Runs the requirements of servers on our server: `spar mock
//! examples/conformance.mock.yaml`.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result, ensure};

use super::requirements::{self, Outcomes};
use super::suite::Suite;

/// The script, relative to the repository.
const SCRIPT: &str = "examples/conformance.mock.yaml";

/// Runs the suite on the server; `spar` must be built.
pub(super) fn run(suite: &Suite) -> Result<Outcomes> {
    // Each revision gets a new mock, so that it does not depend on earlier state.
    let mut mock = None;
    requirements::run(|revision| {
        let mock = mock.insert(Mock::start(SCRIPT)?);
        let args = ["server", "--url", &mock.url, "--requirements", revision];
        Suite::run(suite.command(&args))
    })
}

/// A running `spar mock` over HTTP; dropping it stops it.
pub(super) struct Mock {
    child: Child,
    pub(super) url: String,
}

impl Mock {
    /// Serves a script, whose path is relative to the repository.
    pub(super) fn start(script: &str) -> Result<Self> {
        let own = std::env::current_exe().context("cannot find the path of xtask")?;
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(script);
        let mut command = Command::new(own.with_file_name("spar"));
        command.arg("mock").arg(script).args(["--http", "127.0.0.1:0"]).stdout(Stdio::piped());
        let child = command.spawn().context("starting spar mock")?;
        let mut mock = Mock { child, url: String::new() };
        let stdout = mock.child.stdout.take().context("spar mock has a stdout")?;
        BufReader::new(stdout).read_line(&mut mock.url).context("reading the URL of spar mock")?;
        ensure!(mock.url.starts_with("http://"), "spar mock printed no URL");
        mock.url.truncate(mock.url.trim_end().len());
        Ok(mock)
    }
}

impl Drop for Mock {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
