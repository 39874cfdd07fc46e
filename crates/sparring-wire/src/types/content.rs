//! Content blocks of tool results and prompt messages.

use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};

use super::Rest;
use super::members::write_all;
use super::resource::{Resource, ResourceContents};

/// One block of content.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Content {
    /// Text.
    Text {
        /// The text itself.
        text: String,
        /// Annotations and whatever else stood there.
        rest: Rest,
    },
    /// An image.
    Image {
        /// Base64.
        data: String,
        /// As `image/png`.
        mime_type: String,
        /// Annotations and whatever else stood there.
        rest: Rest,
    },
    /// A sound; since 2025-03-26.
    Audio {
        /// Base64.
        data: String,
        /// As `audio/wav`.
        mime_type: String,
        /// Annotations and whatever else stood there.
        rest: Rest,
    },
    /// A resource's contents.
    Resource {
        /// The contents.
        resource: ResourceContents,
        /// Annotations and whatever else stood there.
        rest: Rest,
    },
    /// A link to a resource; since 2025-06-18.
    ResourceLink(Resource),
    /// Anything else, as it came.
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

    fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        let rest = match self {
            Content::Text { text, rest } => {
                map.serialize_entry("type", "text")?;
                map.serialize_entry("text", text)?;
                rest
            }
            Content::Image { data, mime_type, rest } => {
                map.serialize_entry("type", "image")?;
                map.serialize_entry("data", data)?;
                map.serialize_entry("mimeType", mime_type)?;
                rest
            }
            Content::Audio { data, mime_type, rest } => {
                map.serialize_entry("type", "audio")?;
                map.serialize_entry("data", data)?;
                map.serialize_entry("mimeType", mime_type)?;
                rest
            }
            Content::Resource { resource, rest } => {
                map.serialize_entry("type", "resource")?;
                map.serialize_entry("resource", resource)?;
                rest
            }
            Content::ResourceLink(link) => {
                map.serialize_entry("type", "resource_link")?;
                return link.write_members(map);
            }
            Content::Other(_) => return Ok(()),
        };
        write_all(map, rest)
    }

    fn read(value: Value) -> Self {
        let kind = value.get("type").and_then(Value::as_str).unwrap_or_default();
        let read = match kind {
            "text" => take(&value, ["text"]).map(|([text], rest)| Content::Text { text, rest }),
            "image" => take(&value, ["data", "mimeType"])
                .map(|([data, mime_type], rest)| Content::Image { data, mime_type, rest }),
            "audio" => take(&value, ["data", "mimeType"])
                .map(|([data, mime_type], rest)| Content::Audio { data, mime_type, rest }),
            "resource" => embedded(&value),
            "resource_link" => {
                serde_json::from_value(value.clone()).ok().map(|mut link: Resource| {
                    link.rest.remove("type");
                    Content::ResourceLink(link)
                })
            }
            _ => None,
        };
        read.unwrap_or(Content::Other(value))
    }
}

/// Takes string fields out of an object; `type` goes as well.
fn take<const N: usize>(value: &Value, names: [&str; N]) -> Option<([String; N], Rest)> {
    let mut rest = value.as_object()?.clone();
    rest.remove("type");
    let mut found = [const { String::new() }; N];
    for (slot, name) in found.iter_mut().zip(names) {
        match rest.remove(name)? {
            Value::String(text) => *slot = text,
            _ => return None,
        }
    }
    Some((found, rest))
}

fn embedded(value: &Value) -> Option<Content> {
    let mut rest = value.as_object()?.clone();
    rest.remove("type");
    let resource = serde_json::from_value(rest.remove("resource")?).ok()?;
    Some(Content::Resource { resource, rest })
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Value::deserialize(deserializer).map(Content::read)
    }
}

impl Serialize for Content {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let Content::Other(value) = self {
            return value.serialize(serializer);
        }
        let mut map = serializer.serialize_map(None)?;
        self.write(&mut map)?;
        map.end()
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
        for value in [json!({"type": "hologram"}), json!({"type": "text", "text": 1}), json!(7)] {
            let content: Content = serde_json::from_value(value.clone()).unwrap();
            assert_eq!(content, Content::Other(value));
        }
    }
}
