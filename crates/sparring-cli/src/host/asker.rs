//! Whoever sits before the terminal: who is asked whether a tool may be called, and
//! what is typed there.

use std::sync::Arc;

use sparring_host::permissions::{Asker, Prompt};
use tokio::io::BufReader;

use crate::environment::Environment;
use crate::output::Printer;

/// Asks at the terminal; nobody where there is none.
pub(crate) fn terminal(environment: &Environment, printer: &Printer) -> Option<Arc<dyn Asker>> {
    let answers = || BufReader::new(typed());
    environment.answers.then(|| Arc::new(Prompt::new(answers(), printer.stderr().clone())) as _)
}

/// What is typed while no line is edited.
pub(crate) fn typed() -> impl tokio::io::AsyncRead + Unpin + Send + 'static {
    input::new()
}

/// What is typed, read only once it is there: who waits for it and gives up
/// takes nothing away from whoever reads next.
#[cfg(unix)]
mod input {
    use std::io;
    use std::pin::Pin;
    use std::task::{Context, Poll, ready};
    use std::time::Duration;

    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use tokio::io::{AsyncRead, ReadBuf};
    use tokio::time::{Sleep, sleep};

    /// How often it is looked whether something is there, while somebody is
    /// asked.
    const LOOK: Duration = Duration::from_millis(20);

    pub(super) struct Input {
        until: Option<Pin<Box<Sleep>>>,
    }

    pub(super) fn new() -> Input {
        Input { until: None }
    }

    impl AsyncRead for Input {
        fn poll_read(
            mut self: Pin<&mut Self>,
            cx: &mut Context<'_>,
            buffer: &mut ReadBuf<'_>,
        ) -> Poll<io::Result<()>> {
            while !is_there()? {
                let until = self.until.get_or_insert_with(|| Box::pin(sleep(LOOK)));
                ready!(until.as_mut().poll(cx));
                self.until = None;
            }
            self.until = None;
            let count = rustix::io::read(io::stdin(), buffer.initialize_unfilled())?;
            buffer.advance(count);
            Poll::Ready(Ok(()))
        }
    }

    fn is_there() -> io::Result<bool> {
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
