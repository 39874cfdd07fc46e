//! The suite judges our authorization server: the issuer of
//! `spar mock examples/issuer.mock.yaml`. The suite prints the page at which
//! somebody is to log in, and a browser of ours goes there and back.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::{Child, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};

use super::mock::Mock;
use super::required::{self, Outcomes};
use super::suite::Suite;

/// The script, from the root of the repository on.
const SCRIPT: &str = "examples/issuer.mock.yaml";

/// The client of the script that the suite says to be.
const CLIENT: &str = "desk";

/// What must be among the scenarios; fewer would pass unnoticed.
const KNOWN: [&str; 2] = ["authorization-code-grant", "authorization-server-metadata-endpoint"];

/// How long a page may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// How often a browser is sent on.
const MOST: usize = 5;

/// Judges the issuer, whose program is built.
pub(super) fn run(suite: &Suite) -> Result<Outcomes> {
    let mut mock = None;
    let outcomes = required::run(|revision| {
        let mock = mock.insert(Mock::start(SCRIPT)?);
        judge(suite, mock, revision)
    })?;
    for scenario in KNOWN {
        ensure!(outcomes.contains_key(scenario), "the suite does not have {scenario} any more");
    }
    Ok(outcomes)
}

fn judge(suite: &Suite, mock: &Mock, revision: &str) -> Result<(bool, String)> {
    let issuer = mock.url.strip_suffix("/mcp").context("the mock is not at /mcp")?;
    let port = free_port()?.to_string();
    let args = ["authorization", "--url", issuer, "--client-id", CLIENT, "--port", &port];
    let mut command = suite.command(&args);
    command.args(["--spec-version", revision]).stdout(Stdio::piped());
    let mut child = command.spawn().context("starting the suite")?;
    let said = log_in(&mut child, issuer);
    if said.is_err() {
        // It would wait for somebody who does not come.
        let _ = child.kill();
    }
    let status = child.wait().context("waiting for the suite")?;
    let said = said?;
    // A scenario that is skipped is a success for the suite.
    Ok((status.success() && !said.contains(": 0 passed"), said))
}

/// Logs in where the suite wants it, and gives all that it said.
fn log_in(child: &mut Child, issuer: &str) -> Result<String> {
    let stdout = child.stdout.take().context("the suite has a stdout")?;
    let (mut said, mut page, mut listens) = (String::new(), None, false);
    for line in BufReader::new(stdout).lines() {
        let line = line.context("reading what the suite says")?;
        listens |= line.starts_with("Callback server started");
        if line.starts_with(&format!("{issuer}/authorize?")) {
            page = Some(line.clone());
        }
        // It may print the page before anybody can come back from it.
        if let Some(page) = page.take_if(|_| listens) {
            browse(&page)?;
        }
        said.push_str(&line);
        said.push('\n');
    }
    Ok(said)
}

fn free_port() -> Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("looking for a port")?;
    Ok(listener.local_addr().context("looking for a port")?.port())
}

/// Opens a page, and goes where it is sent.
fn browse(page: &str) -> Result<()> {
    let mut next = page.to_owned();
    for _ in 0..MOST {
        match visit(&next)? {
            Some(location) => next = location,
            None => return Ok(()),
        }
    }
    anyhow::bail!("{page} sends a browser on and on");
}

fn visit(url: &str) -> Result<Option<String>> {
    let rest = url.strip_prefix("http://").with_context(|| format!("{url} is not http"))?;
    let (host, path) = rest.split_once('/').with_context(|| format!("{url} has no path"))?;
    let mut stream = TcpStream::connect(host).with_context(|| format!("visiting {url}"))?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let head = format!("GET /{path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
    stream.write_all(head.as_bytes())?;
    let mut said = Vec::new();
    stream.read_to_end(&mut said).with_context(|| format!("reading {url}"))?;
    let said = String::from_utf8_lossy(&said);
    let head = said.lines().take_while(|line| !line.is_empty());
    let location = head.filter_map(|line| line.split_once(": "));
    let location = location.filter(|(name, _)| name.eq_ignore_ascii_case("location"));
    Ok(location.map(|(_, value)| value.to_owned()).next())
}
