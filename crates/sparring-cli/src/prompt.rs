//! Questions to whoever sits before the terminal. They are asked on a thread of
//! their own, which may wait for ever; so what was done to the terminal is undone
//! by `main`.

use std::io;

use crate::output::Outlet;

/// Asks for a line; nothing where the input ends. What is hidden is not shown
/// while it is typed.
pub(crate) fn ask(stderr: &Outlet, question: &str, hidden: bool) -> Option<String> {
    stderr.queue(question.as_bytes());
    if hidden {
        echo::hide();
    }
    let mut line = String::new();
    let read = io::stdin().read_line(&mut line);
    if hidden {
        restore();
        stderr.queue(b"\n");
    }
    let typed = read.is_ok_and(|length| length > 0);
    typed.then(|| line.trim_end_matches(['\n', '\r']).to_owned())
}

/// Remembers how the terminal is, for [`restore`]: whoever edits a line changes
/// it, and may not be there to change it back.
pub(crate) fn remember() {
    echo::remember();
}

/// Makes the terminal what it was where it was changed: what is typed is shown.
pub(crate) fn restore() {
    echo::show();
}

#[cfg(unix)]
mod echo {
    use std::io;
    use std::sync::{Mutex, PoisonError};

    use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

    static BEFORE: Mutex<Option<Termios>> = Mutex::new(None);

    pub(super) fn hide() {
        let Ok(before) = tcgetattr(io::stdin()) else { return };
        let mut hidden = before.clone();
        hidden.local_modes.remove(LocalModes::ECHO);
        if tcsetattr(io::stdin(), OptionalActions::Flush, &hidden).is_ok() {
            *BEFORE.lock().unwrap_or_else(PoisonError::into_inner) = Some(before);
        }
    }

    pub(super) fn remember() {
        let now = tcgetattr(io::stdin()).ok();
        *BEFORE.lock().unwrap_or_else(PoisonError::into_inner) = now;
    }

    pub(super) fn show() {
        let before = BEFORE.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(before) = before {
            // A terminal that is gone shows nothing anyway.
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, &before);
        }
    }
}

#[cfg(not(unix))]
mod echo {
    pub(super) fn hide() {}

    pub(super) fn remember() {}

    pub(super) fn show() {}
}
