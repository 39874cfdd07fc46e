//! Reads lines on a thread, each when it is requested, since a user may take any time.

use std::io::{self, BufRead, Read as _};
use std::sync::mpsc as blocking;

use tokio::sync::mpsc;

/// The longest line from a pipe.
const MAX_LINE_BYTES: u64 = 1024 * 1024;

/// A line, or the reason why there is none.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Input {
    /// A line.
    Line(String),
    /// Ctrl+C.
    Interrupted,
    /// The end of input.
    End,
    /// Input that cannot be read.
    Error(String),
}

/// A reader of lines.
pub(super) struct LineReader {
    requests: blocking::Sender<()>,
    inputs: mpsc::UnboundedReceiver<Input>,
    /// True if a line was requested that has not arrived.
    waiting: bool,
}

impl LineReader {
    /// Creates a reader from a function that returns the next line. `make` runs on the
    /// thread.
    pub(super) fn spawn<F: FnMut() -> Input>(
        make: impl FnOnce() -> F + Send + 'static,
    ) -> LineReader {
        let (requests, requested) = blocking::channel();
        let (sender, inputs) = mpsc::unbounded_channel();
        let thread = std::thread::Builder::new().name("lines".to_owned());
        let error_sender = sender.clone();
        let started = thread.spawn(move || {
            let mut next = make();
            while requested.recv().is_ok() && sender.send(next()).is_ok() {}
        });
        if let Err(error) = started {
            // Reports the error to the first reader.
            let _ = error_sender.send(Input::Error(error.to_string()));
        }
        LineReader { requests, inputs, waiting: false }
    }

    /// Reads stdin.
    pub(super) fn from_stdin() -> LineReader {
        // Not locked between lines, since a question may read stdin.
        LineReader::spawn(|| || read_line(&mut io::stdin().lock()))
    }

    /// Returns the next line. A line whose wait was cancelled is returned by the next
    /// call.
    pub(super) async fn next(&mut self) -> Input {
        if !self.waiting {
            self.waiting = self.requests.send(()).is_ok();
        }
        let inputs = self.inputs.recv().await;
        self.waiting = false;
        inputs.unwrap_or(Input::End)
    }

    /// Returns true if a line is being typed.
    pub(super) fn is_waiting(&self) -> bool {
        self.waiting
    }
}

/// Reads a line without its line break.
fn read_line(from: &mut impl BufRead) -> Input {
    let mut bytes = Vec::new();
    match from.take(MAX_LINE_BYTES + 1).read_until(b'\n', &mut bytes) {
        Ok(0) => Input::End,
        Ok(_) if bytes.len() as u64 > MAX_LINE_BYTES => {
            Input::Error(format!("a line is longer than {MAX_LINE_BYTES} bytes"))
        }
        Ok(_) => {
            let text = String::from_utf8_lossy(&bytes);
            Input::Line(text.trim_end_matches(['\n', '\r']).to_owned())
        }
        Err(error) => Input::Error(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_lines_and_refuses_endless_ones() {
        let mut text = io::Cursor::new(b"a\r\n\nb\xff".to_vec());
        assert_eq!(read_line(&mut text), Input::Line("a".to_owned()));
        assert_eq!(read_line(&mut text), Input::Line(String::new()));
        assert_eq!(read_line(&mut text), Input::Line("b\u{fffd}".to_owned()));
        assert_eq!(read_line(&mut text), Input::End);
        let mut endless = io::BufReader::new(io::repeat(b'x'));
        let Input::Error(why) = read_line(&mut endless) else { panic!("it is taken") };
        assert_eq!(why, "a line is longer than 1048576 bytes");
    }

    #[tokio::test]
    async fn a_cancelled_read_gets_its_line_the_next_time() {
        let (sender, receiver) = blocking::channel();
        let mut lines = LineReader::spawn(move || move || Input::Line(receiver.recv().unwrap()));
        tokio::select! {
            biased;
            _ = lines.next() => panic!("there is none yet"),
            () = std::future::ready(()) => {}
        }
        sender.send("a".to_owned()).unwrap();
        assert_eq!(lines.next().await, Input::Line("a".to_owned()));
    }
}
