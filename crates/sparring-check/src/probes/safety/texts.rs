//! Collects the texts of all definitions.

use serde_json::Value;

use crate::facts::Facts;
use crate::outcomes::beginning;
use crate::probes::definition_findings::{name_of, shown};

/// The limits of one definition.
const MAX_TEXTS: usize = 5_000;
const MAX_DEPTH: usize = 60;

/// The bytes of one text that are searched.
const MAX_TEXT: usize = 1024 * 1024;

/// The members whose values a model does not read as text.
const NO_TEXTS: [&str; 9] =
    ["$anchor", "$id", "$ref", "$schema", "format", "icons", "mimeType", "pattern", "websiteUrl"];

/// The members that have data rather than texts.
const DATA: [&str; 5] = ["const", "default", "enum", "examples", "_meta"];

/// One text of a definition.
pub(super) struct Text {
    /// The name of the tool, prompt or resource; empty for the server.
    pub(super) subject: String,
    /// The place in the definition, such as `/description`.
    pub(super) place: String,
    pub(super) text: String,
    /// True within data, such as a default.
    pub(super) is_data: bool,
    /// True for the address of a resource.
    pub(super) is_address: bool,
}

/// Returns the texts of the server and of all its definitions.
pub(super) fn of_facts(facts: &Facts) -> Vec<Text> {
    let mut found = Vec::new();
    let info = facts.server_info.as_ref();
    let info = info.map(|it| serde_json::to_value(it).unwrap_or_default()).unwrap_or_default();
    collect(&mut found, "", "/serverInfo", &info);
    if let Some(instructions) = &facts.instructions {
        collect(&mut found, "", "/instructions", &Value::from(instructions.as_str()));
    }
    let lists = [&facts.tools, &facts.resources, &facts.templates, &facts.prompts];
    for definition in lists.into_iter().flatten() {
        collect(&mut found, shown(name_of(definition)), "", definition);
    }
    found
}

/// A definition that is being searched.
struct Search<'a> {
    found: &'a mut Vec<Text>,
    subject: &'a str,
    left: usize,
}

fn collect(found: &mut Vec<Text>, subject: &str, place: &str, value: &Value) {
    let mut search = Search { found, subject, left: MAX_TEXTS };
    search.visit(value, place, false, 0);
}

impl Search<'_> {
    fn visit(&mut self, value: &Value, place: &str, is_data: bool, depth: usize) {
        if depth > MAX_DEPTH {
            return;
        }
        match value {
            Value::String(text) => self.add(text, place, is_data),
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.visit(item, &format!("{place}/{index}"), is_data, depth + 1);
                }
            }
            Value::Object(members) => {
                for (name, member) in members {
                    // The parameters of a tool may have any names.
                    let is_keyword = !place.ends_with("/properties");
                    if is_keyword && NO_TEXTS.contains(&&**name) {
                        continue;
                    }
                    let is_data = is_data || is_keyword && DATA.contains(&&**name);
                    let step = shown(name).replace('~', "~0").replace('/', "~1");
                    let place = format!("{place}/{step}");
                    if !name.is_ascii() {
                        self.add(name, &place, is_data);
                    }
                    self.visit(member, &place, is_data, depth + 1);
                }
            }
            _ => {}
        }
    }

    fn add(&mut self, text: &str, place: &str, is_data: bool) {
        if self.left > 0 && !text.is_empty() {
            self.left -= 1;
            self.found.push(Text {
                subject: self.subject.to_owned(),
                place: place.to_owned(),
                text: beginning(text, MAX_TEXT).to_owned(),
                is_data,
                is_address: matches!(place, "/uri" | "/uriTemplate"),
            });
        }
    }
}

#[cfg(test)]
pub(super) fn text(text: &str) -> Text {
    Text {
        subject: "tool".to_owned(),
        place: "/description".to_owned(),
        text: text.to_owned(),
        is_data: false,
        is_address: false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn finds_all_texts_but_patterns_and_references() {
        let tool = json!({
            "name": "a", "description": "b", "icons": [{"src": "data:x"}],
            "inputSchema": {
                "type": "object",
                "properties": {
                    "pattern": {"type": "string", "pattern": "x", "default": "c"},
                    "ü": {"$ref": "#/$defs/d", "enum": ["e"]},
                },
            },
        });
        let facts = Facts { tools: vec![tool], ..Facts::default() };
        let texts = of_facts(&facts);
        let found: Vec<(&str, bool)> =
            texts.iter().map(|it| (it.place.as_str(), it.is_data)).collect();
        let schema = "/inputSchema/properties";
        assert_eq!(
            found,
            [
                ("/name", false),
                ("/description", false),
                ("/inputSchema/type", false),
                (&*format!("{schema}/pattern/type"), false),
                (&*format!("{schema}/pattern/default"), true),
                (&*format!("{schema}/ü"), false),
                (&*format!("{schema}/ü/enum/0"), true),
            ]
        );
    }
}
