//! From a result to its pieces, without I/O.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use sparring_wire::Json;
use sparring_wire::types::{Content, Resource, ResourceContents};

use super::kind::Kind;
use super::name::Stem;
use super::piece::{Found, Piece, Place};
use super::text::of_text;

/// The pieces of a result.
pub(super) struct Pieces {
    /// The first of them, so many and no more.
    pub(super) first: Vec<Piece>,
    /// How many more there are.
    pub(super) left_out: usize,
}

/// All pieces of a result, up to so many.
pub(super) fn pieces(result: Json<'_>, limit: usize) -> Pieces {
    let mut pieces = Pieces { first: Vec::new(), left_out: 0 };
    let structured = result.get("structuredContent").filter(|json| json.bytes() != b"null");
    let value = structured.and_then(|json| json.to::<Value>().ok());
    let mut is_told = false;
    match result.get("content") {
        Some(content) if content.bytes().starts_with(b"[") => {
            for (index, item) in content.items().enumerate() {
                // Nothing is made of what is not kept anyway: it may be much.
                if pieces.first.len() >= limit {
                    pieces.left_out += 1;
                    continue;
                }
                let content = item.to::<Content>().unwrap_or(Content::Other(Value::Null));
                is_told |= value.as_ref().is_some_and(|value| is_same(&content, value));
                pieces.add(of_item(index, item, content), limit);
            }
        }
        Some(content) => {
            let problem = format!("`content` is {} and no list", content.kind().name());
            pieces.add(vec![Piece::malformed(Place::Content, content, problem)], limit);
        }
        None if result.is_object() => {}
        None => {
            let problem = format!("the result is {} and no object", result.kind().name());
            pieces.add(vec![Piece::malformed(Place::Result, result, problem)], limit);
        }
    }
    if let Some(structured) = structured.filter(|_| !is_told) {
        let bytes = structured.text().into_owned().into_bytes();
        let piece = Piece::new(Place::Structured, Kind::Json, Found::Item, bytes);
        pieces.add(vec![piece], limit);
    }
    pieces
}

/// The whole result as it came.
pub(super) fn raw(result: Json<'_>) -> Pieces {
    let bytes = result.text().into_owned().into_bytes();
    let piece = Piece::new(Place::Result, Kind::Json, Found::Raw, bytes);
    Pieces { first: vec![piece], left_out: 0 }
}

impl Pieces {
    fn add(&mut self, mut more: Vec<Piece>, limit: usize) {
        let room = limit.saturating_sub(self.first.len());
        self.left_out += more.len().saturating_sub(room);
        more.truncate(room);
        self.first.append(&mut more);
    }
}

/// Whether a text says the same as the structured content.
fn is_same(content: &Content, structured: &Value) -> bool {
    let text = content.as_text().filter(|text| text.trim_start().starts_with(['{', '[']));
    text.and_then(|text| serde_json::from_str::<Value>(text).ok()).as_ref() == Some(structured)
}

fn of_item(index: usize, item: Json<'_>, content: Content) -> Vec<Piece> {
    let place = Place::Item(index);
    let read = match content {
        Content::Text { text, rest } => {
            let declared = rest.get("mimeType").and_then(Value::as_str).map(str::to_owned);
            return of_text(index, item, text, declared);
        }
        Content::Image { data, mime_type, .. } | Content::Audio { data, mime_type, .. } => {
            decoded(&data, "data").and_then(|bytes| Piece::declared(place, bytes, Some(mime_type)))
        }
        Content::Resource { resource, .. } => of_resource(place, resource),
        Content::ResourceLink(link) => Ok(of_link(place, item, link)),
        _ => Err(wrong(item)),
    };
    vec![read.unwrap_or_else(|problem| Piece::malformed(place, item, problem))]
}

fn of_resource(place: Place, resource: ResourceContents) -> Result<Piece, String> {
    let ResourceContents { uri, mime_type, text, blob, .. } = resource;
    let bytes = match (text, blob) {
        (Some(text), None) => text.into_bytes(),
        (None, Some(blob)) => decoded(&blob, "blob")?,
        (Some(_), Some(_)) => return Err("a resource with both `text` and `blob`".to_owned()),
        (None, None) => return Err("a resource with neither `text` nor `blob`".to_owned()),
    };
    let piece = Piece::declared(place, bytes, mime_type)?;
    Ok(Piece { stem: Stem::of_uri(&uri), uri: Some(uri), ..piece })
}

fn of_link(place: Place, item: Json<'_>, link: Resource) -> Piece {
    let bytes = item.text().into_owned().into_bytes();
    Piece {
        stem: Stem::named(&link.name).or_else(|| Stem::of_uri(&link.uri)),
        name: Some(link.name).filter(|name| !name.is_empty()),
        uri: Some(link.uri),
        declared: link.mime_type,
        ..Piece::new(place, Kind::Link, Found::Item, bytes)
    }
}

fn decoded(base64: &str, field: &str) -> Result<Vec<u8>, String> {
    STANDARD.decode(base64).map_err(|error| format!("`{field}` is no Base64: {error}"))
}

/// What is wrong with an item that fits no type of content.
fn wrong(item: Json<'_>) -> String {
    if !item.is_object() {
        return format!("the item is {} and no object", item.kind().name());
    }
    let Some(kind) = item.get("type").and_then(Json::as_str) else {
        return "the item has no `type`".to_owned();
    };
    let fields: &[&str] = match &*kind {
        "text" => &["text"],
        "image" | "audio" => &["data", "mimeType"],
        "resource_link" => &["uri"],
        "resource" => return "`resource` is not as it must be".to_owned(),
        other => {
            let other: String = other.chars().take(40).collect();
            return format!("there is no content of type {other:?}");
        }
    };
    let is_text = |field: &&&str| item.get(field).is_some_and(|value| value.as_str().is_some());
    match fields.iter().find(|field| !is_text(field)) {
        Some(field) if item.get(field).is_none() => format!("`{field}` is missing"),
        Some(field) => format!("`{field}` is no string"),
        None => format!("the {kind} is not as it must be"),
    }
}
