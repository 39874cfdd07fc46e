//! Splits a result into pieces, without I/O.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use sparring_wire::Json;
use sparring_wire::types::{Content, Resource, ResourceContents};

use super::file_name::FileStem;
use super::kind::Kind;
use super::piece::{DetectedBy, Piece, PieceLocation};
use super::text_pieces::split_text;

/// The pieces of a result.
pub(super) struct Pieces {
    /// The first pieces, up to the limit.
    pub(super) first: Vec<Piece>,
    /// The number of further pieces.
    pub(super) left_out: usize,
}

/// Splits a result into pieces, up to a limit.
pub(super) fn split_result(result: Json<'_>, limit: usize) -> Pieces {
    let mut pieces = Pieces { first: Vec::new(), left_out: 0 };
    let structured = result.get("structuredContent").filter(|json| json.bytes() != b"null");
    let value = structured.and_then(|json| json.deserialize::<Value>().ok());
    let mut is_repeated = false;
    match result.get("content") {
        Some(content) if content.bytes().starts_with(b"[") => {
            for (index, item) in content.items().enumerate() {
                // Pieces above the limit are not decoded, because they may be
                // large.
                if pieces.first.len() >= limit {
                    pieces.left_out += 1;
                    continue;
                }
                let content = item.deserialize::<Content>().unwrap_or(Content::Other(Value::Null));
                is_repeated |=
                    value.as_ref().is_some_and(|value| repeats_structured_content(&content, value));
                pieces.add(item_pieces(index, item, content), limit);
            }
        }
        Some(content) => {
            let problem = format!("`content` is {}, not an array", content.kind().name());
            pieces.add(vec![Piece::malformed(PieceLocation::Content, content, problem)], limit);
        }
        None if result.is_object() => {}
        None => {
            let problem = format!("the result is {}, not an object", result.kind().name());
            pieces.add(vec![Piece::malformed(PieceLocation::Result, result, problem)], limit);
        }
    }
    if let Some(structured) = structured.filter(|_| !is_repeated) {
        let bytes = structured.text().into_owned().into_bytes();
        let piece = Piece::new(PieceLocation::Structured, Kind::Json, DetectedBy::Item, bytes);
        pieces.add(vec![piece], limit);
    }
    pieces
}

/// The whole result as one raw piece.
pub(super) fn whole_result(result: Json<'_>) -> Pieces {
    let bytes = result.text().into_owned().into_bytes();
    let piece = Piece::new(PieceLocation::Result, Kind::Json, DetectedBy::Raw, bytes);
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

/// Returns true if a text is the same JSON as the structured content.
fn repeats_structured_content(content: &Content, structured: &Value) -> bool {
    let text = content.as_text().filter(|text| text.trim_start().starts_with(['{', '[']));
    text.and_then(|text| serde_json::from_str::<Value>(text).ok()).as_ref() == Some(structured)
}

fn item_pieces(index: usize, item: Json<'_>, content: Content) -> Vec<Piece> {
    let place = PieceLocation::Item(index);
    let read = match content {
        Content::Text { text, rest } => {
            let declared = rest.get("mimeType").and_then(Value::as_str).map(str::to_owned);
            return split_text(index, item, text, declared);
        }
        Content::Image { data, mime_type, .. } | Content::Audio { data, mime_type, .. } => {
            decode_base64(&data, "data")
                .and_then(|bytes| Piece::with_mime_type(place, bytes, Some(mime_type)))
        }
        Content::Resource { resource, .. } => resource_piece(place, resource),
        Content::ResourceLink(link) => Ok(link_piece(place, item, link)),
        _ => Err(describe_malformed_item(item)),
    };
    vec![read.unwrap_or_else(|problem| Piece::malformed(place, item, problem))]
}

fn resource_piece(place: PieceLocation, resource: ResourceContents) -> Result<Piece, String> {
    let ResourceContents { uri, mime_type, text, blob, .. } = resource;
    let bytes = match (text, blob) {
        (Some(text), None) => text.into_bytes(),
        (None, Some(blob)) => decode_base64(&blob, "blob")?,
        (Some(_), Some(_)) => return Err("the resource has both `text` and `blob`".to_owned()),
        (None, None) => return Err("the resource has neither `text` nor `blob`".to_owned()),
    };
    let piece = Piece::with_mime_type(place, bytes, mime_type)?;
    Ok(Piece { stem: FileStem::from_uri(&uri), uri: Some(uri), ..piece })
}

fn link_piece(place: PieceLocation, item: Json<'_>, link: Resource) -> Piece {
    let bytes = item.text().into_owned().into_bytes();
    Piece {
        stem: FileStem::from_name(&link.name).or_else(|| FileStem::from_uri(&link.uri)),
        name: Some(link.name).filter(|name| !name.is_empty()),
        uri: Some(link.uri),
        declared: link.mime_type,
        ..Piece::new(place, Kind::Link, DetectedBy::Item, bytes)
    }
}

fn decode_base64(base64: &str, field: &str) -> Result<Vec<u8>, String> {
    STANDARD.decode(base64).map_err(|error| format!("`{field}` is not valid Base64: {error}"))
}

/// Describes the problem of an item without a known type of content.
fn describe_malformed_item(item: Json<'_>) -> String {
    if !item.is_object() {
        return format!("the item is {}, not an object", item.kind().name());
    }
    let Some(kind) = item.get("type").and_then(Json::as_str) else {
        return "the item has no `type`".to_owned();
    };
    let fields: &[&str] = match &*kind {
        "text" => &["text"],
        "image" | "audio" => &["data", "mimeType"],
        "resource_link" => &["uri"],
        "resource" => return "`resource` is malformed".to_owned(),
        other => {
            let other: String = other.chars().take(40).collect();
            return format!("unknown content type {other:?}");
        }
    };
    let is_text = |field: &&&str| item.get(field).is_some_and(|value| value.as_str().is_some());
    match fields.iter().find(|field| !is_text(field)) {
        Some(field) if item.get(field).is_none() => format!("`{field}` is missing"),
        Some(field) => format!("`{field}` is not a string"),
        None => format!("the {kind} item is malformed"),
    }
}
