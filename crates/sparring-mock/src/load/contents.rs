//! Loads the contents of replies: content blocks, resource contents and messages, in the form of
//! the wire.

#[cfg(feature = "http")]
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use sparring_script::{MapEntry, Node, Template, TemplateTree};
use sparring_transport::read_file;

use super::mime::guess_mime_type;
use super::server_settings::to_wire;
#[cfg(feature = "http")]
use super::{ControlKeys, TextOrigin};
use super::{Loader, text};

/// The largest file of a reply.
const MAX_CONTENT_BYTES: u64 = 64 * 1024 * 1024;

/// Keys of content blocks.
pub(super) const BLOCKS: [&str; 6] =
    ["text", "json", "image", "audio", "resource", "resource_link"];

impl Loader<'_> {
    /// Loads the content blocks of a map, in order.
    pub(super) fn load_blocks(&mut self, node: &Node) -> Vec<TemplateTree> {
        let named = node.entries().iter().filter(|entry| BLOCKS.contains(&&*entry.key));
        named.map(|entry| self.load_block(entry)).collect()
    }

    /// Loads a map with exactly one block, and its annotations.
    pub(super) fn load_single_block(&mut self, node: &Node) -> TemplateTree {
        let mut blocks = self.load_blocks(node);
        if blocks.len() != 1 {
            let message = format!("a block has exactly one of {}", BLOCKS.join(", "));
            self.problems.add(node.span, message);
        }
        let mut block = blocks.pop().unwrap_or(TemplateTree::Literal(json!({})));
        if let Some(annotations) = node.get("annotations") {
            block = block.with_entry("annotations", TemplateTree::Literal(to_wire(annotations)));
        }
        if let Some(meta) = node.get("_meta") {
            block = block.with_entry("_meta", self.load_tree(meta));
        }
        block
    }

    fn load_block(&mut self, entry: &MapEntry) -> TemplateTree {
        let node = &entry.value;
        let type_value = |name: &str| TemplateTree::Literal(Value::from(name));
        match &*entry.key {
            "json" => {
                let text = TemplateTree::json_text(self.load_tree(node));
                TemplateTree::map([("type", type_value("text")), ("text", text)])
            }
            "image" | "audio" => {
                let (data, mime_type) = self.load_bytes(node);
                TemplateTree::map([
                    ("type", type_value(&entry.key)),
                    ("data", data),
                    ("mimeType", mime_type),
                ])
            }
            "resource" => {
                let resource = self.load_embedded(node);
                TemplateTree::map([("type", type_value("resource")), ("resource", resource)])
            }
            "resource_link" => {
                let mut link = node.clone();
                sparring_script::casing::rename_keys_to_wire(&mut link);
                self.load_tree(&link).with_entry("type", type_value("resource_link"))
            }
            _ => TemplateTree::map([("type", type_value("text")), ("text", self.load_text(node))]),
        }
    }

    /// Loads Base64 data and its MIME type.
    fn load_bytes(&mut self, node: &Node) -> (TemplateTree, TemplateTree) {
        let file = node.get("file");
        let data = match (file, node.get("data")) {
            (Some(file), None) => {
                TemplateTree::Literal(encode_base64(&self.read_file(file)).into())
            }
            (None, Some(data)) => {
                self.check_base64(data);
                self.load_text(data)
            }
            _ => {
                self.problems.add(node.span, "give either `file` or `data`");
                TemplateTree::Literal(Value::Null)
            }
        };
        let mime_type = text(node, "mime_type").or_else(|| guess_mime_type(file?));
        if mime_type.is_none() {
            self.problems.add(node.span, "`mime_type` is missing");
        }
        (data, TemplateTree::Literal(mime_type.into()))
    }

    fn load_embedded(&mut self, node: &Node) -> TemplateTree {
        let uri =
            node.get("uri").map_or(TemplateTree::Literal(Value::Null), |uri| self.load_text(uri));
        self.load_resource_contents(node, uri, text(node, "mime_type"))
    }

    /// Loads the contents of a resource, as text or Base64.
    pub(super) fn load_resource_contents(
        &mut self,
        node: &Node,
        uri: TemplateTree,
        mime_type: Option<String>,
    ) -> TemplateTree {
        let entries_with_body: Vec<&MapEntry> = node
            .entries()
            .iter()
            .filter(|entry| ["text", "json", "blob", "file"].contains(&&*entry.key))
            .collect();
        let [entry] = entries_with_body[..] else {
            self.problems.add(node.span, "give exactly one of text, json, blob, file");
            return TemplateTree::Literal(Value::Null);
        };
        let (key, value, default_type) = match &*entry.key {
            "json" => (
                "text",
                TemplateTree::json_text(self.load_tree(&entry.value)),
                Some("application/json"),
            ),
            "blob" => {
                self.check_base64(&entry.value);
                ("blob", self.load_text(&entry.value), None)
            }
            "file" => {
                let (key, value) = match String::from_utf8(self.read_file(&entry.value)) {
                    Ok(text) => ("text", text),
                    Err(error) => ("blob", encode_base64(error.as_bytes())),
                };
                (key, TemplateTree::Literal(value.into()), None)
            }
            _ => ("text", self.load_text(&entry.value), None),
        };
        let default_type = default_type.map(str::to_owned);
        let from_file = (entry.key == "file").then(|| guess_mime_type(&entry.value)).flatten();
        let contents = TemplateTree::map([("uri", uri)]);
        let contents = match mime_type.or(default_type).or(from_file) {
            Some(mime_type) => {
                contents.with_entry("mimeType", TemplateTree::Literal(mime_type.into()))
            }
            None => contents,
        };
        contents.with_entry(key, value)
    }

    /// Loads a message of a prompt.
    pub(super) fn load_message(&mut self, node: &Node) -> TemplateTree {
        let role = text(node, "role").unwrap_or_else(|| "user".to_owned());
        let content = self.load_single_block(node);
        TemplateTree::map([("role", TemplateTree::Literal(role.into())), ("content", content)])
    }

    /// Checks that a text is Base64, unless it has templates.
    pub(super) fn check_base64(&mut self, node: &Node) {
        let Some(text) = node.as_str() else { return };
        let known = Template::parse(text).ok().and_then(|template| template.as_literal());
        if let Some(Err(error)) = known.map(|text| STANDARD.decode(text)) {
            self.problems.add(node.span, format!("not Base64: {error}"));
        }
    }

    /// Reads a file of the script.
    pub(super) fn read_file(&mut self, node: &Node) -> Vec<u8> {
        let path = self.folder.join(node.as_str().unwrap_or_default());
        #[cfg(feature = "http")]
        if let TextOrigin::HttpClient(keys) = self.origin
            && let Err((message, help)) = check_file_access(self.folder, &path, keys)
        {
            self.problems.add_with_help(node.span, message, help);
            return Vec::new();
        }
        self.files.push(path.clone());
        read_file(&path, MAX_CONTENT_BYTES).unwrap_or_else(|error| {
            self.problems.add(node.span, format!("cannot read {}: {error}", path.display()));
            Vec::new()
        })
    }
}

/// Checks that a client of the control endpoints may read a file. The message does not tell a
/// missing file from one outside of the folder.
#[cfg(feature = "http")]
fn check_file_access(
    folder: &Path,
    file: &Path,
    keys: ControlKeys,
) -> Result<(), (&'static str, Option<String>)> {
    if !keys.file {
        let help = "allow it with --allow-control file, or with `control_keys` in Rust".to_owned();
        return Err(("a change over HTTP cannot use `file`", Some(help)));
    }
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let below = folder
        .canonicalize()
        .is_ok_and(|folder| file.canonicalize().is_ok_and(|file| file.starts_with(folder)));
    match below {
        true => Ok(()),
        false => Err(("no such file below the folder of the script", None)),
    }
}

fn encode_base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}
