//! A program's output, limited in size: its beginning and its end are kept.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sparring_peer::task;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::sync::Notify;
use tokio::task::JoinHandle;

/// The number of lines that [`Output::tail`] returns.
const TAIL_LINES: usize = 20;

/// A program's output. Cheap to clone; all clones share it.
#[derive(Debug, Clone)]
pub struct Output(Arc<SharedOutput>);

#[derive(Debug)]
struct SharedOutput {
    buffer: Mutex<OutputBuffer>,
    /// Notified when bytes are dropped for the first time.
    full: Notify,
}

#[derive(Debug)]
struct OutputBuffer {
    /// The maximum number of bytes that are kept of the beginning, and of the end.
    half: usize,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    left_out: u64,
}

impl Output {
    /// Creates an output that keeps up to `limit` bytes.
    pub(super) fn with_limit(limit: usize) -> Output {
        let buffer =
            OutputBuffer { half: limit / 2, head: Vec::new(), tail: VecDeque::new(), left_out: 0 };
        Output(Arc::new(SharedOutput { buffer: Mutex::new(buffer), full: Notify::new() }))
    }

    /// Returns all bytes, or `None` if some were dropped.
    pub fn complete_bytes(&self) -> Option<Vec<u8>> {
        let mut buffer = self.buffer();
        let tail = buffer.tail.make_contiguous().to_vec();
        (buffer.left_out == 0).then(|| [&*buffer.head, &tail].concat())
    }

    /// Waits until the output exceeds the limit.
    pub async fn wait_for_overflow(&self) {
        loop {
            let notified = self.0.full.notified();
            if self.omitted_bytes() > 0 {
                return;
            }
            notified.await;
        }
    }

    /// Returns the last lines, for a message.
    pub fn tail(&self) -> String {
        let text = self.text();
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(TAIL_LINES)..].join("\n")
    }

    /// Returns the kept output as text: the beginning and the end, with a line between them
    /// that counts the dropped bytes, if any.
    pub fn text(&self) -> String {
        let mut buffer = self.buffer();
        let left_out = buffer.left_out;
        let (head, tail) = (buffer.head.clone(), buffer.tail.make_contiguous().to_vec());
        drop(buffer);
        match left_out {
            0 => String::from_utf8_lossy(&[head, tail].concat()).into_owned(),
            left_out => {
                let (head, tail) = (String::from_utf8_lossy(&head), String::from_utf8_lossy(&tail));
                format!("{head}\n… ({left_out} bytes omitted) …\n{tail}")
            }
        }
    }

    /// Returns the number of dropped bytes.
    pub fn omitted_bytes(&self) -> u64 {
        self.buffer().left_out
    }

    /// Reads from `from` until it ends.
    pub(super) fn drain(
        &self,
        mut from: impl AsyncRead + Send + Unpin + 'static,
    ) -> JoinHandle<()> {
        let output = self.clone();
        task::spawn(async move {
            let mut buffer = vec![0; 64 * 1024];
            // An end or an error: nothing more arrives either way.
            while let Ok(length @ 1..) = from.read(&mut buffer).await {
                output.add(&buffer[..length]);
            }
        })
    }

    fn add(&self, bytes: &[u8]) {
        let mut buffer = self.buffer();
        let half = buffer.half;
        let (head, tail) = bytes.split_at(bytes.len().min(half - buffer.head.len()));
        buffer.head.extend(head);
        buffer.tail.extend(tail);
        let surplus = buffer.tail.len().saturating_sub(half);
        drop(buffer.tail.drain(..surplus));
        buffer.left_out += surplus as u64;
        if surplus > 0 {
            self.0.full.notify_waiters();
        }
    }

    fn buffer(&self) -> MutexGuard<'_, OutputBuffer> {
        self.0.buffer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HALF: usize = 64 * 1024;

    #[test]
    fn keeps_the_beginning_and_the_end_and_counts_the_rest() {
        let output = Output::with_limit(2 * HALF);
        output.add(b"first ");
        assert_eq!((&*output.text(), output.omitted_bytes()), ("first ", 0));
        assert_eq!(output.complete_bytes().as_deref(), Some(&b"first "[..]));
        for _ in 0..64 {
            output.add(&[b'x'; HALF / 16]);
        }
        output.add("ä last".as_bytes());
        let text = output.text();
        assert!(text.starts_with("first x") && text.ends_with("xä last"));
        let left_out = "first ".len() + 4 * HALF + "ä last".len() - 2 * HALF;
        assert_eq!(output.omitted_bytes(), left_out as u64);
        assert_eq!(output.complete_bytes(), None);
        assert!(text.contains(&format!("\n… ({left_out} bytes omitted) …\n")));
    }

    #[test]
    fn keeps_a_character_on_the_border_of_both_halves() {
        let output = Output::with_limit(2 * HALF);
        output.add(&[b'x'; HALF - 1]);
        output.add("ä".as_bytes());
        assert!(output.text().ends_with("xä"));
    }

    #[tokio::test]
    async fn wakes_a_waiter_when_the_limit_is_exceeded() {
        let output = Output::with_limit(2);
        let waiting = tokio::spawn({
            let output = output.clone();
            async move { output.wait_for_overflow().await }
        });
        tokio::task::yield_now().await;
        output.add(b"ab");
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        output.add(b"c");
        waiting.await.expect("the waiter is woken");
        output.wait_for_overflow().await;
    }
}
