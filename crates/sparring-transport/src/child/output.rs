//! What a program writes, kept within a bound: its beginning and its end.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sparring_peer::task;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::sync::Notify;
use tokio::task::JoinHandle;

/// How many lines a message shows.
const SHOWN: usize = 20;

/// What was written. Cheap to clone; all clones are one.
#[derive(Debug, Clone)]
pub struct Output(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    kept: Mutex<Kept>,
    /// Told once something is left out.
    full: Notify,
}

#[derive(Debug)]
struct Kept {
    /// How much of the beginning is kept, and of the end.
    half: usize,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    left_out: u64,
}

impl Output {
    /// One that keeps at most so much.
    pub(super) fn holding(most: usize) -> Output {
        let kept = Kept { half: most / 2, head: Vec::new(), tail: VecDeque::new(), left_out: 0 };
        Output(Arc::new(Shared { kept: Mutex::new(kept), full: Notify::new() }))
    }

    /// All that was written, byte for byte; nothing where not all is kept.
    pub fn whole(&self) -> Option<Vec<u8>> {
        let mut kept = self.kept();
        let tail = kept.tail.make_contiguous().to_vec();
        (kept.left_out == 0).then(|| [&*kept.head, &tail].concat())
    }

    /// Waits until more is written than is kept, if ever.
    pub async fn overflowed(&self) {
        loop {
            let told = self.0.full.notified();
            if self.left_out() > 0 {
                return;
            }
            told.await;
        }
    }

    /// The last lines, for a message.
    pub fn tail(&self) -> String {
        let text = self.text();
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(SHOWN)..].join("\n")
    }

    /// All that is kept, as a text: the beginning and the end, and between them
    /// a line that says how much is left out, where something is.
    pub fn text(&self) -> String {
        let mut kept = self.kept();
        let left_out = kept.left_out;
        let (head, tail) = (kept.head.clone(), kept.tail.make_contiguous().to_vec());
        drop(kept);
        match left_out {
            0 => String::from_utf8_lossy(&[head, tail].concat()).into_owned(),
            left_out => {
                let (head, tail) = (String::from_utf8_lossy(&head), String::from_utf8_lossy(&tail));
                format!("{head}\n… ({left_out} bytes are left out) …\n{tail}")
            }
        }
    }

    /// How much is not kept.
    pub fn left_out(&self) -> u64 {
        self.kept().left_out
    }

    /// Takes all that comes from somewhere, until it ends.
    pub(super) fn drain(
        &self,
        mut from: impl AsyncRead + Send + Unpin + 'static,
    ) -> JoinHandle<()> {
        let output = self.clone();
        task::spawn(async move {
            let mut buffer = vec![0; 64 * 1024];
            // An end or an error: either way nothing more comes.
            while let Ok(length @ 1..) = from.read(&mut buffer).await {
                output.add(&buffer[..length]);
            }
        })
    }

    fn add(&self, bytes: &[u8]) {
        let mut kept = self.kept();
        let half = kept.half;
        let (head, tail) = bytes.split_at(bytes.len().min(half - kept.head.len()));
        kept.head.extend(head);
        kept.tail.extend(tail);
        let surplus = kept.tail.len().saturating_sub(half);
        drop(kept.tail.drain(..surplus));
        kept.left_out += surplus as u64;
        if surplus > 0 {
            self.0.full.notify_waiters();
        }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HALF: usize = 64 * 1024;

    #[test]
    fn of_too_much_the_beginning_and_the_end_are_kept_and_the_rest_is_told() {
        let output = Output::holding(2 * HALF);
        output.add(b"first ");
        assert_eq!((&*output.text(), output.left_out()), ("first ", 0));
        assert_eq!(output.whole().as_deref(), Some(&b"first "[..]));
        for _ in 0..64 {
            output.add(&[b'x'; HALF / 16]);
        }
        output.add("ä last".as_bytes());
        let text = output.text();
        assert!(text.starts_with("first x") && text.ends_with("xä last"));
        let left_out = "first ".len() + 4 * HALF + "ä last".len() - 2 * HALF;
        assert_eq!(output.left_out(), left_out as u64);
        assert_eq!(output.whole(), None);
        assert!(text.contains(&format!("\n… ({left_out} bytes are left out) …\n")));
    }

    #[test]
    fn a_character_on_the_border_of_both_halves_is_whole() {
        let output = Output::holding(2 * HALF);
        output.add(&[b'x'; HALF - 1]);
        output.add("ä".as_bytes());
        assert!(output.text().ends_with("xä"));
    }

    #[tokio::test]
    async fn whoever_waits_for_too_much_is_told() {
        let output = Output::holding(2);
        let waiting = tokio::spawn({
            let output = output.clone();
            async move { output.overflowed().await }
        });
        tokio::task::yield_now().await;
        output.add(b"ab");
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        output.add(b"c");
        waiting.await.expect("it is told");
        output.overflowed().await;
    }
}
