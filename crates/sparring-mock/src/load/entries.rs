//! Loads tools, resources, templates, prompts and completions.

use std::sync::{Arc, Mutex};

use serde_json::{Map, Value, json};
use sparring_script::{Node, Schema, build_input_schema};
use sparring_wire::RawJson;

use super::server_settings::copy_keys;
use super::{Loader, text};
use crate::model::{Completion, CompletionRef, Entry, EntryKind, Tool, UriTemplate};

/// Keys that are copied to the definition of every entry.
const COMMON_KEYS: [&str; 5] = ["title", "description", "icons", "annotations", "_meta"];

impl Loader<'_> {
    pub(super) fn load_tools(&mut self, script: &Node) -> Vec<Arc<Tool>> {
        items(script, "tools").iter().map(|node| Arc::new(self.load_tool(node))).collect()
    }

    pub(super) fn load_tool(&mut self, node: &Node) -> Tool {
        let name = text(node, "name").unwrap_or_default();
        // Some clients need the properties, even if there are none.
        let no_input = || json!({"type": "object", "properties": {}});
        let input = self.load_schema(node, "input").unwrap_or_else(no_input);
        let validates = node.get("validate").and_then(Node::as_bool) != Some(false);
        let validator = self.compile_schema(node, "input", &input, validates);
        let mut definition = Map::from_iter([("name".to_owned(), Value::from(&*name))]);
        definition.extend(super::server_settings::copy_keys(node, &COMMON_KEYS));
        definition.insert("inputSchema".to_owned(), input.clone());
        if let Some(output) = self.load_schema(node, "output") {
            self.compile_schema(node, "output", &output, false);
            definition.insert("outputSchema".to_owned(), output);
        }
        let has_mirrored_headers = input.to_string().contains("\"x-mcp-header\"");
        Tool {
            entry: self.load_entry(node, name, definition, EntryKind::Tool),
            input: validator.filter(|_| validates),
            registered_at_runtime: false,
            reserved: None,
            mirrored_input: has_mirrored_headers.then(|| RawJson::from(&input)),
        }
    }

    /// Loads a schema in short or full form.
    fn load_schema(&mut self, node: &Node, key: &str) -> Option<Value> {
        let full = format!("{key}_schema");
        match (node.get(key), node.get(&full)) {
            (Some(short), None) => Some(build_input_schema(short, &mut self.problems)),
            (None, Some(schema)) => Some(schema.to_json()),
            (None, None) => None,
            (Some(_), Some(schema)) => {
                let message = format!("give either `{key}` or `{full}`");
                self.problems.add(schema.span, message);
                None
            }
        }
    }

    /// Compiles a schema. One that is too complex to check can be listed, but not used.
    fn compile_schema(
        &mut self,
        node: &Node,
        key: &str,
        schema: &Value,
        is_used: bool,
    ) -> Option<Schema> {
        let given = node.get(key).or_else(|| node.get(&format!("{key}_schema")));
        let span = given.map_or(node.span, |given| given.span);
        // The protocol requires an object here (2025-11-25, server/tools#data-types).
        if key == "input" && schema.get("type") != Some(&json!("object")) {
            self.problems.add(span, "the input schema must have `type: object`");
        }
        match Schema::new(schema) {
            Ok(validator) => Some(validator),
            Err(error) if error.too_complex && !is_used => None,
            Err(error) => {
                self.problems.add(span, format!("not a JSON Schema: {error}"));
                None
            }
        }
    }

    pub(super) fn load_resources(&mut self, script: &Node) -> Vec<Entry> {
        let read = |loader: &mut Self, node: &Node| {
            let uri = text(node, "uri").unwrap_or_default();
            let definition = resource_definition(node, "uri", &uri);
            loader.load_entry(node, uri, definition, EntryKind::Resource)
        };
        items(script, "resources").iter().map(|node| read(self, node)).collect()
    }

    pub(super) fn load_templates(&mut self, script: &Node) -> Vec<(UriTemplate, Entry)> {
        let mut templates = Vec::new();
        for node in items(script, "templates") {
            let template = text(node, "uri_template").unwrap_or_default();
            let definition = resource_definition(node, "uriTemplate", &template);
            match UriTemplate::parse(&template) {
                Ok(read) => {
                    templates.push((
                        read,
                        self.load_entry(node, template, definition, EntryKind::Template),
                    ));
                }
                Err(why) => {
                    let span = node.get("uri_template").map_or(node.span, |node| node.span);
                    self.problems.add(span, format!("not a URI template: {why}"));
                }
            }
        }
        templates
    }

    pub(super) fn load_prompts(&mut self, script: &Node) -> Vec<Entry> {
        items(script, "prompts").iter().map(|node| self.load_prompt(node)).collect()
    }

    fn load_prompt(&mut self, node: &Node) -> Entry {
        let name = text(node, "name").unwrap_or_default();
        let mut definition = Map::from_iter([("name".to_owned(), Value::from(&*name))]);
        definition.extend(super::server_settings::copy_keys(node, &COMMON_KEYS));
        let arguments = items(node, "arguments");
        if let Some(given) = node.get("arguments") {
            definition.insert("arguments".to_owned(), given.to_json());
        }
        let is_required =
            |argument: &&Node| argument.get("required").and_then(Node::as_bool).unwrap_or_default();
        let required = arguments.iter().filter(is_required);
        let required = required.filter_map(|argument| text(argument, "name")).collect();
        Entry { required, ..self.load_entry(node, name, definition, EntryKind::Prompt) }
    }

    fn load_entry(
        &mut self,
        node: &Node,
        id: String,
        definition: Map<String, Value>,
        kind: EntryKind,
    ) -> Entry {
        let hidden = node.get("hidden").and_then(Node::as_bool).unwrap_or_default();
        Entry {
            id,
            definition: Value::Object(definition),
            hidden: hidden.into(),
            initially_hidden: hidden,
            queued: Mutex::default(),
            required: Vec::new(),
            replies: self.load_replies(node, kind),
            cache: self.load_cache(node),
            calls: 0.into(),
        }
    }

    pub(super) fn load_completions(&mut self, script: &Node) -> Vec<Completion> {
        let mut completions: Vec<Completion> = Vec::new();
        for node in items(script, "completions") {
            let reference = match (text(node, "prompt"), text(node, "template")) {
                (Some(prompt), None) => CompletionRef::Prompt(prompt),
                (None, Some(template)) => CompletionRef::Template(template),
                _ => {
                    self.problems.add(node.span, "give either `prompt` or `template`");
                    continue;
                }
            };
            let argument = text(node, "argument").unwrap_or_default();
            let is_same = |it: &Completion| it.reference == reference && it.argument == argument;
            if completions.iter().any(is_same) {
                let message = format!("duplicate completion of `{argument}`");
                self.problems.add(node.get("argument").map_or(node.span, |it| it.span), message);
            }
            let values = items(node, "values").iter().filter_map(Node::as_str);
            completions.push(Completion {
                reference,
                argument,
                values: values.map(str::to_owned).collect(),
                total: node.get("total").and_then(Node::as_u64),
                has_more: node.get("has_more").and_then(Node::as_bool),
            });
        }
        completions
    }
}

/// Builds the definition of a resource or a template.
fn resource_definition(node: &Node, key: &str, id: &str) -> Map<String, Value> {
    let name = text(node, "name").unwrap_or_else(|| id.to_owned());
    let mut all = Map::from_iter([(key.to_owned(), id.into()), ("name".to_owned(), name.into())]);
    all.extend(copy_keys(node, &COMMON_KEYS));
    all.extend(copy_keys(node, &["mime_type", "size"]));
    all
}

fn items<'a>(node: &'a Node, key: &str) -> &'a [Node] {
    node.get(key).map(Node::items).unwrap_or_default()
}
