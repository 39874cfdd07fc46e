//! Writes all output: results to stdout, everything else to stderr.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use clap::ColorChoice;
use serde_json::{Value, json};
use sparring_peer::Response;
use sparring_peer::client::Error;
use sparring_transport::Secrets;
use sparring_wire::Json;

use super::text_cleaner::{TextCleaner, clean_json, clean_text};
use super::{Paint, StreamWriter, ThreadedWriter, line};
use crate::args::OutputFlags;
use crate::command_error::CommandError;
use crate::exit::Exit;

/// Maximum length of one line of the target's stderr, or of an error's data.
const MAX_COLUMNS: usize = 500;

/// The columns of a terminal that does not report them.
const DEFAULT_COLUMNS: usize = 80;

/// Moves to the beginning of the line and erases it.
const ERASE_LINE: &str = "\r\x1b[2K";

/// The properties of stdout and stderr, which `main` reads.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TerminalInfo {
    /// True if stdout is a terminal.
    pub(crate) stdout_is_terminal: bool,
    /// True if stdout supports colours.
    pub(crate) stdout_colors: bool,
    /// True if stderr is a terminal.
    pub(crate) stderr_is_terminal: bool,
    /// True if stderr supports colours.
    pub(crate) stderr_colors: bool,
    /// True if stderr is a terminal on which lines can be erased.
    pub(crate) can_erase_lines: bool,
    /// The columns of stdout, if it is a terminal.
    pub(crate) width: Option<usize>,
    /// The columns of stderr, if it is a terminal.
    pub(crate) stderr_width: Option<usize>,
}

/// Prints in the way that the flags select.
#[derive(Clone)]
pub(crate) struct Printer {
    json: bool,
    quiet: bool,
    /// True if the text of targets is not cleaned.
    raw: bool,
    out: Paint,
    err: Paint,
    width: Option<usize>,
    stderr_width: Option<usize>,
    stdout_is_terminal: bool,
    stderr_is_terminal: bool,
    can_erase_lines: bool,
    stdout: ThreadedWriter,
    stderr: ThreadedWriter,
    status: Arc<Mutex<StatusLine>>,
}

/// The last line of the terminal, which shows the progress of a request until anything else
/// is printed.
#[derive(Default)]
struct StatusLine {
    /// True if it is on the terminal.
    is_shown: bool,
    /// True while a question is open, which it must not overwrite.
    is_held: bool,
}

/// Keeps the status line off the terminal while a question is open. If it is dropped before
/// the answer, it ends the line of the question.
pub(crate) struct OpenQuestion<'a> {
    printer: &'a Printer,
    is_answered: bool,
}

impl Printer {
    pub(crate) fn new(flags: &OutputFlags, terminal: TerminalInfo, secrets: &Secrets) -> Self {
        let colors = |supported| match flags.color {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => supported,
        };
        Printer {
            json: flags.json,
            quiet: flags.quiet,
            raw: false,
            out: Paint::new(colors(terminal.stdout_colors), terminal.stdout_is_terminal),
            err: Paint::new(colors(terminal.stderr_colors), true),
            width: terminal.width,
            stderr_width: terminal.stderr_width,
            stdout_is_terminal: terminal.stdout_is_terminal,
            stderr_is_terminal: terminal.stderr_is_terminal,
            can_erase_lines: terminal.can_erase_lines,
            stdout: ThreadedWriter::new(io::stdout(), secrets),
            stderr: ThreadedWriter::new(io::stderr(), secrets),
            status: Arc::default(),
        }
    }

    /// Prints the text of targets as it is, without cleaning it.
    pub(crate) fn with_raw_text(&self, raw: bool) -> Printer {
        let out = if raw { self.out.for_programs() } else { self.out };
        Printer { raw, out, ..self.clone() }
    }

    /// Returns true if the text of targets is not cleaned.
    pub(crate) fn is_raw(&self) -> bool {
        self.raw
    }

    /// Returns true if results are printed as JSON.
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// Returns true if notes are left out.
    pub(crate) fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Returns true if results go to a terminal.
    pub(crate) fn is_terminal(&self) -> bool {
        self.stdout_is_terminal
    }

    /// Returns true if notes go to a terminal, and are not left out.
    pub(crate) fn shows_activity(&self) -> bool {
        self.stderr_is_terminal && !self.quiet
    }

    /// Returns true if stderr is a terminal on which lines can be erased.
    pub(crate) fn can_erase_lines(&self) -> bool {
        self.can_erase_lines
    }

    /// The colours of results.
    pub(crate) fn paint(&self) -> Paint {
        self.out
    }

    /// The colours of everything but results.
    pub(crate) fn stderr_paint(&self) -> Paint {
        self.err
    }

    /// The columns of the terminal that shows everything but results.
    pub(crate) fn stderr_columns(&self) -> usize {
        self.stderr_width.unwrap_or(DEFAULT_COLUMNS)
    }

    /// The columns of the terminal, if known.
    pub(crate) fn width(&self) -> Option<usize> {
        self.width
    }

    /// The secrets that all output masks. New ones are added where they become known.
    pub(crate) fn secrets(&self) -> &Secrets {
        self.stdout.secrets()
    }

    /// A writer of results that arrive in pieces.
    pub(crate) fn stdout_stream(&self) -> StreamWriter {
        self.stdout.stream()
    }

    /// The writer of everything but results.
    pub(crate) fn stderr(&self) -> &ThreadedWriter {
        &self.stderr
    }

    /// Prints text for people.
    ///
    /// # Errors
    /// When stdout cannot be written.
    pub(crate) async fn print(&self, text: &str) -> Result<(), CommandError> {
        self.write_stdout(clean_text(text, self.out.is_enabled()).as_bytes()).await
    }

    /// Prints the rendered result of a target: unchanged for a program.
    ///
    /// # Errors
    /// When stdout cannot be written.
    pub(crate) async fn print_rendered(&self, text: &str) -> Result<(), CommandError> {
        match self.stdout_is_terminal && !self.raw {
            true => self.print(text).await,
            false => self.write_stdout(text.as_bytes()).await,
        }
    }

    /// Prints output of a target: byte for byte, or cleaned for a terminal, which control
    /// characters could manipulate.
    ///
    /// # Errors
    /// When stdout cannot be written.
    pub(crate) async fn print_untrusted(&self, bytes: &[u8]) -> Result<(), CommandError> {
        match self.stdout_is_terminal && !self.raw {
            true => {
                let mut cleaner = TextCleaner::default();
                let text = cleaner.push(bytes) + &cleaner.finish();
                self.write_stdout(text.as_bytes()).await
            }
            false => self.write_stdout(bytes).await,
        }
    }

    /// Prints a result as the target spelled it, in one line.
    ///
    /// # Errors
    /// When stdout cannot be written.
    pub(crate) async fn print_result(&self, response: &Response) -> Result<(), CommandError> {
        let result = response.result().map(Json::bytes).unwrap_or_default();
        self.print_untrusted(&[result, b"\n"].concat()).await
    }

    /// Prints a value as one line of JSON.
    ///
    /// # Errors
    /// When stdout cannot be written.
    pub(crate) async fn print_json(&self, value: &Value) -> Result<(), CommandError> {
        self.write_stdout(clean_json(&format!("{value}\n")).as_bytes()).await
    }

    /// Prints a note, unless `--quiet` is given.
    pub(crate) async fn note(&self, text: &str) {
        if !self.quiet {
            self.write_stderr(&format!("{} {}\n", self.err.warning("note:"), line::clean(text)))
                .await;
        }
    }

    /// Prints an error message.
    pub(crate) async fn error(&self, text: &str) {
        self.write_stderr(&format!("{} {}\n", self.err.error("error:"), line::clean(text))).await;
    }

    /// Prints an error with the target's stderr, and returns the exit code.
    pub(crate) async fn report_error(&self, failure: &CommandError, stderr: Option<&str>) -> Exit {
        if failure.is_broken_pipe() {
            return failure.exit();
        }
        self.write_error(failure, stderr).await;
        if self.json {
            // If stdout is closed, the exit code still reports the failure.
            let _ = self.print_json(&error_object(failure, stderr)).await;
        }
        failure.exit()
    }

    /// Writes an error with its details and the target's stderr to stderr.
    pub(crate) async fn write_error(&self, failure: &CommandError, stderr: Option<&str>) {
        self.print_error(failure).await;
        if let CommandError::Request(error) = failure
            && let Some(data) = error_data(error)
        {
            self.write_stderr(&indent_block("data", &format!("{data:#}"), self.err)).await;
        }
        if let Some((_, body)) = failure.http().filter(|(_, body)| !body.trim().is_empty()) {
            self.write_stderr(&indent_block("body", body, self.err)).await;
        }
        if let Some(stderr) = stderr.filter(|text| !text.trim().is_empty()) {
            self.write_stderr(&indent_block("stderr", stderr, self.err)).await;
        }
    }

    /// Prints an error that does not end the verb.
    pub(crate) async fn print_error(&self, failure: &CommandError) {
        match failure {
            CommandError::Script(files) => {
                let shown = files.iter().map(|problems| problems.render(self.err.is_enabled()));
                self.write_stderr(&format!("{}\n", shown.collect::<Vec<_>>().join("\n\n"))).await;
            }
            failure => self.error(&failure.to_string()).await,
        }
    }

    /// Writes many bytes to stderr, to test clients that do not read it.
    pub(crate) fn flood_stderr(&self, bytes: usize) {
        let line = b"noise on stderr from the mock's script\n";
        let flood: Vec<u8> = line.iter().copied().cycle().take(bytes).collect();
        self.stderr.queue(&flood);
    }

    /// Shows the progress of a request on the last line of the terminal, until anything else
    /// is printed.
    pub(crate) fn show_status(&self, text: &str) {
        let mut status = self.status();
        if self.can_erase_lines && !self.quiet && !status.is_held {
            let columns = self.stderr_columns().saturating_sub(1);
            let text = line::truncate(&line::clean(text), columns);
            self.stderr.queue(format!("{ERASE_LINE}{text}").as_bytes());
            status.is_shown = true;
        }
    }

    /// Erases the status line.
    pub(crate) fn erase_status(&self) {
        if std::mem::take(&mut self.status().is_shown) {
            self.stderr.queue(ERASE_LINE.as_bytes());
        }
    }

    /// Prints a line on stderr without waiting, for code that must not wait. Drops it if
    /// stderr is not read.
    pub(crate) fn queue_line(&self, text: &str) {
        if self.stderr.has_capacity() {
            self.erase_status();
            // A question stays on its own line.
            let gap = if self.status().is_held { "\n" } else { "" };
            let text = clean_text(text, self.err.is_enabled());
            self.stderr.queue(format!("{gap}{text}\n").as_bytes());
        }
    }

    /// Keeps the status line off the terminal until the result is dropped.
    pub(crate) fn open_question(&self) -> OpenQuestion<'_> {
        self.erase_status();
        self.status().is_held = true;
        OpenQuestion { printer: self, is_answered: false }
    }

    /// Ends the line of a question that stays without an answer, if one is open.
    pub(crate) fn abandon_question(&self) {
        if std::mem::take(&mut self.status().is_held) {
            self.stderr.queue(b"\n");
        }
    }

    fn status(&self) -> MutexGuard<'_, StatusLine> {
        self.status.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes to stdout, after everything that was printed on the terminal before.
    async fn write_stdout(&self, bytes: &[u8]) -> Result<(), CommandError> {
        // A result may arrive while a question of another request is open.
        self.abandon_question();
        self.erase_status();
        if self.stdout_is_terminal && self.stderr_is_terminal {
            // A closed stderr does not affect the result.
            let _ = self.stderr.flush().await;
        }
        self.stdout.write(bytes).await.map_err(CommandError::Output)
    }

    /// Writes text for people to stderr.
    pub(crate) async fn write_stderr(&self, text: &str) {
        self.draw(&clean_text(text, self.err.is_enabled())).await;
    }

    /// Writes text of the program itself to stderr, such as a line that erases another or an
    /// annotation for GitHub.
    pub(crate) async fn draw(&self, text: &str) {
        self.erase_status();
        // A closed stderr cannot be reported anywhere.
        let _ = self.stderr.write(text.as_bytes()).await;
    }
}

impl OpenQuestion<'_> {
    /// Records the answer, after which the cursor is at the beginning of a line.
    pub(crate) fn answered(mut self) {
        self.is_answered = true;
    }
}

impl Drop for OpenQuestion<'_> {
    fn drop(&mut self) {
        match self.is_answered {
            true => self.printer.status().is_held = false,
            false => self.printer.abandon_question(),
        }
    }
}

fn indent_block(name: &str, text: &str, paint: Paint) -> String {
    let lines = text.trim_end().lines();
    let lines = lines
        .map(|line| format!("  {}\n", line::truncate(line::clean(line).trim_end(), MAX_COLUMNS)));
    std::iter::once(format!("{}\n", paint.dim(&format!("{name}:")))).chain(lines).collect()
}

/// `{"error": {"kind": …, "message": …}}`, with the server's code and data, the status
/// and the beginning of the body of an HTTP response, and the end of the target's stderr,
/// where known.
pub(crate) fn error_object(failure: &CommandError, stderr: Option<&str>) -> Value {
    let mut error = json!({"kind": failure.kind(), "message": failure.to_string()});
    if let CommandError::Connect(Error::ErrorResponse { error: refused, .. })
    | CommandError::Request(Error::ErrorResponse { error: refused, .. }) = failure
    {
        error["code"] = refused.code.into();
        if let Some(data) = &refused.data {
            error["data"] = data.clone();
        }
    }
    if let Some((status, body)) = failure.http() {
        error["status"] = status.into();
        if !body.is_empty() {
            error["body"] = body.into();
        }
    }
    if let Some(stderr) = stderr.filter(|text| !text.trim().is_empty()) {
        error["stderr"] = stderr.into();
    }
    json!({"error": error})
}

/// The data of a server's error.
fn error_data(error: &Error) -> Option<&Value> {
    match error {
        Error::ErrorResponse { error, .. } => error.data.as_ref(),
        _ => None,
    }
}
