//! Changes YAML text at the positions that the parser reports.
//!
//! The parser does not report where a map or list ends, so this module returns
//! several candidates; the caller takes the first one with the expected
//! contents.

use serde_json::Value;
use sparring_script::{MapEntry, Node};

use super::{FormatChange, entry};
use crate::config::locations::Format;

/// The maximum number of candidates.
const MAX_CANDIDATES: usize = 100;

/// The candidates for the changed text.
pub(super) fn candidates(text: &str, root: &Node, change: &FormatChange) -> Vec<String> {
    let yaml = YamlEditor { text, root };
    match change {
        FormatChange::Add { name, entry } => yaml.add_entry(name, entry),
        FormatChange::Remove { name } => yaml.remove_entry(name).unwrap_or_default(),
        FormatChange::Set { name, key, value } => {
            yaml.set_key(name, key, *value).unwrap_or_default()
        }
    }
}

struct YamlEditor<'a> {
    text: &'a str,
    root: &'a Node,
}

impl YamlEditor<'_> {
    fn set_key(&self, name: &str, key: &str, value: bool) -> Option<Vec<String>> {
        let entry = entry(self.root, name, Format::Yaml)?;
        if let Some(existing) = entry.value.get(key) {
            return Some(vec![self.replace_range(
                existing.span.start,
                existing.span.end,
                &value.to_string(),
            )]);
        }
        let start = entry.value.span.start;
        if self.is_flow(start) {
            let rest = if entry.value.entries().is_empty() { "" } else { ", " };
            return Some(vec![self.replace_range(
                start + 1,
                start + 1,
                &format!("{key}: {value}{rest}"),
            )]);
        }
        let first = entry.value.entries().first()?.key_span.start;
        let indent = " ".repeat(first - self.line_start(first));
        let line = format!("{indent}{key}: {value}{}", self.newline());
        let below = self.line_end(entry.key_span.end);
        Some(vec![self.replace_range(below, below, &line)])
    }

    fn remove_entry(&self, name: &str) -> Option<Vec<String>> {
        let servers = self.root.entry("servers")?;
        let entries = servers.value.entries();
        let at = entries.iter().position(|entry| entry.key == name)?;
        let (key, next) = (entries[at].key_span.start, entries.get(at + 1));
        if self.is_flow(servers.value.span.start) {
            if let Some(next) = next {
                return Some(vec![self.replace_range(key, next.key_span.start, "")]);
            }
            let before = if at > 0 { self.text[..key].rfind(',')? } else { key };
            let ends = self.text[key..].match_indices('}').map(|(end, _)| key + end);
            return Some(
                ends.take(MAX_CANDIDATES).map(|end| self.replace_range(before, end, "")).collect(),
            );
        }
        let (start, end) = (self.line_start(key), self.entry_end(&entries[at]));
        let end_of_next = next.map(|next| self.line_start(next.key_span.start));
        let emptied = |text: String| match entries.len() {
            1 => {
                let colon =
                    servers.key_span.end + text[servers.key_span.end..].find(':').unwrap_or(0);
                format!("{} {{}}{}", &text[..=colon], &text[colon + 1..])
            }
            _ => text,
        };
        let ends = [Some(end), end_of_next].into_iter().flatten();
        Some(ends.map(|end| emptied(self.replace_range(start, end, ""))).collect())
    }

    fn add_entry(&self, name: &str, entry: &Value) -> Vec<String> {
        let newline = self.newline();
        let Some(servers) = self.root.entry("servers") else {
            let block = render_block(name, entry, 2, newline);
            if self.is_flow(self.root.span.start) && !self.root.entries().is_empty() {
                let start = self.root.span.start + 1;
                let line = format!("servers: {{{}: {entry}}}, ", render_scalar(name));
                return vec![self.replace_range(start, start, &line)];
            }
            let text = self.text.strip_suffix("{}").unwrap_or(self.text);
            let gap = if text.is_empty() || text.ends_with('\n') { "" } else { newline };
            return vec![format!("{text}{gap}servers:{newline}{block}")];
        };
        let start = servers.value.span.start;
        let entries = servers.value.entries();
        match entries.last() {
            Some(_) if self.is_flow(start) => {
                let line = format!("{}: {entry}, ", render_scalar(name));
                vec![self.replace_range(start + 1, start + 1, &line)]
            }
            Some(last) => {
                let first = entries[0].key_span.start;
                let indent = first - self.line_start(first);
                let block = render_block(name, entry, indent, newline);
                let end = self.entry_end(last);
                let gap = if self.text[..end].ends_with('\n') { "" } else { newline };
                vec![self.replace_range(end, end, &format!("{gap}{block}"))]
            }
            None => {
                let colon = self.text[servers.key_span.end..].find(':');
                let after = servers.key_span.end + colon.map_or(0, |at| at + 1);
                let indent = self.column(servers.key_span.start) + 2;
                let block = render_block(name, entry, indent, newline);
                let end = self.line_end(after);
                let gap = if self.text[..end].ends_with('\n') { "" } else { newline };
                let closing = self.text[after..].find('}').map(|at| after + at + 1);
                let mut tries = vec![self.replace_range(end, end, &format!("{gap}{block}"))];
                tries.extend(closing.map(|closing| {
                    let rest = self.text[closing..].trim_start_matches([' ', '\t']);
                    let rest = rest.strip_prefix(newline).unwrap_or(rest);
                    format!("{}{newline}{block}{rest}", &self.text[..after])
                }));
                // In a root like `{"servers": {}}`, no block can follow.
                let flow = format!("{{{}: {entry}}}", render_scalar(name));
                tries.extend(closing.map(|closing| {
                    let before = &self.text[..closing];
                    let open = before.rfind('{').unwrap_or(after).max(after);
                    self.replace_range(open, closing, &flow)
                }));
                tries
            }
        }
    }

    /// The end of an entry's lines: before the next line that is not deeper,
    /// and before the comments and empty lines above that line.
    fn entry_end(&self, entry: &MapEntry) -> usize {
        let key = entry.key_span.start;
        let indent = key - self.line_start(key);
        let mut at = self.line_end(key);
        let mut end = at;
        for line in self.text[at..].split_inclusive('\n') {
            let content = line.trim_start_matches(' ');
            let depth = line.len() - content.len();
            let is_blank = content.trim().is_empty();
            if !is_blank && depth <= indent && !content.starts_with('#') {
                break;
            }
            at += line.len();
            if !is_blank && depth > indent {
                end = at;
            }
        }
        end
    }

    fn replace_range(&self, start: usize, end: usize, new: &str) -> String {
        let start = start.min(self.text.len());
        let end = end.clamp(start, self.text.len());
        format!("{}{new}{}", &self.text[..start], &self.text[end..])
    }

    fn is_flow(&self, at: usize) -> bool {
        self.text[at.min(self.text.len())..].starts_with('{')
    }

    fn line_start(&self, at: usize) -> usize {
        self.text[..at].rfind('\n').map_or(0, |newline| newline + 1)
    }

    /// The beginning of the next line.
    fn line_end(&self, at: usize) -> usize {
        self.text[at..].find('\n').map_or(self.text.len(), |newline| at + newline + 1)
    }

    fn column(&self, at: usize) -> usize {
        at - self.line_start(at)
    }

    fn newline(&self) -> &'static str {
        if self.text.contains("\r\n") { "\r\n" } else { "\n" }
    }
}

/// An entry in block style.
fn render_block(name: &str, entry: &Value, indent: usize, newline: &str) -> String {
    let mut lines = format!("{}{}:{newline}", " ".repeat(indent), render_scalar(name));
    render_pairs(entry, indent + 2, newline, &mut lines);
    lines
}

fn render_pairs(map: &Value, indent: usize, newline: &str, lines: &mut String) {
    for (key, value) in map.as_object().into_iter().flatten() {
        let start = format!("{}{}:", " ".repeat(indent), render_scalar(key));
        match value {
            Value::Object(map) if !map.is_empty() => {
                *lines += &format!("{start}{newline}");
                render_pairs(value, indent + 2, newline, lines);
            }
            Value::Array(items) => {
                let items: Vec<String> = items.iter().map(render_flow_item).collect();
                *lines += &format!("{start} [{}]{newline}", items.join(", "));
            }
            Value::String(text) => *lines += &format!("{start} {}{newline}", render_scalar(text)),
            other => *lines += &format!("{start} {other}{newline}"),
        }
    }
}

fn render_flow_item(value: &Value) -> String {
    match value.as_str() {
        Some(text) if !text.contains(':') => render_scalar(text),
        _ => value.to_string(),
    }
}

/// A text without quotes if it is unambiguous, and otherwise quoted.
fn render_scalar(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_./@:+-".contains(c);
    let begins = text.starts_with(|c: char| c.is_ascii_alphabetic() || "_/".contains(c));
    let words = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    let is_word = words.iter().any(|word| word.eq_ignore_ascii_case(text));
    match begins && text.chars().all(is_plain) && !text.ends_with(':') && !is_word {
        true => text.to_owned(),
        false => Value::from(text).to_string(),
    }
}
