//! The JSON of other programs: which of its keys are ours, under which name.
//! What is not known there is noted and left out, since it is somebody else's.

use sparring_script::{Entry, Kind, Node, Source, Span, did_you_mean};

use super::{Content, Raw};
use crate::config::places::Format;

/// Keys that mean the same here.
const KEPT: [&str; 8] = ["command", "args", "env", "cwd", "url", "headers", "enabled", "transport"];

/// The most notes of one file.
const MOST: usize = 100;

/// An input that a file asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::config) struct Input {
    pub(in crate::config) id: String,
    /// Whether it is one that can be asked for here.
    pub(in crate::config) can_be_asked: bool,
    pub(in crate::config) description: String,
    pub(in crate::config) is_secret: bool,
    pub(in crate::config) default: Option<String>,
    pub(in crate::config) options: Vec<String>,
}

/// Reads what stands beside the servers.
pub(super) fn top(root: &Node, format: Format, content: &mut Content) {
    for entry in root.entries() {
        match (&*entry.key, format) {
            (key, _) if key == format.servers() => {}
            ("inputs", Format::VsCode) => content.inputs = inputs(&entry.value, content),
            ("$schema", _) => {}
            (key, _) => {
                let help = did_you_mean(key, [format.servers()]);
                let help = help.map(|help| format!("; {help}")).unwrap_or_default();
                note(&content.source, entry.key_span, &mut content.notes, || {
                    format!("`{key}` is not used{help}")
                });
            }
        }
    }
}

fn inputs(node: &Node, content: &mut Content) -> Vec<Input> {
    if !matches!(node.kind, Kind::List(_)) {
        let message = format!("expected a list of inputs, found {}", node.what());
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

/// Gives an entry our keys.
pub(super) fn entry(raw: &mut Raw, source: &Source, notes: &mut Vec<String>) {
    let Kind::Map(entries) = std::mem::replace(&mut raw.node.kind, Kind::Map(Vec::new())) else {
        return;
    };
    let has = |key: &str| entries.iter().any(|entry| entry.key == key);
    let (command, url) = (has("command"), has("url"));
    let name = raw.name.clone();
    let mut note = |span: Span, text: String| {
        note(source, span, notes, || format!("server `{name}`: {text}"));
    };
    let mut ours: Vec<Entry> = Vec::new();
    for mut entry in entries {
        let key = &*entry.key;
        if (url && !command && ["args", "env", "cwd"].contains(&key))
            || (command && !url && key == "headers")
        {
            let way = if url { "url" } else { "command" };
            note(entry.key_span, format!("`{key}` does not go with `{way}`, and is not used"));
            continue;
        }
        match key {
            "type" => "transport".clone_into(&mut entry.key),
            "disabled" => match entry.value.as_bool() {
                Some(disabled) => {
                    "enabled".clone_into(&mut entry.key);
                    entry.value.kind = Kind::Bool(!disabled);
                }
                None => {
                    let message = "`disabled` is true or false";
                    raw.problems.add(entry.value.span, message);
                    continue;
                }
            },
            key if KEPT.contains(&key) => {}
            key => {
                note(entry.key_span, format!("`{key}` is not used"));
                continue;
            }
        }
        match &*entry.key {
            "transport" => transport(&mut entry.value),
            "env" | "headers" => texts(&mut entry.value),
            _ => {}
        }
        if ours.iter().any(|it| it.key == entry.key) {
            raw.problems.add(entry.key_span, format!("`{}` is said twice", entry.key));
            continue;
        }
        ours.push(entry);
    }
    raw.node.kind = Kind::Map(ours);
}

/// Notes something with its place, but not without end.
fn note(source: &Source, span: Span, notes: &mut Vec<String>, text: impl FnOnce() -> String) {
    match notes.len() {
        0..MOST => notes.push(format!("{}: {}", source.place(span), text())),
        MOST => notes.push(format!("{}: there is more that is not used", source.name())),
        _ => {}
    }
}

/// Streamable HTTP has many names.
fn transport(node: &mut Node) {
    if let Kind::String(text) = &mut node.kind
        && ["streamable-http", "streamable_http", "streamableHttp"].contains(&&**text)
    {
        "http".clone_into(text);
    }
}

/// Numbers and booleans are written there as well; nothing is left out.
fn texts(node: &mut Node) {
    let Kind::Map(entries) = &mut node.kind else { return };
    entries.retain(|entry| entry.value.kind != Kind::Null);
    for entry in entries {
        match &entry.value.kind {
            Kind::Number(number) => entry.value.kind = Kind::String(number.to_string()),
            Kind::Bool(value) => entry.value.kind = Kind::String(value.to_string()),
            _ => {}
        }
    }
}
