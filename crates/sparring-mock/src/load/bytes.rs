//! Bytes that a script has in Base64 or in a file.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sparring_script::{Node, Template};

use super::Loader;

impl Loader<'_> {
    /// Checks that a text is Base64, unless a template will make it.
    pub(super) fn base64(&mut self, node: &Node) {
        let Some(text) = node.as_str() else { return };
        let known = Template::parse(text).ok().and_then(|template| template.literal());
        if let Some(Err(error)) = known.map(|text| STANDARD.decode(text)) {
            self.problems.add(node.span, format!("this is no Base64: {error}"));
        }
    }

    /// What stands in a file.
    pub(super) fn file(&mut self, node: &Node) -> Vec<u8> {
        let path = self.folder.join(node.as_str().unwrap_or_default());
        self.files.push(path.clone());
        std::fs::read(&path).unwrap_or_else(|error| {
            self.problems.add(node.span, format!("cannot read {}: {error}", path.display()));
            Vec::new()
        })
    }
}

pub(super) fn encoded(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}
