//! Reads the JSON files of other programs: translates their keys to ours.
//! Unknown keys are noted and ignored.

use std::path::Path;

use sparring_script::{MapEntry, Node, NodeKind, Source, Span, did_you_mean};

use super::{FileContent, RawEntry};
use crate::config::locations::Format;

/// Keys with the same meaning here.
const SHARED_KEYS: [&str; 8] =
    ["command", "args", "env", "cwd", "url", "headers", "enabled", "transport"];

/// The files of Cline and Roo Code, which count a `timeout` in seconds.
const SECONDS_FILES: [&str; 3] = ["cline_mcp_settings.json", "mcp_settings.json", ".roo/mcp.json"];

/// The maximum number of notes of one file.
const MAX_NOTES: usize = 100;

/// An input that a file declares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::config) struct Input {
    pub(in crate::config) id: String,
    /// True if this program can ask for it.
    pub(in crate::config) can_be_asked: bool,
    pub(in crate::config) description: String,
    pub(in crate::config) is_secret: bool,
    pub(in crate::config) default: Option<String>,
    pub(in crate::config) options: Vec<String>,
}

/// Reads the keys beside the servers.
pub(super) fn read_top_level(root: &Node, format: Format, content: &mut FileContent) {
    for entry in root.entries() {
        match (&*entry.key, format) {
            (key, _) if key == format.servers_key() => {}
            ("inputs", Format::VsCode) => content.inputs = read_inputs(&entry.value, content),
            ("$schema", _) => {}
            (key, _) => {
                let help = did_you_mean(key, [format.servers_key()]);
                let help = help.map(|help| format!("; {help}")).unwrap_or_default();
                add_note(&content.source, entry.key_span, &mut content.notes, || {
                    format!("unknown key `{key}` ignored{help}")
                });
            }
        }
    }
}

fn read_inputs(node: &Node, content: &mut FileContent) -> Vec<Input> {
    if !matches!(node.kind, NodeKind::List(_)) {
        let message = format!("expected a list of inputs, found {}", node.describe());
        content.problems.add(node.span, message);
    }
    let text = |node: &Node, key: &str| node.get(key).and_then(Node::as_str).map(str::to_owned);
    let input = |node: &Node| {
        let option = |node: &Node| {
            let value = node.get("value").unwrap_or(node);
            value.as_str().map(str::to_owned)
        };
        let options = node.get("options").map(Node::items).unwrap_or_default();
        let kind = text(node, "type").unwrap_or_default();
        Some(Input {
            id: text(node, "id")?,
            can_be_asked: ["promptString", "pickString"].contains(&&*kind),
            description: text(node, "description").unwrap_or_default(),
            is_secret: node.get("password").and_then(Node::as_bool).unwrap_or_default(),
            default: text(node, "default"),
            options: options.iter().filter_map(option).collect(),
        })
    };
    let mut inputs = Vec::new();
    for item in node.items() {
        match input(item) {
            Some(input) => inputs.push(input),
            None => content.problems.add(item.span, "an input needs an `id`"),
        }
    }
    inputs
}

/// Translates the keys of an entry to ours.
pub(in crate::config) fn convert_entry(
    raw: &mut RawEntry,
    source: &Source,
    notes: &mut Vec<String>,
) {
    let NodeKind::Map(entries) = std::mem::replace(&mut raw.node.kind, NodeKind::Map(Vec::new()))
    else {
        return;
    };
    let has = |key: &str| entries.iter().any(|entry| entry.key == key);
    let (command, url) = (has("command"), has("url") || has("serverUrl") || has("httpUrl"));
    let name = raw.name.clone();
    let mut note = |span: Span, text: String| {
        add_note(source, span, notes, || format!("server `{name}`: {text}"));
    };
    let mut ours: Vec<MapEntry> = Vec::new();
    for mut entry in entries {
        let key = &*entry.key;
        if (url && !command && ["args", "env", "envFile", "cwd"].contains(&key))
            || (command && !url && key == "headers")
        {
            let target_key = if url { "url" } else { "command" };
            note(entry.key_span, format!("`{key}` ignored: it does not apply to `{target_key}`"));
            continue;
        }
        match key {
            "type" => "transport".clone_into(&mut entry.key),
            // Windsurf and Gemini CLI have their own names for a URL.
            "serverUrl" | "httpUrl" => "url".clone_into(&mut entry.key),
            "envFile" => "env_file".clone_into(&mut entry.key),
            "timeout" => match convert_timeout(&entry, source) {
                Some(settings) => entry = settings,
                None => {
                    let message = "`timeout` must be a number";
                    raw.problems.add(entry.value.span, message);
                    continue;
                }
            },
            "disabled" => match entry.value.as_bool() {
                Some(disabled) => {
                    "enabled".clone_into(&mut entry.key);
                    entry.value.kind = NodeKind::Bool(!disabled);
                }
                None => {
                    let message = "`disabled` must be true or false";
                    raw.problems.add(entry.value.span, message);
                    continue;
                }
            },
            key if SHARED_KEYS.contains(&key) => {}
            key => {
                note(entry.key_span, format!("unknown key `{key}` ignored"));
                continue;
            }
        }
        match &*entry.key {
            "transport" => normalize_transport(&mut entry.value),
            "env" | "headers" => stringify_values(&mut entry.value),
            _ => {}
        }
        if ours.iter().any(|it| it.key == entry.key) {
            raw.problems.add(entry.key_span, format!("`{}` is set twice", entry.key));
            continue;
        }
        ours.push(entry);
    }
    raw.node.kind = NodeKind::Map(ours);
}

/// Converts a number to our settings. It counts milliseconds, as in Claude Code and Gemini
/// CLI, except in the files of Cline and Roo Code, where it counts seconds.
fn convert_timeout(entry: &MapEntry, source: &Source) -> Option<MapEntry> {
    let NodeKind::Number(number) = &entry.value.kind else { return None };
    let number = number.as_f64().filter(|number| *number >= 0.0)?;
    let is_in_seconds = SECONDS_FILES.iter().any(|file| Path::new(source.name()).ends_with(file));
    let milliseconds = if is_in_seconds { number * 1000.0 } else { number };
    let span = entry.value.span;
    let text = NodeKind::String(format!("{}ms", milliseconds.round()));
    let timeout = MapEntry {
        key: "timeout".to_owned(),
        key_span: entry.key_span,
        value: Node { span, kind: text },
    };
    let kind = NodeKind::Map(vec![timeout]);
    let (key, key_span) = ("settings".to_owned(), entry.key_span);
    Some(MapEntry { key, key_span, value: Node { span, kind } })
}

/// Adds a note with its position, up to the limit.
fn add_note(source: &Source, span: Span, notes: &mut Vec<String>, text: impl FnOnce() -> String) {
    match notes.len() {
        0..MAX_NOTES => notes.push(format!("{}: {}", source.location(span), text())),
        MAX_NOTES => notes.push(format!("{}: further unknown keys ignored", source.name())),
        _ => {}
    }
}

/// Streamable HTTP has several names.
fn normalize_transport(node: &mut Node) {
    if let NodeKind::String(text) = &mut node.kind
        && ["streamable-http", "streamable_http", "streamableHttp"].contains(&&**text)
    {
        "http".clone_into(text);
    }
}

/// Other programs accept numbers and booleans too, and `null` for no value.
fn stringify_values(node: &mut Node) {
    let NodeKind::Map(entries) = &mut node.kind else { return };
    entries.retain(|entry| entry.value.kind != NodeKind::Null);
    for entry in entries {
        match &entry.value.kind {
            NodeKind::Number(number) => entry.value.kind = NodeKind::String(number.to_string()),
            NodeKind::Bool(value) => entry.value.kind = NodeKind::String(value.to_string()),
            _ => {}
        }
    }
}
