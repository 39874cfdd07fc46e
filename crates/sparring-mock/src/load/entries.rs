//! Tools, resources, templates, prompts and completions.

use std::sync::{Arc, Mutex};

use serde_json::{Map, Value, json};
use sparring_script::{Node, Schema, input_schema};
use sparring_wire::RawJson;

use super::settings::{cache, listed};
use super::{Loader, text};
use crate::model::{Completion, Entry, Kind, Reference, Tool, UriPattern};

/// What an entry is listed with, beside what its kind adds.
const LISTED: [&str; 5] = ["title", "description", "icons", "annotations", "_meta"];

impl Loader<'_> {
    pub(super) fn tools(&mut self, script: &Node) -> Vec<Arc<Tool>> {
        items(script, "tools").iter().map(|node| Arc::new(self.tool(node))).collect()
    }

    pub(super) fn tool(&mut self, node: &Node) -> Tool {
        let name = text(node, "name").unwrap_or_default();
        let input = self.schema(node, "input").unwrap_or_else(|| json!({"type": "object"}));
        let validator = self.validator(node, "input", &input);
        let mut listed = Map::from_iter([("name".to_owned(), Value::from(&*name))]);
        listed.extend(super::settings::listed(node, &LISTED));
        listed.insert("inputSchema".to_owned(), input.clone());
        if let Some(output) = self.schema(node, "output") {
            self.validator(node, "output", &output);
            listed.insert("outputSchema".to_owned(), output);
        }
        let validated = node.get("validate").and_then(Node::as_bool) != Some(false);
        let mirrors = input.to_string().contains("\"x-mcp-header\"");
        Tool {
            entry: self.entry(node, name, listed, Kind::Tool),
            input: validator.filter(|_| validated),
            came_later: false,
            mirrored: mirrors.then(|| RawJson::from(&input)),
        }
    }

    /// A schema in short or in full.
    fn schema(&mut self, node: &Node, key: &str) -> Option<Value> {
        let full = format!("{key}_schema");
        match (node.get(key), node.get(&full)) {
            (Some(short), None) => Some(input_schema(short, &mut self.problems)),
            (None, Some(schema)) => Some(schema.to_json()),
            (None, None) => None,
            (Some(_), Some(schema)) => {
                let message = format!("give either `{key}` or `{full}`");
                self.problems.add(schema.span, message);
                None
            }
        }
    }

    fn validator(&mut self, node: &Node, key: &str, schema: &Value) -> Option<Schema> {
        let written = node.get(key).or_else(|| node.get(&format!("{key}_schema")));
        let span = written.map_or(node.span, |written| written.span);
        // The protocol wants an object here (2025-11-25, server/tools#data-types).
        if key == "input" && schema.get("type") != Some(&json!("object")) {
            self.problems.add(span, "the schema of arguments must have `type: object`");
        }
        match Schema::new(schema) {
            Ok(validator) => Some(validator),
            Err(error) => {
                self.problems.add(span, format!("this is no JSON Schema: {error}"));
                None
            }
        }
    }

    pub(super) fn resources(&mut self, script: &Node) -> Vec<Entry> {
        let read = |loader: &mut Self, node: &Node| {
            let uri = text(node, "uri").unwrap_or_default();
            let listed = resource(node, "uri", &uri);
            loader.entry(node, uri, listed, Kind::Resource)
        };
        items(script, "resources").iter().map(|node| read(self, node)).collect()
    }

    pub(super) fn templates(&mut self, script: &Node) -> Vec<(UriPattern, Entry)> {
        let mut templates = Vec::new();
        for node in items(script, "templates") {
            let pattern = text(node, "uri_template").unwrap_or_default();
            let listed = resource(node, "uriTemplate", &pattern);
            match UriPattern::parse(&pattern) {
                Ok(read) => {
                    templates.push((read, self.entry(node, pattern, listed, Kind::Template)));
                }
                Err(why) => {
                    let span = node.get("uri_template").map_or(node.span, |node| node.span);
                    self.problems.add(span, format!("this is no URI template: {why}"));
                }
            }
        }
        templates
    }

    pub(super) fn prompts(&mut self, script: &Node) -> Vec<Entry> {
        items(script, "prompts").iter().map(|node| self.prompt(node)).collect()
    }

    fn prompt(&mut self, node: &Node) -> Entry {
        let name = text(node, "name").unwrap_or_default();
        let mut listed = Map::from_iter([("name".to_owned(), Value::from(&*name))]);
        listed.extend(super::settings::listed(node, &LISTED));
        let arguments = items(node, "arguments");
        if let Some(written) = node.get("arguments") {
            listed.insert("arguments".to_owned(), written.to_json());
        }
        let is_required =
            |argument: &&Node| argument.get("required").and_then(Node::as_bool).unwrap_or_default();
        let required = arguments.iter().filter(is_required);
        let required = required.filter_map(|argument| text(argument, "name")).collect();
        Entry { required, ..self.entry(node, name, listed, Kind::Prompt) }
    }

    fn entry(&mut self, node: &Node, id: String, listed: Map<String, Value>, kind: Kind) -> Entry {
        let hidden = node.get("hidden").and_then(Node::as_bool).unwrap_or_default();
        Entry {
            id,
            listed: Value::Object(listed),
            hidden: hidden.into(),
            hidden_at_first: hidden,
            queued: Mutex::default(),
            required: Vec::new(),
            replies: self.replies(node, kind),
            cache: cache(node),
            calls: 0.into(),
        }
    }

    pub(super) fn completions(&mut self, script: &Node) -> Vec<Completion> {
        let mut completions = Vec::new();
        for node in items(script, "completions") {
            let of = match (text(node, "prompt"), text(node, "template")) {
                (Some(prompt), None) => Reference::Prompt(prompt),
                (None, Some(template)) => Reference::Template(template),
                _ => {
                    self.problems.add(node.span, "give either `prompt` or `template`");
                    continue;
                }
            };
            let values = items(node, "values").iter().filter_map(Node::as_str);
            completions.push(Completion {
                of,
                argument: text(node, "argument").unwrap_or_default(),
                values: values.map(str::to_owned).collect(),
                total: node.get("total").and_then(Node::as_u64),
                has_more: node.get("has_more").and_then(Node::as_bool),
            });
        }
        completions
    }
}

/// A resource or a template as it is listed.
fn resource(node: &Node, key: &str, id: &str) -> Map<String, Value> {
    let name = text(node, "name").unwrap_or_else(|| id.to_owned());
    let mut all = Map::from_iter([(key.to_owned(), id.into()), ("name".to_owned(), name.into())]);
    all.extend(listed(node, &LISTED));
    all.extend(listed(node, &["mime_type", "size"]));
    all
}

fn items<'a>(node: &'a Node, key: &str) -> &'a [Node] {
    node.get(key).map(Node::items).unwrap_or_default()
}
