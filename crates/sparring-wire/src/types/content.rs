//! Content blocks of tool results and prompt messages.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Rest;
use super::resource::{Resource, ResourceContents};

/// One block of content. A block that its type does not describe is `Other`, so that it
/// costs none of the blocks beside it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum Content {
    /// Text.
    Text {
        /// The text itself.
        text: String,
        /// Annotations and whatever else stood there.
        #[serde(flatten)]
        rest: Rest,
    },
    /// An image.
    Image {
        /// Base64.
        data: String,
        /// As `image/png`.
        mime_type: String,
        /// Annotations and whatever else stood there.
        #[serde(flatten)]
        rest: Rest,
    },
    /// A sound; since 2025-03-26.
    Audio {
        /// Base64.
        data: String,
        /// As `audio/wav`.
        mime_type: String,
        /// Annotations and whatever else stood there.
        #[serde(flatten)]
        rest: Rest,
    },
    /// A resource's contents.
    Resource {
        /// The contents.
        resource: ResourceContents,
        /// Annotations and whatever else stood there.
        #[serde(flatten)]
        rest: Rest,
    },
    /// A link to a resource; since 2025-06-18.
    ResourceLink(Resource),
    /// Anything else, as it came.
    #[serde(untagged)]
    Other(Value),
}

impl Content {
    /// A text block.
    pub fn text(text: impl Into<String>) -> Self {
        Content::Text { text: text.into(), rest: Rest::new() }
    }

    /// An image block of Base64 data.
    pub fn image(data: impl Into<String>, mime_type: impl Into<String>) -> Self {
        Content::Image { data: data.into(), mime_type: mime_type.into(), rest: Rest::new() }
    }

    /// An audio block of Base64 data.
    pub fn audio(data: impl Into<String>, mime_type: impl Into<String>) -> Self {
        Content::Audio { data: data.into(), mime_type: mime_type.into(), rest: Rest::new() }
    }

    /// The text of a text block.
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
    fn what_is_not_known_or_not_whole_is_kept_as_other() {
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
