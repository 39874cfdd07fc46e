//! Asks questions at the terminal. A question runs on its own thread, which may block for
//! ever, so `main` restores the terminal's mode.

use std::io;

use crate::output::ThreadedWriter;

/// Asks for a line. Returns nothing at the end of input. Hidden input is not echoed.
pub(crate) fn ask(stderr: &ThreadedWriter, question: &str, hidden: bool) -> Option<String> {
    stderr.queue(question.as_bytes());
    if hidden {
        terminal_mode::hide_echo();
    }
    let mut line = String::new();
    let read = io::stdin().read_line(&mut line);
    if hidden {
        restore_terminal_mode();
        stderr.queue(b"\n");
    }
    let typed = read.is_ok_and(|length| length > 0);
    typed.then(|| line.trim_end_matches(['\n', '\r']).to_owned())
}

/// Saves the terminal's mode for [`restore_terminal_mode`], since a line editor that is
/// interrupted does not restore it.
pub(crate) fn save_terminal_mode() {
    terminal_mode::save();
}

/// Restores the saved mode of the terminal, if it was changed.
pub(crate) fn restore_terminal_mode() {
    terminal_mode::restore();
}

#[cfg(unix)]
mod terminal_mode {
    use std::io;
    use std::sync::{Mutex, PoisonError};

    use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

    static SAVED_MODE: Mutex<Option<Termios>> = Mutex::new(None);

    pub(super) fn hide_echo() {
        let Ok(before) = tcgetattr(io::stdin()) else { return };
        let mut hidden = before.clone();
        hidden.local_modes.remove(LocalModes::ECHO);
        if tcsetattr(io::stdin(), OptionalActions::Flush, &hidden).is_ok() {
            *SAVED_MODE.lock().unwrap_or_else(PoisonError::into_inner) = Some(before);
        }
    }

    pub(super) fn save() {
        let now = tcgetattr(io::stdin()).ok();
        *SAVED_MODE.lock().unwrap_or_else(PoisonError::into_inner) = now;
    }

    pub(super) fn restore() {
        let before = SAVED_MODE.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(before) = before {
            // A terminal that is gone needs no mode.
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, &before);
        }
    }
}

#[cfg(not(unix))]
mod terminal_mode {
    pub(super) fn hide_echo() {}

    pub(super) fn save() {}

    pub(super) fn restore() {}
}
