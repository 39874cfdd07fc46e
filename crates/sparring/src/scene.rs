//! What stands below every failure: whom the client talked to, the last frames
//! that passed, and the end of what the target wrote to its stderr.
//!
//! Checks of this crate have it in their message. A test that fails otherwise, by
//! an `assert_eq!` of its own, drops its client while it unwinds, which tells the
//! scene to stderr, once.

use std::fmt::{self, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use sparring_transport::Stderr;
use sparring_wire::{Side, Transcript};

/// How many frames of the transcript a failure shows.
const FRAMES: usize = 12;

/// The longest frame that a failure shows whole.
const LONGEST: usize = 400;

/// Where a test takes place. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Scene(Arc<Inner>);

struct Inner {
    target: String,
    transcript: Transcript,
    stderr: Option<Stderr>,
    /// Whether a failure has shown it.
    told: AtomicBool,
}

impl Scene {
    pub(crate) fn new(target: String, transcript: Transcript, stderr: Option<Stderr>) -> Self {
        Scene(Arc::new(Inner { target, transcript, stderr, told: AtomicBool::new(false) }))
    }

    /// The target, in words.
    pub(crate) fn target(&self) -> &str {
        &self.0.target
    }

    /// All that was said.
    pub(crate) fn transcript(&self) -> &Transcript {
        &self.0.transcript
    }

    /// The target's stderr, where it has one.
    pub(crate) fn stderr(&self) -> Option<&Stderr> {
        self.0.stderr.as_ref()
    }

    /// Ends the test: what is wrong, and then the scene.
    #[track_caller]
    pub(crate) fn fail(&self, what: impl fmt::Display) -> ! {
        panic!("{what}\n{self}")
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        if std::thread::panicking() && !self.0.told.load(Ordering::Relaxed) {
            eprintln!("{self}");
        }
    }
}

/// Whoever shows it has told it.
impl fmt::Display for Scene {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.told.store(true, Ordering::Relaxed);
        writeln!(f, "\ntarget: {}", self.0.target)?;
        let entries = self.0.transcript.entries();
        let earlier = entries.len().saturating_sub(FRAMES);
        writeln!(f, "traffic:")?;
        match (earlier, entries.len()) {
            (_, 0) => writeln!(f, "  none")?,
            (0, _) => {}
            (earlier, _) => writeln!(f, "  … {earlier} before")?,
        }
        for entry in &entries[earlier..] {
            let arrow = if entry.from == Side::Client { "→" } else { "←" };
            writeln!(f, "  {arrow} {}", cut(&entry.frame.text()))?;
            for violation in &entry.violations {
                writeln!(f, "      {violation}")?;
            }
        }
        let said = self.0.stderr.as_ref().map(Stderr::tail).filter(|said| !said.is_empty());
        let Some(said) = said else { return Ok(()) };
        writeln!(f, "stderr:")?;
        said.lines().try_for_each(|line| writeln!(f, "  {line}"))
    }
}

impl fmt::Debug for Scene {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scene").field("target", &self.0.target).finish_non_exhaustive()
    }
}

/// A frame in one line, its end left out where it is long.
fn cut(text: &str) -> String {
    let text = text.trim_end().replace('\n', "⏎");
    match text.char_indices().nth(LONGEST) {
        None => text,
        Some((end, _)) => {
            let mut shown = text[..end].to_owned();
            let _ = write!(shown, "… ({} bytes)", text.len());
            shown
        }
    }
}
