//! Asks by text: writes a question and reads a line.
//!
//! It works on a terminal and on any other reader and writer. The caller checks
//! that a person is at the other end.

use std::io;
use std::time::Duration;

use futures_util::future::BoxFuture;
use sparring_wire::Json;
use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::Mutex;
use tokio::time::timeout;

use super::asker::{Answer, Asker, Question};
use crate::text::{escape_control, truncate};

/// Limits of the texts in a question.
const MAX_NAME_CHARS: usize = 100;
const MAX_ARGUMENT_CHARS: usize = 200;
const MAX_ARGUMENTS: usize = 20;

/// The maximum number of bytes of an answer that are read.
const MAX_LINE_BYTES: usize = 1_000;

/// Maximum times that a question is asked before it counts as unanswered.
const MAX_TRIES: usize = 3;

/// The limits of discarding input that was typed before the question: time, and number of reads.
const DISCARD_TIMEOUT: Duration = Duration::from_millis(20);
const MAX_DISCARDED_READS: usize = 64;

/// Asks by text.
pub struct TextPrompt<R, W> {
    channel: Mutex<PromptIo<R, W>>,
}

struct PromptIo<R, W> {
    reader: R,
    writer: W,
    /// True if the last question was not answered.
    unanswered: bool,
}

impl<R, W> TextPrompt<R, W> {
    /// Reads answers from `reader` and writes questions to `writer`.
    pub fn new(reader: R, writer: W) -> Self {
        TextPrompt { channel: Mutex::new(PromptIo { reader, writer, unanswered: false }) }
    }
}

impl<R, W> Asker for TextPrompt<R, W>
where
    R: AsyncBufRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin,
{
    fn ask(&self, question: Question) -> BoxFuture<'_, io::Result<Option<Answer>>> {
        Box::pin(async move { self.channel.lock().await.ask(&question).await })
    }
}

impl<R, W> PromptIo<R, W>
where
    R: AsyncBufRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin,
{
    async fn ask(&mut self, question: &Question) -> io::Result<Option<Answer>> {
        // The previous question was abandoned within its line.
        let begin = if self.unanswered { "\n" } else { "" };
        self.discard_typed_input().await?;
        self.write(&format!("{begin}{}", render_question(question))).await?;
        self.unanswered = true;
        for _ in 0..MAX_TRIES {
            self.write("Allow? [o]nce, [a]lways, [n]ever, Enter for not now: ").await?;
            let Some(line) = self.read_line().await? else {
                self.write("\n").await?;
                break;
            };
            match line.trim().to_lowercase().as_str() {
                "o" | "once" | "y" | "yes" => return self.finish(Some(Answer::Once)),
                "a" | "always" => return self.finish(Some(Answer::Always)),
                "n" | "never" => return self.finish(Some(Answer::Never)),
                "" | "no" => return self.finish(None),
                _ => {}
            }
        }
        self.finish(None)
    }

    fn finish(&mut self, answer: Option<Answer>) -> io::Result<Option<Answer>> {
        self.unanswered = false;
        Ok(answer)
    }

    async fn write(&mut self, text: &str) -> io::Result<()> {
        self.writer.write_all(text.as_bytes()).await?;
        self.writer.flush().await
    }

    async fn discard_typed_input(&mut self) -> io::Result<()> {
        for _ in 0..MAX_DISCARDED_READS {
            let Ok(typed) = timeout(DISCARD_TIMEOUT, self.reader.fill_buf()).await else { break };
            match typed?.len() {
                0 => break,
                typed => self.reader.consume(typed),
            }
        }
        Ok(())
    }

    /// Reads a line, truncated; `None` at the end of the input.
    async fn read_line(&mut self) -> io::Result<Option<String>> {
        let mut line = Vec::new();
        loop {
            let some = self.reader.fill_buf().await?;
            if some.is_empty() {
                return Ok(None);
            }
            let end = some.iter().position(|byte| *byte == b'\n');
            let count = end.map_or(some.len(), |end| end + 1);
            let room = MAX_LINE_BYTES - line.len();
            line.extend_from_slice(&some[..end.unwrap_or(count).min(room)]);
            self.reader.consume(count);
            if end.is_some() {
                return Ok(Some(String::from_utf8_lossy(&line).into_owned()));
            }
        }
    }
}

fn render_question(question: &Question) -> String {
    let name = |name: &str| truncate(&escape_control(name), MAX_NAME_CHARS);
    let mut text =
        format!("'{}' wants to run its tool '{}'\n", name(&question.server), name(&question.tool));
    let arguments = question.arguments.view();
    let members: Vec<_> = arguments.members().collect();
    for (key, value) in members.iter().take(MAX_ARGUMENTS) {
        text.push_str(&format!("  {}: {}\n", name(&key.name()), render_value(*value)));
    }
    match members.len() {
        0 if arguments.is_object() => text.push_str("  without arguments\n"),
        0 => text.push_str(&format!("  {}\n", render_value(arguments))),
        all if all > MAX_ARGUMENTS => {
            text.push_str(&format!("  and {} more arguments\n", all - MAX_ARGUMENTS));
        }
        _ => {}
    }
    if let Some(rule) = &question.rule {
        text.push_str(&format!("  required by rule {}\n", escape_control(&rule.to_string())));
    }
    text
}

/// A value as JSON in one line, truncated. The number of characters is shown,
/// because a server could hide something behind the cut.
fn render_value(value: Json<'_>) -> String {
    // Needless escapes would hide the text.
    let plain = value.as_str().map(|text| serde_json::Value::from(text).to_string());
    let text = escape_control(&plain.unwrap_or_else(|| value.text().into_owned()));
    let count = text.chars().count();
    match count > MAX_ARGUMENT_CHARS {
        true => format!("{} ({count} characters)", truncate(&text, MAX_ARGUMENT_CHARS)),
        false => text,
    }
}
