//! From a result to what may become artifacts, without I/O: each piece with its
//! bytes, its kind, and how that was found.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use sparring_wire::types::{Content, Resource, ResourceContents};
use sparring_wire::{Json, RawJson};

use super::blocks::{Block, fenced};
use super::detect;
use super::kind::Kind;
use super::name::Stem;

/// Where in a result a piece stood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Place {
    /// The whole result.
    Result,
    /// The content as a whole.
    Content,
    /// An item of the content, from 0.
    Item(usize),
    /// A fenced block of a text, both from 0.
    Block {
        /// The item that the text is.
        item: usize,
        /// Which of its blocks.
        block: usize,
    },
    /// The structured content.
    Structured,
}

/// How a kind was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// The item's MIME type says it.
    Declared,
    /// The item's own type says it.
    Item,
    /// The word after the fence says it.
    Fence,
    /// It was looked for in the bytes.
    Content,
    /// It is the JSON that came, as it came.
    Raw,
}

/// Something that may become an artifact.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Piece {
    pub(super) place: Place,
    pub(super) kind: Kind,
    pub(super) mime_type: String,
    pub(super) found: Found,
    /// What the item says that it is.
    pub(super) declared: Option<String>,
    /// In what the item is not what it says.
    pub(super) differs: Option<String>,
    pub(super) bytes: Vec<u8>,
    pub(super) stem: Option<Stem>,
    pub(super) name: Option<String>,
    pub(super) uri: Option<String>,
    /// Whether it is saved only when it is large.
    pub(super) small_talk: bool,
    /// Whether the model gets its text: not where it stands in another.
    pub(super) is_shown: bool,
    /// What is wrong with the item, whose JSON the bytes are then.
    pub(super) problem: Option<String>,
}

/// All pieces of a result.
pub(super) fn of_result(result: Json<'_>) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut values = Vec::new();
    match result.get("content") {
        Some(content) if content.bytes().starts_with(b"[") => {
            for (index, item) in content.items().enumerate() {
                let content = item.to::<Content>().unwrap_or(Content::Other(Value::Null));
                values.extend(content.as_text().and_then(|text| serde_json::from_str(text).ok()));
                pieces.extend(of_item(index, item, content));
            }
        }
        Some(content) => pieces.push(malformed(
            Place::Content,
            content,
            format!("`content` is {} and no list", content.kind().name()),
        )),
        None if result.is_object() => {}
        None => pieces.push(malformed(
            Place::Result,
            result,
            format!("the result is {} and no object", result.kind().name()),
        )),
    }
    let structured = result.get("structuredContent").filter(|json| json.bytes() != b"null");
    if let Some(structured) = structured {
        let value = structured.to::<Value>().ok();
        if !values.iter().any(|text: &Value| Some(text) == value.as_ref()) {
            let bytes = structured.text().into_owned().into_bytes();
            pieces.push(Piece::new(Place::Structured, Kind::Json, Found::Item, bytes));
        }
    }
    pieces
}

/// The whole result as it came.
pub(super) fn raw(result: Json<'_>) -> Piece {
    let bytes = result.text().into_owned().into_bytes();
    Piece::new(Place::Result, Kind::Json, Found::Raw, bytes)
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
    vec![read.unwrap_or_else(|problem| malformed(place, item, problem))]
}

/// A text, and beside it the blocks of data in it. Where there is nothing
/// around those, they stand for the text.
fn of_text(index: usize, item: Json<'_>, text: String, declared: Option<String>) -> Vec<Piece> {
    let place = Place::Item(index);
    if let Some(declared) = declared {
        let read = Piece::declared(place, text.into_bytes(), Some(declared));
        return vec![read.unwrap_or_else(|problem| malformed(place, item, problem))];
    }
    let found = fenced(&text);
    let of_data = found.iter().filter_map(|block| data(block).map(|kind| (block, kind)));
    let blocks: Vec<_> = of_data.collect();
    let is_all =
        !blocks.is_empty() && is_blank_around(&text, blocks.iter().map(|(block, _)| *block));
    let of_blocks = blocks.iter().enumerate().map(|(number, (block, (kind, found)))| {
        let place = Place::Block { item: index, block: number };
        let broken = *kind == Kind::Json && RawJson::parse(block.body).is_err();
        let piece = if broken {
            malformed(place, item, format!("the block says `{}` and is no JSON", block.language))
        } else {
            Piece::new(place, *kind, *found, block.body.as_bytes().to_vec())
        };
        Piece { is_shown: is_all, ..piece }
    });
    let mut pieces: Vec<_> = of_blocks.collect();
    if !is_all {
        let kind = if blocks.is_empty() { detect::of_text(&text) } else { Kind::Markdown };
        let small_talk = matches!(kind, Kind::Text | Kind::Markdown);
        let whole = Piece::new(place, kind, Found::Content, text.into_bytes());
        pieces.insert(0, Piece { small_talk, ..whole });
    }
    pieces
}

fn is_blank_around<'a>(text: &str, blocks: impl Iterator<Item = &'a Block<'a>>) -> bool {
    let mut from = 0;
    let mut is_blank = true;
    for block in blocks {
        is_blank &= text[from..block.range.start].trim().is_empty();
        from = block.range.end;
    }
    is_blank && text[from..].trim().is_empty()
}

/// The kind of a block that is data: by its language, or else by itself.
fn data(block: &Block<'_>) -> Option<(Kind, Found)> {
    match block.language.to_ascii_lowercase().as_str() {
        "json" => Some((Kind::Json, Found::Fence)),
        "yaml" | "yml" => Some((Kind::Yaml, Found::Fence)),
        "csv" | "tsv" => Some((Kind::Csv, Found::Fence)),
        "svg" => Some((Kind::Svg, Found::Fence)),
        "" => match detect::of_text(block.body) {
            Kind::Text | Kind::Markdown => None,
            kind => Some((kind, Found::Content)),
        },
        _ => None,
    }
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

fn malformed(place: Place, json: Json<'_>, problem: String) -> Piece {
    let bytes = json.text().into_owned().into_bytes();
    // A model can read a text that is not what it says, and no Base64.
    let text = json.get("text").or_else(|| json.at(&["resource", "text"]));
    let is_shown = text.is_some_and(|text| text.as_str().is_some());
    Piece { problem: Some(problem), is_shown, ..Piece::new(place, Kind::Json, Found::Raw, bytes) }
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
        other => return format!("there is no content of type {other:?}"),
    };
    let is_text = |field: &&&str| item.get(field).is_some_and(|value| value.as_str().is_some());
    match fields.iter().find(|field| !is_text(field)) {
        Some(field) if item.get(field).is_none() => format!("`{field}` is missing"),
        Some(field) => format!("`{field}` is no string"),
        None => format!("the {kind} is not as it must be"),
    }
}

impl Piece {
    fn new(place: Place, kind: Kind, found: Found, bytes: Vec<u8>) -> Piece {
        Piece {
            place,
            kind,
            mime_type: kind.mime_type().to_owned(),
            found,
            declared: None,
            differs: None,
            bytes,
            stem: None,
            name: None,
            uri: None,
            small_talk: false,
            is_shown: kind.is_text(),
            problem: None,
        }
    }

    /// Something that says what it is, or nothing. What is there goes before
    /// what is said, where it is known by its signs.
    fn declared(place: Place, bytes: Vec<u8>, mime: Option<String>) -> Result<Piece, String> {
        let Some(mime) = mime else {
            let kind = detect::of_bytes(&bytes);
            return Ok(Piece::new(place, kind, Found::Content, bytes));
        };
        let kind = Kind::of_mime_type(&mime);
        let is_plain = is_mime_type(&mime);
        let said = if is_plain { mime.as_str() } else { "a MIME type that is none" };
        let seen = detect::by_magic(&bytes).filter(|seen| *seen != kind && !kind.is_text());
        let differs = match seen {
            Some(seen) => Some(format!("it says {said}, and the bytes are {}", seen.mime_type())),
            None if !detect::begins_like(kind, &bytes) => {
                Some(format!("it says {said}, and the bytes do not begin like that"))
            }
            None => None,
        };
        if let (Kind::Json, Err(_)) = (kind, parsed(&bytes)) {
            return Err(format!("it says {said}, and is no JSON"));
        }
        if kind.is_text() && kind != Kind::Svg && std::str::from_utf8(&bytes).is_err() {
            return Err(format!("it says {said}, and is no UTF-8"));
        }
        let (kind, found) = match seen {
            Some(seen) => (seen, Found::Content),
            None => (kind, Found::Declared),
        };
        let piece = Piece::new(place, kind, found, bytes);
        // What only its server knows of is called as its server calls it.
        let is_own = matches!(kind, Kind::Text | Kind::Bytes) && is_plain;
        let mime_type = if is_own { mime.clone() } else { piece.mime_type.clone() };
        Ok(Piece { mime_type, differs, declared: Some(mime), ..piece })
    }

    /// Its text, where it is some.
    pub(super) fn text(&self) -> Option<&str> {
        self.kind.is_text().then(|| std::str::from_utf8(&self.bytes).ok()).flatten()
    }
}

/// Whether this is how a MIME type is spelled; anything can stand there.
fn is_mime_type(mime: &str) -> bool {
    let token = |c: char| c.is_ascii_alphanumeric() || "!#$&-^_.+;= \"".contains(c);
    let parts = mime.split_once('/').filter(|(kind, rest)| !kind.is_empty() && !rest.is_empty());
    mime.len() <= 200
        && parts.is_some_and(|(kind, rest)| (kind.chars().chain(rest.chars())).all(token))
}

fn parsed(bytes: &[u8]) -> Result<RawJson, ()> {
    RawJson::parse(std::str::from_utf8(bytes).map_err(drop)?).map_err(drop)
}

impl Found {
    /// A stable name, for programs and people.
    pub fn name(self) -> &'static str {
        match self {
            Found::Declared => "mime_type",
            Found::Item => "item",
            Found::Fence => "fence",
            Found::Content => "content",
            Found::Raw => "raw",
        }
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Place::Result => write!(f, "result"),
            Place::Content => write!(f, "content"),
            Place::Item(item) => write!(f, "content[{item}]"),
            Place::Block { item, block } => write!(f, "content[{item}] block {block}"),
            Place::Structured => write!(f, "structuredContent"),
        }
    }
}
