//! What happens while an agent runs: lines of JSON, or notes and the text as it
//! comes.

use serde_json::{Value, json};
use sparring_host::agent::{Called, Event, Permission};
use sparring_host::artifacts::Artifact;

use crate::failure::Failure;
use crate::output::{Printer, line};

/// The most of arguments that a note shows.
const LONGEST: usize = 200;

/// Tells events.
pub(super) struct Telling<'a> {
    printer: &'a Printer,
    /// Whether the last text that came has no end yet.
    open: bool,
}

impl<'a> Telling<'a> {
    pub(super) fn new(printer: &'a Printer) -> Self {
        Telling { printer, open: false }
    }

    pub(super) async fn tell(&mut self, event: Event) -> Result<(), Failure> {
        match self.printer.json() {
            true => match object(&event) {
                Some(object) => self.printer.print_json(&said(object)).await,
                None => Ok(()),
            },
            false => self.show(event).await,
        }
    }

    async fn show(&mut self, event: Event) -> Result<(), Failure> {
        if let Event::Delta(more) = event {
            self.open = !more.ends_with('\n');
            return self.printer.print_foreign(more.as_bytes()).await;
        }
        if std::mem::take(&mut self.open) {
            self.printer.print("\n").await?;
        }
        if let Some(note) = note(&event) {
            self.printer.note(&note).await;
        }
        Ok(())
    }
}

/// What a person may want to know of it.
fn note(event: &Event) -> Option<String> {
    match event {
        Event::Retry { status, after } => {
            Some(format!("the endpoint answered {status}; it is asked again in {after:?}"))
        }
        Event::Call(call) => {
            let Called { tool, arguments, .. } = &**call;
            Some(format!("calls {} {}", line::cut(tool, LONGEST), line::cut(arguments, LONGEST)))
        }
        Event::Artifact { artifact, .. } => {
            let Artifact { place, mime_type, bytes, status, .. } = artifact;
            let why = status.why().map(|why| format!(": {why}")).unwrap_or_default();
            match artifact.file() {
                Some(file) => {
                    Some(format!("saved {} ({mime_type}, {bytes} bytes){why}", file.display()))
                }
                None if !why.is_empty() => Some(format!("{place} was not saved{why}")),
                None => None,
            }
        }
        Event::Result { call, text, is_error: true } => {
            let why = line::cut(&line::first(text), LONGEST);
            Some(format!("{} failed: {why}", line::cut(&call.tool, LONGEST)))
        }
        _ => None,
    }
}

/// It without what there is nothing to say of.
fn said(mut object: Value) -> Value {
    if let Value::Object(members) = &mut object {
        members.retain(|_, value| !value.is_null());
    }
    object
}

/// It as a program reads it.
fn object(event: &Event) -> Option<Value> {
    Some(match event {
        Event::Turn { turn, tools } => json!({"event": "turn", "turn": turn, "tools": tools}),
        Event::Retry { status, after } => {
            let after = u64::try_from(after.as_millis()).unwrap_or(u64::MAX);
            json!({"event": "retry", "status": status, "after_ms": after})
        }
        Event::Delta(text) => json!({"event": "delta", "text": text}),
        Event::Text(text) => json!({"event": "text", "text": text}),
        Event::Call(call) => {
            let Called { id, tool, arguments } = &**call;
            // What is no JSON is shown as the text that it is.
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
