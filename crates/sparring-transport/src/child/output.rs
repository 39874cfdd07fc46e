//! What a program writes, kept within a bound: its beginning and its end.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::task::JoinHandle;

/// How much of the beginning is kept, and of the end.
const HALF: usize = 512 * 1024;

/// What was written. Cheap to clone; all clones are one.
#[derive(Debug, Clone, Default)]
pub struct Output(Arc<Mutex<Kept>>);

#[derive(Debug, Default)]
struct Kept {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    left_out: u64,
}

impl Output {
    /// All that is kept, as a text: the first and the last 512 KiB, and between
    /// them a line that says how much is left out, where something is.
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
        tokio::spawn(async move {
            let mut buffer = vec![0; 64 * 1024];
            // An end or an error: either way nothing more comes.
            while let Ok(length @ 1..) = from.read(&mut buffer).await {
                output.add(&buffer[..length]);
            }
        })
    }

    fn add(&self, bytes: &[u8]) {
        let mut kept = self.kept();
        let (head, tail) = bytes.split_at(bytes.len().min(HALF - kept.head.len()));
        kept.head.extend(head);
        kept.tail.extend(tail);
        let surplus = kept.tail.len().saturating_sub(HALF);
        drop(kept.tail.drain(..surplus));
        kept.left_out += surplus as u64;
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_too_much_the_beginning_and_the_end_are_kept_and_the_rest_is_told() {
        let output = Output::default();
        output.add(b"first ");
        assert_eq!((&*output.text(), output.left_out()), ("first ", 0));
        for _ in 0..64 {
            output.add(&[b'x'; HALF / 16]);
        }
        output.add("ä last".as_bytes());
        let text = output.text();
        assert!(text.starts_with("first x") && text.ends_with("xä last"));
        let left_out = "first ".len() + 4 * HALF + "ä last".len() - 2 * HALF;
        assert_eq!(output.left_out(), left_out as u64);
        assert!(text.contains(&format!("\n… ({left_out} bytes are left out) …\n")));
    }

    #[test]
    fn a_character_on_the_border_of_both_halves_is_whole() {
        let output = Output::default();
        output.add(&[b'x'; HALF - 1]);
        output.add("ä".as_bytes());
        assert!(output.text().ends_with("xä"));
    }
}
