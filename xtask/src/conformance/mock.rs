//! `spar mock` over HTTP, which the suite judges.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result, ensure};

/// The mock, for as long as it is kept.
pub(super) struct Mock {
    child: Child,
    pub(super) url: String,
}

impl Mock {
    /// Serves a script, which is named from the root of the repository on.
    pub(super) fn start(script: &str) -> Result<Self> {
        let own = std::env::current_exe().context("looking for our own program")?;
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(script);
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
