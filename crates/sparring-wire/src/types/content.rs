//! Content blocks of tool results and prompt messages.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Rest;
use super::resource::{Resource, ResourceContents};

/// One block of content. A block that does not fit its type is `Other`, so that the other
/// blocks of the list are still read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum Content {
    /// Text.
    Text {
        /// The text.
        text: String,
        /// Annotations and all other fields.
        #[serde(flatten)]
        rest: Rest,
    },
    /// An image.
    Image {
        /// The data as Base64.
        data: String,
        /// The MIME type, such as `image/png`.
        mime_type: String,
        /// Annotations and all other fields.
        #[serde(flatten)]
        rest: Rest,
    },
    /// Audio; since 2025-03-26.
    Audio {
        /// The data as Base64.
        data: String,
        /// The MIME type, such as `audio/wav`.
        mime_type: String,
        /// Annotations and all other fields.
        #[serde(flatten)]
        rest: Rest,
    },
    /// An embedded resource.
    Resource {
        /// The contents.
        resource: ResourceContents,
        /// Annotations and all other fields.
        #[serde(flatten)]
        rest: Rest,
    },
    /// A link to a resource; since 2025-06-18.
    ResourceLink(Resource),
    /// Any other value, unchanged.
    #[serde(untagged)]
    Other(Value),
}

impl Content {
    /// Creates a text block.
    pub fn text(text: impl Into<String>) -> Self {
        Content::Text { text: text.into(), rest: Rest::new() }
    }

    /// Creates an image block from Base64 data.
    pub fn image(data: impl Into<String>, mime_type: impl Into<String>) -> Self {
        Content::Image { data: data.into(), mime_type: mime_type.into(), rest: Rest::new() }
    }

    /// Creates an audio block from Base64 data.
    pub fn audio(data: impl Into<String>, mime_type: impl Into<String>) -> Self {
        Content::Audio { data: data.into(), mime_type: mime_type.into(), rest: Rest::new() }
    }

    /// Returns the text of a text block.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Content::Text { text, .. } => Some(text),
            _ => None,
        }
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Content::text(text)
    }
}

impl From<Content> for Value {
    fn from(content: Content) -> Self {
        serde_json::to_value(content).unwrap_or_else(|_| json!({}))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_survives_a_round_trip() {
        for value in [
            json!({"type": "text", "text": "hi", "annotations": {"priority": 1}}),
            json!({"type": "image", "data": "AA==", "mimeType": "image/png", "_meta": {"a": 1}}),
            json!({"type": "audio", "data": "AA==", "mimeType": "audio/wav"}),
            json!({"type": "resource", "resource": {"uri": "a:b", "text": "t"}}),
            json!({"type": "resource_link", "uri": "a:b", "name": "n", "size": 3}),
            json!({"type": "hologram", "x": 1}),
            json!({"type": "text"}),
        ] {
            let content: Content = serde_json::from_value(value.clone()).unwrap();
            assert_eq!(serde_json::to_value(&content).unwrap(), value);
        }
    }

    #[test]
    fn unknown_and_incomplete_blocks_are_other() {
        for value in [
            json!({"type": "hologram"}),
            json!({"type": "text", "text": 1}),
            json!(["text", "hi"]),
            json!(["resource_link", "a:b", "n"]),
            json!({"type": "resource", "resource": ["a:b"]}),
            json!(7),
        ] {
            let content: Content = serde_json::from_value(value.clone()).unwrap();
            assert_eq!(content, Content::Other(value));
        }
    }

    #[test]
    fn a_block_with_a_duplicate_member_is_other() {
        for text in [
            r#"{"type":"text","text":"a","text":"b"}"#,
            r#"{"type":"text","type":"text","text":"b"}"#,
            r#"{"type":"resource","resource":{"uri":"a:b","uri":"a:c"}}"#,
        ] {
            let blocks = format!(r#"[{text},{{"type":"text","text":"good"}}]"#);
            let blocks: Vec<Content> = serde_json::from_str(&blocks).unwrap();
            assert!(matches!(blocks[0], Content::Other(_)), "{text}: {:?}", blocks[0]);
            assert_eq!(blocks[1], Content::text("good"));
        }
    }
}
