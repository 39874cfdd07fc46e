//! The suite judges our server: `spar mock examples/conformance.mock.yaml`, one
//! script and nothing else, held against all that each revision requires.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result, ensure};

use super::required::{self, Outcomes};
use super::suite::Suite;

/// The script, from the root of the repository on.
const SCRIPT: &str = "examples/conformance.mock.yaml";

/// Judges the server, whose program is built.
pub(super) fn run(suite: &Suite) -> Result<Outcomes> {
    // One for each revision: what the last one left behind must not help.
    let mut mock = None;
    required::run(|revision| {
        let mock = mock.insert(Mock::start()?);
        Ok(suite.command(&["server", "--url", &mock.url, "--requirements", revision]))
    })
}

/// The mock, for as long as it is kept.
struct Mock {
    child: Child,
    url: String,
}

impl Mock {
    fn start() -> Result<Self> {
        let own = std::env::current_exe().context("looking for our own program")?;
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(SCRIPT);
        let mut command = Command::new(own.with_file_name("spar"));
        command.arg("mock").arg(script).args(["--http", "127.0.0.1:0"]).stdout(Stdio::piped());
        let child = command.spawn().context("starting spar mock")?;
        let mut mock = Mock { child, url: String::new() };
        let stdout = mock.child.stdout.take().context("spar mock has a stdout")?;
        BufReader::new(stdout).read_line(&mut mock.url).context("reading its URL")?;
        ensure!(mock.url.starts_with("http://"), "spar mock gave no URL");
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
