//! Prints the context of a failure: the target, the last frames, and the end of
//! the target's stderr.
//!
//! The checks of this crate add it to their message. A test that fails by its own
//! `assert_eq!` drops its client during unwinding, which prints the context to
//! stderr, once.

use std::fmt::{self, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use sparring_transport::Stderr;
use sparring_wire::{Side, Transcript};

use crate::output_schemas::OutputSchemas;

/// The number of frames that a failure prints.
const MAX_FRAMES: usize = 12;

/// A longer frame is truncated.
const MAX_FRAME_CHARS: usize = 400;

/// The target, transcript and stderr of a connection. Cheap to clone.
#[derive(Clone)]
pub(crate) struct FailureContext(Arc<Inner>);

struct Inner {
    target: String,
    transcript: Transcript,
    stderr: Option<Stderr>,
    output_schemas: OutputSchemas,
    /// True if a failure has printed it.
    is_printed: AtomicBool,
}

impl FailureContext {
    pub(crate) fn new(
        target: String,
        transcript: Transcript,
        stderr: Option<Stderr>,
        output_schemas: OutputSchemas,
    ) -> Self {
        let is_printed = AtomicBool::new(false);
        FailureContext(Arc::new(Inner { target, transcript, stderr, output_schemas, is_printed }))
    }

    /// Describes the target.
    pub(crate) fn target(&self) -> &str {
        &self.0.target
    }

    pub(crate) fn transcript(&self) -> &Transcript {
        &self.0.transcript
    }

    /// The output schemas of the listed tools.
    pub(crate) fn output_schemas(&self) -> &OutputSchemas {
        &self.0.output_schemas
    }

    /// The target's stderr, if it has one.
    pub(crate) fn stderr(&self) -> Option<&Stderr> {
        self.0.stderr.as_ref()
    }

    /// Fails the test with this message and the context.
    #[track_caller]
    pub(crate) fn fail(&self, message: impl fmt::Display) -> ! {
        panic!("{message}\n{self}")
    }
}

impl Drop for FailureContext {
    fn drop(&mut self) {
        if std::thread::panicking() && !self.0.is_printed.load(Ordering::Relaxed) {
            eprintln!("{self}");
        }
    }
}

/// Formatting the context marks it as printed.
impl fmt::Display for FailureContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.is_printed.store(true, Ordering::Relaxed);
        writeln!(f, "\ntarget: {}", self.0.target)?;
        let entries = self.0.transcript.entries();
        let earlier = entries.len().saturating_sub(MAX_FRAMES);
        writeln!(f, "traffic:")?;
        match (earlier, entries.len()) {
            (_, 0) => writeln!(f, "  none")?,
            (0, _) => {}
            (earlier, _) => writeln!(f, "  … {earlier} earlier frames")?,
        }
        for entry in &entries[earlier..] {
            let arrow = if entry.from == Side::Client { "→" } else { "←" };
            writeln!(f, "  {arrow} {}", truncate_frame(&entry.frame.text()))?;
            for violation in &entry.violations {
                writeln!(f, "      {violation}")?;
            }
        }
        let stderr = self.0.stderr.as_ref().map(Stderr::tail).filter(|tail| !tail.is_empty());
        let Some(stderr) = stderr else { return Ok(()) };
        writeln!(f, "stderr:")?;
        stderr.lines().try_for_each(|line| writeln!(f, "  {line}"))
    }
}

impl fmt::Debug for FailureContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FailureContext").field("target", &self.0.target).finish_non_exhaustive()
    }
}

/// Renders a frame in one line, truncated if it is long.
fn truncate_frame(text: &str) -> String {
    let text = text.trim_end().replace('\n', "⏎");
    match text.char_indices().nth(MAX_FRAME_CHARS) {
        None => text,
        Some((end, _)) => {
            let mut start = text[..end].to_owned();
            let _ = write!(start, "… ({} bytes)", text.len());
            start
        }
    }
}
