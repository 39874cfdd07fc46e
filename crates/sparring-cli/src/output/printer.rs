//! The one place that writes: results to stdout, everything else to stderr.

use std::io;

use clap::ColorChoice;
use serde_json::Value;
use sparring_peer::Response;
use sparring_wire::Json;

use super::{Outlet, Paint, failure, line};
use crate::args::Look;
use crate::exit::Exit;
use crate::failure::Failure;

/// The most of one line of the target's stderr, or of an error's data.
const LONGEST: usize = 500;

/// What the program stands in; only `main` looks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Surroundings {
    /// Whether stdout is a terminal.
    pub(crate) terminal: bool,
    /// Whether stdout may be painted on.
    pub(crate) stdout: bool,
    /// Whether stderr may.
    pub(crate) stderr: bool,
    /// Whether stderr is a terminal on which lines can be erased.
    pub(crate) attended: bool,
    /// How many columns stdout has, where it is a terminal.
    pub(crate) width: Option<usize>,
}

/// Prints as the flags want it.
pub(crate) struct Printer {
    json: bool,
    quiet: bool,
    out: Paint,
    err: Paint,
    width: Option<usize>,
    terminal: bool,
    attended: bool,
    stdout: Outlet,
    stderr: Outlet,
}

impl Printer {
    pub(crate) fn new(look: &Look, surroundings: Surroundings) -> Self {
        let painted = |terminal| match look.color {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => terminal,
        };
        Printer {
            json: look.json,
            quiet: look.quiet,
            out: Paint::new(painted(surroundings.stdout), surroundings.terminal),
            err: Paint::new(painted(surroundings.stderr), true),
            width: surroundings.width,
            terminal: surroundings.terminal,
            attended: surroundings.attended,
            stdout: Outlet::new(io::stdout()),
            stderr: Outlet::new(io::stderr()),
        }
    }

    /// Whether results are for a program.
    pub(crate) fn json(&self) -> bool {
        self.json
    }

    /// Whether only what is needed is told.
    pub(crate) fn quiet(&self) -> bool {
        self.quiet
    }

    /// Whether results go to a terminal.
    pub(crate) fn is_terminal(&self) -> bool {
        self.terminal
    }

    /// Whether somebody sees what goes to stderr as it goes there.
    pub(crate) fn attended(&self) -> bool {
        self.attended
    }

    /// How results are painted.
    pub(crate) fn paint(&self) -> Paint {
        self.out
    }

    /// The columns there are, where that is known.
    pub(crate) fn width(&self) -> Option<usize> {
        self.width
    }

    /// Where everything but results goes.
    pub(crate) fn stderr(&self) -> &Outlet {
        &self.stderr
    }

    /// Prints text that may go to a terminal as it is.
    ///
    /// # Errors
    /// When nobody takes it.
    pub(crate) async fn print(&self, text: &str) -> Result<(), Failure> {
        self.stdout.write(text.as_bytes()).await.map_err(Failure::Output)
    }

    /// Prints what is the target's own: byte for byte, but for a terminal,
    /// which it could otherwise make do anything.
    ///
    /// # Errors
    /// When nobody takes it.
    pub(crate) async fn print_foreign(&self, bytes: &[u8]) -> Result<(), Failure> {
        match self.terminal {
            true => self.print(&line::visible(bytes)).await,
            false => self.stdout.write(bytes).await.map_err(Failure::Output),
        }
    }

    /// Prints a result as the target spelled it, in one line.
    ///
    /// # Errors
    /// When nobody takes it.
    pub(crate) async fn print_result(&self, response: &Response) -> Result<(), Failure> {
        let result = response.result().map(Json::bytes).unwrap_or_default();
        self.print_foreign(&[result, b"\n"].concat()).await
    }

    /// Prints a value as one line of JSON.
    ///
    /// # Errors
    /// When nobody takes it.
    pub(crate) async fn print_json(&self, value: &Value) -> Result<(), Failure> {
        self.print(&format!("{value}\n")).await
    }

    /// Says what is for whoever reads stderr as a program, as it is.
    pub(crate) async fn remark(&self, text: &str) {
        self.tell(text).await;
    }

    /// Shows something that is erased again.
    pub(crate) async fn status(&self, text: &str) {
        self.tell(text).await;
    }

    /// Says what is worth knowing and changes nothing.
    pub(crate) async fn note(&self, text: &str) {
        if !self.quiet {
            self.tell(&format!("{} {}\n", self.err.odd("note:"), line::clean(text))).await;
        }
    }

    /// Shows what somebody is to know before they are asked, over several lines.
    pub(crate) async fn notice(&self, text: &str) {
        self.tell(text).await;
    }

    /// Says what went wrong.
    pub(crate) async fn error(&self, text: &str) {
        self.tell(&format!("{} {}\n", self.err.bad("error:"), line::clean(text))).await;
    }

    /// Says why there is no good result, with what the target said beside it,
    /// and what the exit code is.
    pub(crate) async fn failure(&self, failure: &Failure, stderr: Option<&str>) -> Exit {
        if failure.is_silent() {
            return failure.exit();
        }
        self.trouble(failure).await;
        if let Failure::Request(error) = failure
            && let Some(data) = failure::data(error)
        {
            self.tell(&indented("data", &format!("{data:#}"), self.err)).await;
        }
        if let Some((_, body)) = failure.http().filter(|(_, body)| !body.trim().is_empty()) {
            self.tell(&indented("body", body, self.err)).await;
        }
        if let Some(stderr) = stderr.filter(|text| !text.trim().is_empty()) {
            self.tell(&indented("stderr", stderr, self.err)).await;
        }
        if self.json {
            // The exit code says the same to whoever does not read.
            let _ = self.print_json(&failure::object(failure, stderr)).await;
        }
        failure.exit()
    }

    /// Says what went wrong and ends nothing.
    pub(crate) async fn trouble(&self, failure: &Failure) {
        match failure {
            Failure::Script(files) => {
                let shown = files.iter().map(|problems| problems.shown(self.err.is_on()));
                self.tell(&format!("{}\n", shown.collect::<Vec<_>>().join("\n\n"))).await;
            }
            failure => self.error(&failure.to_string()).await,
        }
    }

    /// Writes so much to stderr that whoever does not read it will notice.
    pub(crate) fn flood(&self, bytes: usize) {
        let line = b"noise on stderr, as the script says\n";
        let flood: Vec<u8> = line.iter().copied().cycle().take(bytes).collect();
        self.stderr.queue(&flood);
    }

    async fn tell(&self, text: &str) {
        // There is nobody left to tell that stderr is closed.
        let _ = self.stderr.write(text.as_bytes()).await;
    }
}

fn indented(name: &str, text: &str, paint: Paint) -> String {
    let lines = text.trim_end().lines();
    let lines =
        lines.map(|line| format!("  {}\n", line::cut(line::clean(line).trim_end(), LONGEST)));
    std::iter::once(format!("{}\n", paint.aside(&format!("{name}:")))).chain(lines).collect()
}
