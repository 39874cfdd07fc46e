//! Content blocks and resource contents for a person: text as text, everything
//! else by its type and size.

use serde_json::Value;
use sparring_wire::types::{Content, ResourceContents};

use super::{Paint, line};

/// One block, ending with a line break.
pub(crate) fn block(content: &Content, paint: Paint) -> String {
    match content {
        Content::Text { text, .. } => ended(&paint.foreign(text)),
        Content::Image { data, mime_type, .. } => binary("image", mime_type, data, paint),
        Content::Audio { data, mime_type, .. } => binary("audio", mime_type, data, paint),
        Content::Resource { resource, .. } => {
            let name = line::clean(&resource.uri);
            let heading = paint.aside(&format!("[resource {name}]"));
            format!("{heading}\n{}", contents(resource, paint))
        }
        Content::ResourceLink(link) => {
            let (uri, name) = (line::clean(&link.uri), line::clean(&link.name));
            let mime = link.mime_type.as_deref().map(|mime| format!(", {}", line::clean(mime)));
            let link = format!("[link to {uri}: {name}{}]", mime.unwrap_or_default());
            format!("{}\n", paint.aside(&link))
        }
        Content::Other(value) => pretty(value, paint),
        // A kind that this program does not know is shown as it stands.
        other => pretty(&Value::from(other.clone()), paint),
    }
}

/// What stands in a resource, ending with a line break.
pub(crate) fn contents(contents: &ResourceContents, paint: Paint) -> String {
    let mime = contents.mime_type.as_deref().unwrap_or("unknown type");
    match (&contents.text, &contents.blob) {
        (Some(text), _) => ended(&paint.foreign(text)),
        (None, Some(blob)) => binary("blob", mime, blob, paint),
        (None, None) => format!("{}\n", paint.aside("[neither text nor blob]")),
    }
}

fn pretty(value: &Value, paint: Paint) -> String {
    format!("{}\n", paint.foreign(&format!("{value:#}")))
}

fn binary(kind: &str, mime: &str, base64: &str, paint: Paint) -> String {
    let size = line::bytes(decoded(base64));
    format!("{}\n", paint.aside(&format!("[{kind} {}, {size}]", line::clean(mime))))
}

/// How many bytes Base64 stands for: six bits a letter.
fn decoded(base64: &str) -> usize {
    let letters = base64.bytes().filter(|byte| !byte.is_ascii_whitespace() && *byte != b'=');
    letters.count() * 6 / 8
}

fn ended(text: &str) -> String {
    match text.ends_with('\n') {
        true => text.to_owned(),
        false => format!("{text}\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_of_base64_is_that_of_its_bytes() {
        for (base64, size) in [("", 0), ("QQ==", 1), ("QUI=", 2), ("QUJD", 3), ("QUJDRA", 4)] {
            assert_eq!(decoded(base64), size, "{base64}");
        }
    }
}
