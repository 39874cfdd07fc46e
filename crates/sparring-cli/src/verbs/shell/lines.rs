//! Lines, from wherever they come, each when it is wanted: on a thread, since
//! whoever types takes their time.

use std::io::{self, BufRead, Read as _};
use std::sync::mpsc as blocking;

use tokio::sync::mpsc;

/// The longest line that is taken from a pipe.
const LONGEST: u64 = 1024 * 1024;

/// What came instead of a line, or the line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Input {
    /// A line.
    Line(String),
    /// Ctrl+C.
    Interrupted,
    /// There are no more.
    End,
    /// There are no more, for this reason.
    Broken(String),
}

/// Where lines come from.
pub(super) struct Lines {
    wanted: blocking::Sender<()>,
    came: mpsc::UnboundedReceiver<Input>,
    /// Whether one is wanted that has not come yet.
    waiting: bool,
}

impl Lines {
    /// From what gives a line each time that it is called. It is made on the
    /// thread that calls it, and nobody waits for that.
    pub(super) fn from<F: FnMut() -> Input>(make: impl FnOnce() -> F + Send + 'static) -> Lines {
        let (wanted, wishes) = blocking::channel();
        let (sender, came) = mpsc::unbounded_channel();
        let thread = std::thread::Builder::new().name("lines".to_owned());
        let gone = sender.clone();
        let started = thread.spawn(move || {
            let mut next = make();
            while wishes.recv().is_ok() && sender.send(next()).is_ok() {}
        });
        if let Err(error) = started {
            // Who waits is told.
            let _ = gone.send(Input::Broken(error.to_string()));
        }
        Lines { wanted, came, waiting: false }
    }

    /// From stdin, as it comes.
    pub(super) fn from_stdin() -> Lines {
        // Between lines somebody else may ask for something there.
        Lines::from(|| || line(&mut io::stdin().lock()))
    }

    /// The next one. Whoever gives up gets it the next time.
    pub(super) async fn next(&mut self) -> Input {
        if !self.waiting {
            self.waiting = self.wanted.send(()).is_ok();
        }
        let came = self.came.recv().await;
        self.waiting = false;
        came.unwrap_or(Input::End)
    }

    /// Whether somebody is typing one.
    pub(super) fn is_waiting(&self) -> bool {
        self.waiting
    }
}

/// A line without its end.
fn line(from: &mut impl BufRead) -> Input {
    let mut bytes = Vec::new();
    match from.take(LONGEST + 1).read_until(b'\n', &mut bytes) {
        Ok(0) => Input::End,
        Ok(_) if bytes.len() as u64 > LONGEST => {
            Input::Broken(format!("a line is longer than {LONGEST} bytes"))
        }
        Ok(_) => {
            let text = String::from_utf8_lossy(&bytes);
            Input::Line(text.trim_end_matches(['\n', '\r']).to_owned())
        }
        Err(error) => Input::Broken(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_where_they_end_and_none_is_endless() {
        let mut text = io::Cursor::new(b"a\r\n\nb\xff".to_vec());
        assert_eq!(line(&mut text), Input::Line("a".to_owned()));
        assert_eq!(line(&mut text), Input::Line(String::new()));
        assert_eq!(line(&mut text), Input::Line("b\u{fffd}".to_owned()));
        assert_eq!(line(&mut text), Input::End);
        let mut endless = io::BufReader::new(io::repeat(b'x'));
        let Input::Broken(why) = line(&mut endless) else { panic!("it is taken") };
        assert_eq!(why, "a line is longer than 1048576 bytes");
    }

    #[tokio::test]
    async fn who_gives_up_on_a_line_gets_it_the_next_time() {
        let (sender, receiver) = blocking::channel();
        let mut lines = Lines::from(move || move || Input::Line(receiver.recv().unwrap()));
        tokio::select! {
            biased;
            _ = lines.next() => panic!("there is none yet"),
            () = std::future::ready(()) => {}
        }
        sender.send("a".to_owned()).unwrap();
        assert_eq!(lines.next().await, Input::Line("a".to_owned()));
    }
}
