//! A piece of a result that may become an artifact: its bytes, its kind, and
//! how that was found.

use sparring_wire::{Json, RawJson};

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
    /// A fenced block of data in a text, both from 0.
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

impl Piece {
    pub(super) fn new(place: Place, kind: Kind, found: Found, bytes: Vec<u8>) -> Piece {
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
    pub(super) fn declared(
        place: Place,
        bytes: Vec<u8>,
        mime: Option<String>,
    ) -> Result<Piece, String> {
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

    /// Something that cannot be used, as the JSON that it came as.
    pub(super) fn malformed(place: Place, json: Json<'_>, problem: String) -> Piece {
        let bytes = json.text().into_owned().into_bytes();
        // A model can read a text that is not what it says, and no Base64.
        let text = json.get("text").or_else(|| json.at(&["resource", "text"]));
        let is_shown = text.is_some_and(|text| text.as_str().is_some());
        Piece {
            problem: Some(problem),
            is_shown,
            ..Piece::new(place, Kind::Json, Found::Raw, bytes)
        }
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
