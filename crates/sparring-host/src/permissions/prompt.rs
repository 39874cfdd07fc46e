//! Asks by text: a question is written, a line is read.
//!
//! For a terminal, and for whatever else has two ends. Whether there is anybody
//! at the other end is the caller's to know.

use std::io;
use std::time::Duration;

use futures_util::future::BoxFuture;
use sparring_wire::Json;
use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::Mutex;
use tokio::time::timeout;

use super::ask::{Answer, Asker, Question};
use crate::text::{cut, visible};

/// The most of a name, of an argument, and the most arguments that are shown.
const LONGEST_NAME: usize = 100;
const LONGEST_ARGUMENT: usize = 200;
const MOST_ARGUMENTS: usize = 20;

/// The most of a line that is read.
const LONGEST_LINE: usize = 1_000;

/// How often a question is asked before that is no answer.
const TRIES: usize = 3;

/// How long to look for what was typed before the question, which is no answer
/// to it, and how much of that there can be.
const LOOK: Duration = Duration::from_millis(20);
const MOST_READS: usize = 64;

/// Asks by text.
pub struct Prompt<R, W> {
    ends: Mutex<Ends<R, W>>,
}

struct Ends<R, W> {
    from: R,
    to: W,
    /// Whether a question stands there without an answer.
    open: bool,
}

impl<R, W> Prompt<R, W> {
    /// Reads answers from one end and writes questions to the other.
    pub fn new(from: R, to: W) -> Self {
        Prompt { ends: Mutex::new(Ends { from, to, open: false }) }
    }
}

impl<R, W> Asker for Prompt<R, W>
where
    R: AsyncBufRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin,
{
    fn ask(&self, question: Question) -> BoxFuture<'_, io::Result<Option<Answer>>> {
        Box::pin(async move { self.ends.lock().await.ask(&question).await })
    }
}

impl<R, W> Ends<R, W>
where
    R: AsyncBufRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin,
{
    async fn ask(&mut self, question: &Question) -> io::Result<Option<Answer>> {
        // The one before was given up in the middle of its line.
        let begin = if self.open { "\n" } else { "" };
        self.skip().await?;
        self.write(&format!("{begin}{}", asked(question))).await?;
        self.open = true;
        for _ in 0..TRIES {
            self.write("Allow? [o]nce, [a]lways, [n]ever, Enter for not now: ").await?;
            let Some(line) = self.line().await? else {
                self.write("\n").await?;
                break;
            };
            match line.trim().to_lowercase().as_str() {
                "o" | "once" | "y" | "yes" => return self.answered(Some(Answer::Once)),
                "a" | "always" => return self.answered(Some(Answer::Always)),
                "n" | "never" => return self.answered(Some(Answer::Never)),
                "" | "no" => return self.answered(None),
                _ => {}
            }
        }
        self.answered(None)
    }

    fn answered(&mut self, answer: Option<Answer>) -> io::Result<Option<Answer>> {
        self.open = false;
        Ok(answer)
    }

    async fn write(&mut self, text: &str) -> io::Result<()> {
        self.to.write_all(text.as_bytes()).await?;
        self.to.flush().await
    }

    async fn skip(&mut self) -> io::Result<()> {
        for _ in 0..MOST_READS {
            let Ok(typed) = timeout(LOOK, self.from.fill_buf()).await else { break };
            match typed?.len() {
                0 => break,
                typed => self.from.consume(typed),
            }
        }
        Ok(())
    }

    /// A line, as far as it is looked at; nothing at the end of all lines.
    async fn line(&mut self) -> io::Result<Option<String>> {
        let mut line = Vec::new();
        loop {
            let some = self.from.fill_buf().await?;
            if some.is_empty() {
                return Ok(None);
            }
            let end = some.iter().position(|byte| *byte == b'\n');
            let count = end.map_or(some.len(), |end| end + 1);
            let room = LONGEST_LINE - line.len();
            line.extend_from_slice(&some[..end.unwrap_or(count).min(room)]);
            self.from.consume(count);
            if end.is_some() {
                return Ok(Some(String::from_utf8_lossy(&line).into_owned()));
            }
        }
    }
}

fn asked(question: &Question) -> String {
    let name = |name: &str| cut(&visible(name), LONGEST_NAME);
    let mut text =
        format!("'{}' is to run its tool '{}'\n", name(&question.server), name(&question.tool));
    let arguments = question.arguments.view();
    let members: Vec<_> = arguments.members().collect();
    for (key, value) in members.iter().take(MOST_ARGUMENTS) {
        text.push_str(&format!("  {}: {}\n", name(&key.name()), shown(*value)));
    }
    match members.len() {
        0 if arguments.is_object() => text.push_str("  without arguments\n"),
        0 => text.push_str(&format!("  {}\n", shown(arguments))),
        all if all > MOST_ARGUMENTS => {
            text.push_str(&format!("  and {} more arguments\n", all - MOST_ARGUMENTS));
        }
        _ => {}
    }
    if let Some(rule) = &question.rule {
        text.push_str(&format!("  asked for by the rule {}\n", visible(&rule.to_string())));
    }
    text
}

/// A value as JSON, in one line. How much was left out is told, since it may
/// have been put there to be.
fn shown(value: Json<'_>) -> String {
    // Without needless escapes, which would hide what is meant.
    let plain = value.as_str().map(|text| serde_json::Value::from(text).to_string());
    let text = visible(&plain.unwrap_or_else(|| value.text().into_owned()));
    let count = text.chars().count();
    match count > LONGEST_ARGUMENT {
        true => format!("{} ({count} characters)", cut(&text, LONGEST_ARGUMENT)),
        false => text,
    }
}
