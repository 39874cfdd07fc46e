//! Reads from the terminal: answers to permission questions, and other input while no
//! line is edited.

use std::sync::Arc;

use sparring_host::permissions::{Asker, TextPrompt};
use tokio::io::BufReader;

use crate::environment::Environment;
use crate::output::Printer;

/// Returns an asker at the terminal, or nothing without a terminal.
pub(crate) fn terminal_asker(
    environment: &Environment,
    printer: &Printer,
) -> Option<Arc<dyn Asker>> {
    let answers = || BufReader::new(terminal_input());
    environment
        .can_ask
        .then(|| Arc::new(TextPrompt::new(answers(), printer.stderr().stream())) as _)
}

/// Returns the input of the terminal while no line is edited.
pub(crate) fn terminal_input() -> impl tokio::io::AsyncRead + Unpin + Send + 'static {
    input::new()
}

/// Reads stdin only when it has input, so that a cancelled read takes nothing from the
/// next reader.
#[cfg(unix)]
mod input {
    use std::io;
    use std::pin::Pin;
    use std::task::{Context, Poll, ready};
    use std::time::Duration;

    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use tokio::io::{AsyncRead, ReadBuf};
    use tokio::time::{Sleep, sleep};

    /// The interval of polling stdin while a question is open.
    const POLL_INTERVAL: Duration = Duration::from_millis(20);

    pub(super) struct Input {
        next_poll: Option<Pin<Box<Sleep>>>,
    }

    pub(super) fn new() -> Input {
        Input { next_poll: None }
    }

    impl AsyncRead for Input {
        fn poll_read(
            mut self: Pin<&mut Self>,
            cx: &mut Context<'_>,
            buffer: &mut ReadBuf<'_>,
        ) -> Poll<io::Result<()>> {
            while !has_input()? {
                let next_poll =
                    self.next_poll.get_or_insert_with(|| Box::pin(sleep(POLL_INTERVAL)));
                ready!(next_poll.as_mut().poll(cx));
                self.next_poll = None;
            }
            self.next_poll = None;
            let count = rustix::io::read(io::stdin(), buffer.initialize_unfilled())?;
            buffer.advance(count);
            Poll::Ready(Ok(()))
        }
    }

    fn has_input() -> io::Result<bool> {
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        Ok(poll(&mut [PollFd::new(&io::stdin(), PollFlags::IN)], Some(&now))? > 0)
    }
}

#[cfg(not(unix))]
mod input {
    pub(super) fn new() -> tokio::io::Stdin {
        tokio::io::stdin()
    }
}
