//! Runs the suite on our authorization server: the issuer of
//! `spar mock examples/issuer.mock.yaml`. The suite prints the URL of the login page,
//! and this module opens it and follows its redirects.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::{Child, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};

use super::requirements::{self, Outcomes};
use super::server::Mock;
use super::suite::Suite;

/// The script, relative to the repository.
const SCRIPT: &str = "examples/issuer.mock.yaml";

/// The client id of the script that the suite uses.
const CLIENT: &str = "desk";

/// Scenarios that the suite must have, so that a lost one is noticed.
const KNOWN_SCENARIOS: [&str; 2] =
    ["authorization-code-grant", "authorization-server-metadata-endpoint"];

const READ_TIMEOUT: Duration = Duration::from_secs(10);

const MAX_REDIRECTS: usize = 5;

/// Runs the suite on the issuer; `spar` must be built.
pub(super) fn run(suite: &Suite) -> Result<Outcomes> {
    let mut mock = None;
    let outcomes = requirements::run(|revision| {
        let mock = mock.insert(Mock::start(SCRIPT)?);
        run_scenarios(suite, mock, revision)
    })?;
    for scenario in KNOWN_SCENARIOS {
        ensure!(outcomes.contains_key(scenario), "the suite no longer has the scenario {scenario}");
    }
    Ok(outcomes)
}

fn run_scenarios(suite: &Suite, mock: &Mock, revision: &str) -> Result<(bool, String)> {
    let issuer =
        mock.url.strip_suffix("/mcp").context("the URL of the mock does not end with /mcp")?;
    let port = free_port()?.to_string();
    let args = ["authorization", "--url", issuer, "--client-id", CLIENT, "--port", &port];
    let mut command = suite.command(&args);
    command.args(["--spec-version", revision]).stdout(Stdio::piped());
    let mut child = command.spawn().context("starting the suite")?;
    let output = log_in(&mut child, issuer);
    if output.is_err() {
        // The suite would wait for the login.
        let _ = child.kill();
    }
    let status = child.wait().context("waiting for the suite")?;
    let output = output?;
    // The suite counts a skipped scenario as a success.
    Ok((status.success() && !output.contains(": 0 passed"), output))
}

/// Logs in at the URL that the suite prints, and returns the output of the suite.
fn log_in(child: &mut Child, issuer: &str) -> Result<String> {
    let stdout = child.stdout.take().context("the suite has a stdout")?;
    let (mut output, mut page, mut is_listening) = (String::new(), None, false);
    for line in BufReader::new(stdout).lines() {
        let line = line.context("reading the output of the suite")?;
        is_listening |= line.starts_with("Callback server started");
        if line.starts_with(&format!("{issuer}/authorize?")) {
            page = Some(line.clone());
        }
        // The suite may print the URL before its callback server listens.
        if let Some(page) = page.take_if(|_| is_listening) {
            follow_redirects(&page)?;
        }
        output.push_str(&line);
        output.push('\n');
    }
    Ok(output)
}

fn free_port() -> Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("finding a free port")?;
    Ok(listener.local_addr().context("finding a free port")?.port())
}

/// Opens a page and follows its redirects.
fn follow_redirects(page: &str) -> Result<()> {
    let mut next = page.to_owned();
    for _ in 0..MAX_REDIRECTS {
        match get_redirect(&next)? {
            Some(location) => next = location,
            None => return Ok(()),
        }
    }
    anyhow::bail!("{page} redirects more than {MAX_REDIRECTS} times");
}

/// Gets a URL and returns the location of its redirect, if it has one.
fn get_redirect(url: &str) -> Result<Option<String>> {
    let rest = url.strip_prefix("http://").with_context(|| format!("{url} is not http"))?;
    let (host, path) = rest.split_once('/').with_context(|| format!("{url} has no path"))?;
    let mut stream = TcpStream::connect(host).with_context(|| format!("connecting to {url}"))?;
    stream.set_read_timeout(Some(READ_TIMEOUT))?;
    let head = format!("GET /{path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
    stream.write_all(head.as_bytes())?;
    let mut response = Vec::new();
    stream.read_to_end(&mut response).with_context(|| format!("reading {url}"))?;
    let response = String::from_utf8_lossy(&response);
    let head = response.lines().take_while(|line| !line.is_empty());
    let location = head.filter_map(|line| line.split_once(": "));
    let location = location.filter(|(name, _)| name.eq_ignore_ascii_case("location"));
    Ok(location.map(|(_, value)| value.to_owned()).next())
}
