//! Reads templates and paths.

use super::path::{Path, Segment};
use super::{BadTemplate, Piece, Template};

pub(super) fn template(text: &str) -> Result<Template, BadTemplate> {
    let mut pieces = Vec::new();
    let mut literal = String::new();
    let mut at = 0;
    while let Some(found) = text[at..].find("${") {
        let open = at + found;
        // One dollar before it makes it a literal, and is not shown itself.
        if text[at..open].ends_with('$') {
            literal.push_str(&text[at..open - 1]);
            literal.push_str("${");
            at = open + 2;
            continue;
        }
        literal.push_str(&text[at..open]);
        let body = open + 2;
        let Some(length) = closing(&text[body..]) else {
            return Err(bad(open, "this `${` is not closed; a literal one is written `$${`"));
        };
        if !literal.is_empty() {
            pieces.push(Piece::Literal(std::mem::take(&mut literal)));
        }
        pieces.push(hole(&text[body..body + length], body)?);
        at = body + length + 1;
    }
    literal.push_str(&text[at..]);
    if !literal.is_empty() || pieces.is_empty() {
        pieces.push(Piece::Literal(literal));
    }
    Ok(Template { pieces })
}

/// Where the brace that closes a hole stands; one in quotes does not.
fn closing(text: &str) -> Option<usize> {
    let mut quoted = false;
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            '}' if !quoted => return Some(at),
            _ => {}
        }
    }
    None
}

fn hole(text: &str, at: usize) -> Result<Piece, BadTemplate> {
    let (path, default) = match text.split_once(":-") {
        Some((path, default)) => (path, Some(default.to_owned())),
        None => (text, None),
    };
    let leading = path.len() - path.trim_start().len();
    let shift = |error: BadTemplate| BadTemplate { at: error.at + at + leading, ..error };
    Ok(Piece::Hole { path: self::path(path.trim()).map_err(shift)?, default })
}

pub(super) fn path(text: &str) -> Result<Path, BadTemplate> {
    let mut segments = Vec::new();
    let mut at = 0;
    // `env:NAME` is the member NAME of env.
    let starts = text.split_once(':').filter(|(root, _)| is_name(root));
    if let Some((root, name)) = starts {
        if name.is_empty() {
            return Err(bad(text.len(), "a name is missing here"));
        }
        segments.push(Segment::Key(root.to_owned()));
        segments.push(Segment::Key(name.to_owned()));
        return Ok(Path { segments });
    }
    loop {
        let rest = &text[at..];
        if let Some(inner) = rest.strip_prefix('[').filter(|_| !segments.is_empty()) {
            let (segment, length) = bracket(inner, at + 1)?;
            segments.push(segment);
            at += length + 2;
        } else {
            let rest = match (rest.strip_prefix('.'), segments.is_empty()) {
                (Some(rest), false) => {
                    at += 1;
                    rest
                }
                (_, true) => rest,
                (None, false) => return Err(bad(at, "`.` or `[` is missing here")),
            };
            let end = rest.find(|c| !is_letter(c)).unwrap_or(rest.len());
            if !is_name(&rest[..end]) {
                return Err(bad(at, "a name is missing here"));
            }
            segments.push(Segment::Key(rest[..end].to_owned()));
            at += end;
        }
        if at >= text.len() {
            return Ok(Path { segments });
        }
    }
}

/// What stands in brackets, and how long it is.
fn bracket(inner: &str, at: usize) -> Result<(Segment, usize), BadTemplate> {
    if inner.starts_with('"') {
        let mut values = serde_json::Deserializer::from_str(inner).into_iter::<String>();
        let key = values.next().and_then(Result::ok);
        let length = values.byte_offset();
        return match key {
            Some(key) if inner[length..].starts_with(']') => Ok((Segment::Key(key), length)),
            _ => Err(bad(at, "a text in quotes and `]` are wanted here")),
        };
    }
    let digits = inner.find(']').map(|end| &inner[..end]);
    let index = digits.and_then(|digits| Some((digits.parse().ok()?, digits.len())));
    let (index, length) =
        index.ok_or_else(|| bad(at, "a number or a text in quotes is wanted here"))?;
    Ok((Segment::Index(index), length))
}

/// Whether a key can be written without brackets.
pub(super) fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text.chars().all(is_letter)
        && !text.starts_with(|c: char| c.is_ascii_digit() || c == '-')
}

fn is_letter(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '-'
}

fn bad(at: usize, message: &str) -> BadTemplate {
    BadTemplate { at, message: message.to_owned() }
}
