//! What replies say, in the wire's form: content blocks, resource contents,
//! messages.

use serde_json::{Value, json};
use sparring_script::{Entry, Node, Tree};

use super::bytes::encoded;
use super::mime::mime_type_of;
use super::settings::wire;
use super::{Loader, text};

/// The keys that are a block each.
pub(super) const BLOCKS: [&str; 6] =
    ["text", "json", "image", "audio", "resource", "resource_link"];

impl Loader<'_> {
    /// The blocks that a map has, in the order in which they stand there.
    pub(super) fn blocks(&mut self, node: &Node) -> Vec<Tree> {
        let named = node.entries().iter().filter(|entry| BLOCKS.contains(&&*entry.key));
        named.map(|entry| self.block(entry)).collect()
    }

    /// A map that is one block, with what stands beside it.
    pub(super) fn single_block(&mut self, node: &Node) -> Tree {
        let mut blocks = self.blocks(node);
        if blocks.len() != 1 {
            let message = format!("a block has exactly one of {}", BLOCKS.join(", "));
            self.problems.add(node.span, message);
        }
        let mut block = blocks.pop().unwrap_or(Tree::Plain(json!({})));
        if let Some(annotations) = node.get("annotations") {
            block = block.with("annotations", Tree::Plain(wire(annotations)));
        }
        if let Some(meta) = node.get("_meta") {
            block = block.with("_meta", self.tree(meta));
        }
        block
    }

    fn block(&mut self, entry: &Entry) -> Tree {
        let node = &entry.value;
        let kind = |name: &str| Tree::Plain(Value::from(name));
        match &*entry.key {
            "json" => {
                let text = Tree::json(self.tree(node));
                Tree::map([("type", kind("text")), ("text", text)])
            }
            "image" | "audio" => {
                let (data, mime_type) = self.bytes(node);
                Tree::map([("type", kind(&entry.key)), ("data", data), ("mimeType", mime_type)])
            }
            "resource" => {
                let resource = self.embedded(node);
                Tree::map([("type", kind("resource")), ("resource", resource)])
            }
            "resource_link" => {
                let mut link = node.clone();
                sparring_script::casing::to_wire(&mut link);
                self.tree(&link).with("type", kind("resource_link"))
            }
            _ => Tree::map([("type", kind("text")), ("text", self.text_tree(node))]),
        }
    }

    /// Base64 and a MIME type.
    fn bytes(&mut self, node: &Node) -> (Tree, Tree) {
        let file = node.get("file");
        let data = match (file, node.get("data")) {
            (Some(file), None) => Tree::Plain(encoded(&self.file(file)).into()),
            (None, Some(data)) => {
                self.base64(data);
                self.text_tree(data)
            }
            _ => {
                self.problems.add(node.span, "give either `file` or `data`");
                Tree::Plain(Value::Null)
            }
        };
        let mime_type = text(node, "mime_type").or_else(|| mime_type_of(file?));
        if mime_type.is_none() {
            self.problems.add(node.span, "`mime_type` is missing");
        }
        (data, Tree::Plain(mime_type.into()))
    }

    fn embedded(&mut self, node: &Node) -> Tree {
        let uri = node.get("uri").map_or(Tree::Plain(Value::Null), |uri| self.text_tree(uri));
        self.resource_contents(node, uri, text(node, "mime_type"))
    }

    /// The contents of a resource: text or Base64, from one of four keys.
    pub(super) fn resource_contents(
        &mut self,
        node: &Node,
        uri: Tree,
        mime_type: Option<String>,
    ) -> Tree {
        let given: Vec<&Entry> = node
            .entries()
            .iter()
            .filter(|entry| ["text", "json", "blob", "file"].contains(&&*entry.key))
            .collect();
        let [entry] = given[..] else {
            self.problems.add(node.span, "give exactly one of text, json, blob, file");
            return Tree::Plain(Value::Null);
        };
        let (key, value, guessed) = match &*entry.key {
            "json" => ("text", Tree::json(self.tree(&entry.value)), Some("application/json")),
            "blob" => {
                self.base64(&entry.value);
                ("blob", self.text_tree(&entry.value), None)
            }
            "file" => {
                let (key, value) = match String::from_utf8(self.file(&entry.value)) {
                    Ok(text) => ("text", text),
                    Err(error) => ("blob", encoded(error.as_bytes())),
                };
                (key, Tree::Plain(value.into()), None)
            }
            _ => ("text", self.text_tree(&entry.value), None),
        };
        let guessed = guessed.map(str::to_owned);
        let of_file = (entry.key == "file").then(|| mime_type_of(&entry.value)).flatten();
        let contents = Tree::map([("uri", uri)]);
        let contents = match mime_type.or(guessed).or(of_file) {
            Some(mime_type) => contents.with("mimeType", Tree::Plain(mime_type.into())),
            None => contents,
        };
        contents.with(key, value)
    }

    /// A message of a prompt.
    pub(super) fn message(&mut self, node: &Node) -> Tree {
        let role = text(node, "role").unwrap_or_else(|| "user".to_owned());
        let content = self.single_block(node);
        Tree::map([("role", Tree::Plain(role.into())), ("content", content)])
    }
}
