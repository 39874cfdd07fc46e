//! Renders content blocks and resource contents for a terminal: text as text, everything
//! else by type and size.

use serde_json::Value;
use sparring_wire::types::{Content, ResourceContents};

use super::{Paint, line};

/// Renders one block, ending with a line break.
pub(crate) fn render_block(content: &Content, paint: Paint) -> String {
    match content {
        Content::Text { text, .. } => with_line_end(&paint.untrusted(text)),
        Content::Image { data, mime_type, .. } => render_binary("image", mime_type, data, paint),
        Content::Audio { data, mime_type, .. } => render_binary("audio", mime_type, data, paint),
        Content::Resource { resource, .. } => {
            let name = line::clean(&resource.uri);
            let heading = paint.dim(&format!("[resource {name}]"));
            format!("{heading}\n{}", render_resource(resource, paint))
        }
        Content::ResourceLink(link) => {
            let (uri, name) = (line::clean(&link.uri), line::clean(&link.name));
            let mime = link.mime_type.as_deref().map(|mime| format!(", {}", line::clean(mime)));
            let link = format!("[link to {uri}: {name}{}]", mime.unwrap_or_default());
            format!("{}\n", paint.dim(&link))
        }
        Content::Other(value) => render_json(value, paint),
        // A kind that this program does not know is shown as JSON.
        other => render_json(&Value::from(other.clone()), paint),
    }
}

/// Renders the contents of a resource, ending with a line break.
pub(crate) fn render_resource(contents: &ResourceContents, paint: Paint) -> String {
    let mime = contents.mime_type.as_deref().unwrap_or("unknown type");
    match (&contents.text, &contents.blob) {
        (Some(text), _) => with_line_end(&paint.untrusted(text)),
        (None, Some(blob)) => render_binary("blob", mime, blob, paint),
        (None, None) => format!("{}\n", paint.dim("[no text and no blob]")),
    }
}

fn render_json(value: &Value, paint: Paint) -> String {
    format!("{}\n", paint.untrusted(&format!("{value:#}")))
}

fn render_binary(kind: &str, mime: &str, base64: &str, paint: Paint) -> String {
    let size = line::format_bytes(decoded_length(base64));
    format!("{}\n", paint.dim(&format!("[{kind} {}, {size}]", line::clean(mime))))
}

/// Returns the number of bytes that the Base64 text encodes: six bits a character.
fn decoded_length(base64: &str) -> usize {
    let letters = base64.bytes().filter(|byte| !byte.is_ascii_whitespace() && *byte != b'=');
    letters.count() * 6 / 8
}

fn with_line_end(text: &str) -> String {
    match text.ends_with('\n') {
        true => text.to_owned(),
        false => format!("{text}\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn returns_the_decoded_size_of_base64() {
        for (base64, size) in [("", 0), ("QQ==", 1), ("QUI=", 2), ("QUJD", 3), ("QUJDRA", 4)] {
            assert_eq!(decoded_length(base64), size, "{base64}");
        }
    }
}
