//! A piece of a result that may become an artifact: its bytes, its kind, and the source
//! of the kind.

use sparring_wire::{Json, RawJson};

use super::detect;
use super::file_name::FileStem;
use super::kind::Kind;

/// The location of a piece in a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PieceLocation {
    /// The whole result.
    Result,
    /// The whole content.
    Content,
    /// An item of the content, from 0.
    Item(usize),
    /// A fenced block of data in a text, both from 0.
    Block {
        /// The item that contains the text.
        item: usize,
        /// The number of the block.
        block: usize,
    },
    /// The structured content.
    Structured,
}

/// The source of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DetectedBy {
    /// By the item's MIME type.
    Declared,
    /// By the item's type.
    Item,
    /// By the word after the fence.
    Fence,
    /// By the bytes.
    Content,
    /// Not at all: it is the raw JSON.
    Raw,
}

/// A piece that may become an artifact.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Piece {
    pub(super) place: PieceLocation,
    pub(super) kind: Kind,
    pub(super) mime_type: String,
    pub(super) found: DetectedBy,
    /// The declared MIME type.
    pub(super) declared: Option<String>,
    /// The difference between the bytes and the declared type.
    pub(super) differs: Option<String>,
    pub(super) bytes: Vec<u8>,
    pub(super) stem: Option<FileStem>,
    pub(super) name: Option<String>,
    pub(super) uri: Option<String>,
    /// True if it is saved only when it is large.
    pub(super) inline_if_small: bool,
    /// True if the model gets its text. False if another piece contains the text.
    pub(super) shown_to_model: bool,
    /// The problem of a malformed item; the bytes are then its JSON.
    pub(super) problem: Option<String>,
}

impl Piece {
    pub(super) fn new(
        place: PieceLocation,
        kind: Kind,
        found: DetectedBy,
        bytes: Vec<u8>,
    ) -> Piece {
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
            inline_if_small: false,
            shown_to_model: kind.is_text(),
            problem: None,
        }
    }

    /// A piece with an optional MIME type. Magic bytes take precedence over the
    /// declared type.
    pub(super) fn with_mime_type(
        place: PieceLocation,
        bytes: Vec<u8>,
        mime: Option<String>,
    ) -> Result<Piece, String> {
        let Some(mime) = mime else {
            let kind = detect::detect_bytes(&bytes);
            return Ok(Piece::new(place, kind, DetectedBy::Content, bytes));
        };
        let kind = Kind::from_mime_type(&mime);
        let is_plain = is_mime_type(&mime);
        let declared_type = if is_plain { mime.as_str() } else { "an invalid MIME type" };
        let detected =
            detect::kind_from_magic(&bytes).filter(|detected| *detected != kind && !kind.is_text());
        let differs = match detected {
            Some(detected) => Some(format!(
                "declared as {declared_type}, but the bytes are {}",
                detected.mime_type()
            )),
            None if !detect::magic_matches(kind, &bytes) => {
                Some(format!("declared as {declared_type}, but the bytes do not begin like that"))
            }
            None => None,
        };
        if let (Kind::Json, Err(_)) = (kind, parse_json(&bytes)) {
            return Err(format!("declared as {declared_type}, but is not valid JSON"));
        }
        if kind.is_text() && kind != Kind::Svg && std::str::from_utf8(&bytes).is_err() {
            return Err(format!("declared as {declared_type}, but is not valid UTF-8"));
        }
        let (kind, found) = match detected {
            Some(detected) => (detected, DetectedBy::Content),
            None => (kind, DetectedBy::Declared),
        };
        let piece = Piece::new(place, kind, found, bytes);
        // A type without a separate kind keeps the declared MIME type.
        let is_own = matches!(kind, Kind::Text | Kind::Bytes) && is_plain;
        let mime_type = if is_own { mime.clone() } else { piece.mime_type.clone() };
        Ok(Piece { mime_type, differs, declared: Some(mime), ..piece })
    }

    /// A piece that cannot be used, as its raw JSON.
    pub(super) fn malformed(place: PieceLocation, json: Json<'_>, problem: String) -> Piece {
        let bytes = json.text().into_owned().into_bytes();
        // A model can read a text with a wrong type, but not Base64.
        let text = json.get("text").or_else(|| json.get_path(&["resource", "text"]));
        let shown_to_model = text.is_some_and(|text| text.as_str().is_some());
        Piece {
            problem: Some(problem),
            shown_to_model,
            ..Piece::new(place, Kind::Json, DetectedBy::Raw, bytes)
        }
    }

    /// Its text, if its kind is text.
    pub(super) fn text(&self) -> Option<&str> {
        self.kind.is_text().then(|| std::str::from_utf8(&self.bytes).ok()).flatten()
    }
}

/// Returns true if this is a well-formed MIME type.
fn is_mime_type(mime: &str) -> bool {
    let token = |c: char| c.is_ascii_alphanumeric() || "!#$&-^_.+;= \"".contains(c);
    let parts = mime.split_once('/').filter(|(kind, rest)| !kind.is_empty() && !rest.is_empty());
    mime.len() <= 200
        && parts.is_some_and(|(kind, rest)| (kind.chars().chain(rest.chars())).all(token))
}

fn parse_json(bytes: &[u8]) -> Result<RawJson, ()> {
    RawJson::parse(std::str::from_utf8(bytes).map_err(drop)?).map_err(drop)
}

impl DetectedBy {
    /// A stable name, for programs and people.
    pub fn name(self) -> &'static str {
        match self {
            DetectedBy::Declared => "mime_type",
            DetectedBy::Item => "item",
            DetectedBy::Fence => "fence",
            DetectedBy::Content => "content",
            DetectedBy::Raw => "raw",
        }
    }
}

impl std::fmt::Display for PieceLocation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            PieceLocation::Result => write!(f, "result"),
            PieceLocation::Content => write!(f, "content"),
            PieceLocation::Item(item) => write!(f, "content[{item}]"),
            PieceLocation::Block { item, block } => write!(f, "content[{item}] block {block}"),
            PieceLocation::Structured => write!(f, "structuredContent"),
        }
    }
}
