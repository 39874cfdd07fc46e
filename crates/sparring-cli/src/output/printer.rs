//! The one place that writes: results to stdout, everything else to stderr.

use std::io::{self, Write as _};

use clap::ColorChoice;
use serde_json::Value;

use super::{Paint, failure, line};
use crate::args::Look;
use crate::exit::Exit;
use crate::failure::Failure;

/// The most of one line of the target's stderr, or of an error's data.
const LONGEST: usize = 500;

/// What the program stands in; only `main` looks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Surroundings {
    /// Whether stdout is a terminal that may be painted on.
    pub(crate) stdout: bool,
    /// Whether stderr is.
    pub(crate) stderr: bool,
    /// How many columns stdout has, where it is a terminal.
    pub(crate) width: Option<usize>,
}

/// Prints as the flags want it.
#[derive(Debug)]
pub(crate) struct Printer {
    json: bool,
    quiet: bool,
    out: Paint,
    err: Paint,
    width: Option<usize>,
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
            out: Paint::new(painted(surroundings.stdout)),
            err: Paint::new(painted(surroundings.stderr)),
            width: surroundings.width,
        }
    }

    /// Whether results are for a program.
    pub(crate) fn json(&self) -> bool {
        self.json
    }

    /// How results are painted.
    pub(crate) fn paint(&self) -> Paint {
        self.out
    }

    /// The columns there are, where that is known.
    pub(crate) fn width(&self) -> Option<usize> {
        self.width
    }

    /// Prints a result as it is.
    ///
    /// # Errors
    /// When nobody takes it.
    pub(crate) fn print(&self, text: &str) -> Result<(), Failure> {
        let mut stdout = io::stdout().lock();
        stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).map_err(Failure::Output)
    }

    /// Prints a result as one line of JSON.
    ///
    /// # Errors
    /// When nobody takes it.
    pub(crate) fn print_json(&self, value: &Value) -> Result<(), Failure> {
        self.print(&format!("{value}\n"))
    }

    /// Says what is worth knowing and changes nothing.
    pub(crate) fn note(&self, text: &str) {
        if !self.quiet {
            self.tell(&format!("{} {}\n", self.err.odd("note:"), line::clean(text)));
        }
    }

    /// Says what went wrong.
    pub(crate) fn error(&self, text: &str) {
        self.tell(&format!("{} {}\n", self.err.bad("error:"), line::clean(text)));
    }

    /// Says why there is no good result, with the end of the target's stderr,
    /// and what the exit code is.
    pub(crate) fn failure(&self, failure: &Failure, stderr: Option<&str>) -> Exit {
        if failure.is_silent() {
            return failure.exit();
        }
        let message = failure.to_string();
        self.error(&message);
        if let Failure::Request(error) = failure
            && let Some(data) = failure::data(error)
        {
            self.tell(&indented("data", &format!("{data:#}"), self.err));
        }
        if let Some(stderr) = stderr.filter(|text| !text.trim().is_empty()) {
            self.tell(&indented("stderr", stderr, self.err));
        }
        if self.json {
            // The exit code says the same to whoever does not read.
            let _ = self.print_json(&failure::object(failure, stderr));
        }
        failure.exit()
    }

    fn tell(&self, text: &str) {
        // There is nobody left to tell that stderr is closed.
        let _ = io::stderr().lock().write_all(text.as_bytes());
    }
}

fn indented(name: &str, text: &str, paint: Paint) -> String {
    let lines = text.trim_end().lines();
    let lines = lines.map(|line| format!("  {}\n", line::cut(line.trim_end(), LONGEST)));
    std::iter::once(format!("{}\n", paint.aside(&format!("{name}:")))).chain(lines).collect()
}
