//! Prints the events of an agent run: as JSON lines, or as notes and streamed text.

use serde_json::{Value, json};
use sparring_host::agent::{Event, Permission, ToolCall};
use sparring_host::artifacts::Artifact;

use crate::command_error::CommandError;
use crate::output::{Printer, StreamWriter, line};

/// Maximum length of arguments in a note.
const MAX_COLUMNS: usize = 200;

/// Prints events.
pub(super) struct EventOutput<'a> {
    printer: &'a Printer,
    /// True if the streamed text does not end with a line break.
    line_is_open: bool,
    /// The answer of the model arrives in pieces.
    answer: StreamWriter,
}

impl<'a> EventOutput<'a> {
    pub(super) fn new(printer: &'a Printer) -> Self {
        EventOutput { printer, line_is_open: false, answer: printer.stdout_stream() }
    }

    pub(super) async fn print_event(&mut self, event: Event) -> Result<(), CommandError> {
        match self.printer.is_json() {
            true => match event_to_json(&event) {
                Some(object) => self.printer.print_json(&without_nulls(object)).await,
                None => Ok(()),
            },
            false => self.print_text(event).await,
        }
    }

    async fn print_text(&mut self, event: Event) -> Result<(), CommandError> {
        if let Event::Delta(more) = event {
            self.line_is_open = !more.ends_with('\n');
            let more = self.printer.paint().untrusted(&more);
            let written = self.answer.write(more.as_bytes()).await;
            return written.map_err(CommandError::Output);
        }
        self.answer.finish().await.map_err(CommandError::Output)?;
        if std::mem::take(&mut self.line_is_open) {
            self.printer.print("\n").await?;
        }
        if let Some(note) = event_note(&event) {
            self.printer.note(&note).await;
        }
        Ok(())
    }
}

/// Returns the note for an event.
fn event_note(event: &Event) -> Option<String> {
    match event {
        Event::Retry { status, after } => {
            Some(format!("the endpoint returned {status}; retrying in {after:?}"))
        }
        Event::Call(call) => {
            let ToolCall { tool, arguments, .. } = &**call;
            Some(format!(
                "calling {} {}",
                line::truncate(tool, MAX_COLUMNS),
                line::truncate(arguments, MAX_COLUMNS)
            ))
        }
        Event::Artifact { artifact, .. } => {
            let Artifact { place, mime_type, bytes, status, .. } = artifact;
            let why = status.why().map(|why| format!(": {why}")).unwrap_or_default();
            match artifact.file() {
                Some(file) => {
                    Some(format!("saved {} ({mime_type}, {bytes} bytes){why}", file.display()))
                }
                None if !why.is_empty() => Some(format!("{place} not saved{why}")),
                None => None,
            }
        }
        Event::Result { call, text, is_error: true } => {
            let why = line::truncate(&line::first_line(text), MAX_COLUMNS);
            Some(format!("{} failed: {why}", line::truncate(&call.tool, MAX_COLUMNS)))
        }
        _ => None,
    }
}

/// Removes members that are null.
fn without_nulls(mut object: Value) -> Value {
    if let Value::Object(members) = &mut object {
        members.retain(|_, value| !value.is_null());
    }
    object
}

/// Returns an event as JSON.
fn event_to_json(event: &Event) -> Option<Value> {
    Some(match event {
        Event::Turn { turn, tools } => json!({"event": "turn", "turn": turn, "tools": tools}),
        Event::Retry { status, after } => {
            let after = u64::try_from(after.as_millis()).unwrap_or(u64::MAX);
            json!({"event": "retry", "status": status, "after_ms": after})
        }
        Event::Delta(text) => json!({"event": "delta", "text": text}),
        Event::Text(text) => json!({"event": "text", "text": text}),
        Event::Call(call) => {
            let ToolCall { id, tool, arguments } = &**call;
            // Arguments that are not JSON are shown as text.
            let arguments: Value =
                serde_json::from_str(arguments).unwrap_or_else(|_| arguments.as_str().into());
            json!({"event": "call", "id": id, "tool": tool, "arguments": arguments})
        }
        Event::Permission(Permission { call, server, refused }) => json!({
            "event": "permission", "id": call.id, "tool": call.tool, "server": server.as_deref(),
            "allowed": refused.is_none(), "why": refused,
        }),
        Event::Artifact { call, artifact } => json!({
            "event": "artifact", "id": call.id, "tool": call.tool,
            "place": artifact.place.to_string(), "kind": artifact.kind.name(),
            "mime_type": artifact.mime_type, "bytes": artifact.bytes,
            "status": artifact.status.name(), "why": artifact.status.why(),
            "file": artifact.file().map(|file| file.display().to_string()),
        }),
        Event::Result { call, text, is_error } => json!({
            "event": "result", "id": call.id, "tool": call.tool, "is_error": is_error,
            "text": text,
        }),
        _ => return None,
    })
}
