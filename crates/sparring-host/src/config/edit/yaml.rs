//! Changes to YAML, made in its text where the parser says that things stand.
//!
//! Where a map or list ends is not told by the parser, so several texts are
//! tried; whoever asks takes the first that says what it should.

use serde_json::Value;
use sparring_script::{Entry, Node};

use super::{Keyed, entry};
use crate::config::places::Format;

/// The most texts that are tried.
const MOST: usize = 100;

/// The texts that may have the change in them.
pub(super) fn tries(text: &str, root: &Node, change: &Keyed) -> Vec<String> {
    let yaml = Yaml { text, root };
    match change {
        Keyed::Add { name, entry } => yaml.added(name, entry),
        Keyed::Remove { name } => yaml.removed(name).unwrap_or_default(),
        Keyed::Set { name, key, value } => yaml.set(name, key, *value).unwrap_or_default(),
    }
}

struct Yaml<'a> {
    text: &'a str,
    root: &'a Node,
}

impl Yaml<'_> {
    fn set(&self, name: &str, key: &str, value: bool) -> Option<Vec<String>> {
        let entry = entry(self.root, name, Format::Yaml)?;
        if let Some(there) = entry.value.get(key) {
            return Some(vec![self.with(there.span.start, there.span.end, &value.to_string())]);
        }
        let start = entry.value.span.start;
        if self.is_flow(start) {
            let rest = if entry.value.entries().is_empty() { "" } else { ", " };
            return Some(vec![self.with(start + 1, start + 1, &format!("{key}: {value}{rest}"))]);
        }
        let first = entry.value.entries().first()?.key_span.start;
        let indent = " ".repeat(first - self.line_start(first));
        let line = format!("{indent}{key}: {value}{}", self.newline());
        let below = self.line_end(entry.key_span.end);
        Some(vec![self.with(below, below, &line)])
    }

    fn removed(&self, name: &str) -> Option<Vec<String>> {
        let servers = self.root.entry("servers")?;
        let entries = servers.value.entries();
        let at = entries.iter().position(|entry| entry.key == name)?;
        let (key, next) = (entries[at].key_span.start, entries.get(at + 1));
        if self.is_flow(servers.value.span.start) {
            if let Some(next) = next {
                return Some(vec![self.with(key, next.key_span.start, "")]);
            }
            let before = if at > 0 { self.text[..key].rfind(',')? } else { key };
            let ends = self.text[key..].match_indices('}').map(|(end, _)| key + end);
            return Some(ends.take(MOST).map(|end| self.with(before, end, "")).collect());
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
        Some(ends.map(|end| emptied(self.with(start, end, ""))).collect())
    }

    fn added(&self, name: &str, entry: &Value) -> Vec<String> {
        let newline = self.newline();
        let Some(servers) = self.root.entry("servers") else {
            let block = block(name, entry, 2, newline);
            if self.is_flow(self.root.span.start) && !self.root.entries().is_empty() {
                let start = self.root.span.start + 1;
                let line = format!("servers: {{{}: {entry}}}, ", scalar(name));
                return vec![self.with(start, start, &line)];
            }
            let text = self.text.strip_suffix("{}").unwrap_or(self.text);
            let gap = if text.is_empty() || text.ends_with('\n') { "" } else { newline };
            return vec![format!("{text}{gap}servers:{newline}{block}")];
        };
        let start = servers.value.span.start;
        let entries = servers.value.entries();
        match entries.last() {
            Some(_) if self.is_flow(start) => {
                let line = format!("{}: {entry}, ", scalar(name));
                vec![self.with(start + 1, start + 1, &line)]
            }
            Some(last) => {
                let first = entries[0].key_span.start;
                let indent = first - self.line_start(first);
                let block = block(name, entry, indent, newline);
                let end = self.entry_end(last);
                let gap = if self.text[..end].ends_with('\n') { "" } else { newline };
                vec![self.with(end, end, &format!("{gap}{block}"))]
            }
            None => {
                let colon = self.text[servers.key_span.end..].find(':');
                let after = servers.key_span.end + colon.map_or(0, |at| at + 1);
                let indent = self.column(servers.key_span.start) + 2;
                let block = block(name, entry, indent, newline);
                let end = self.line_end(after);
                let gap = if self.text[..end].ends_with('\n') { "" } else { newline };
                let closing = self.text[after..].find('}').map(|at| after + at + 1);
                let mut tries = vec![self.with(end, end, &format!("{gap}{block}"))];
                tries.extend(closing.map(|closing| {
                    let rest = self.text[closing..].trim_start_matches([' ', '\t']);
                    let rest = rest.strip_prefix(newline).unwrap_or(rest);
                    format!("{}{newline}{block}{rest}", &self.text[..after])
                }));
                tries
            }
        }
    }

    /// Where the lines of an entry end: before the next that is no deeper, and
    /// before the comments and empty lines above that.
    fn entry_end(&self, entry: &Entry) -> usize {
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

    fn with(&self, start: usize, end: usize, new: &str) -> String {
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

    /// Where the next line begins.
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

/// An entry as a person would write it.
fn block(name: &str, entry: &Value, indent: usize, newline: &str) -> String {
    let mut lines = format!("{}{}:{newline}", " ".repeat(indent), scalar(name));
    pairs(entry, indent + 2, newline, &mut lines);
    lines
}

fn pairs(map: &Value, indent: usize, newline: &str, lines: &mut String) {
    for (key, value) in map.as_object().into_iter().flatten() {
        let start = format!("{}{}:", " ".repeat(indent), scalar(key));
        match value {
            Value::Object(map) if !map.is_empty() => {
                *lines += &format!("{start}{newline}");
                pairs(value, indent + 2, newline, lines);
            }
            Value::Array(items) => {
                let items: Vec<String> = items.iter().map(in_flow).collect();
                *lines += &format!("{start} [{}]{newline}", items.join(", "));
            }
            Value::String(text) => *lines += &format!("{start} {}{newline}", scalar(text)),
            other => *lines += &format!("{start} {other}{newline}"),
        }
    }
}

fn in_flow(value: &Value) -> String {
    match value.as_str() {
        Some(text) if !text.contains(':') => scalar(text),
        _ => value.to_string(),
    }
}

/// A text without quotes, where nobody can take it for something else.
fn scalar(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_./@:+-".contains(c);
    let begins = text.starts_with(|c: char| c.is_ascii_alphabetic() || "_/".contains(c));
    let words = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    let is_word = words.iter().any(|word| word.eq_ignore_ascii_case(text));
    match begins && text.chars().all(is_plain) && !text.ends_with(':') && !is_word {
        true => text.to_owned(),
        false => Value::from(text).to_string(),
    }
}
