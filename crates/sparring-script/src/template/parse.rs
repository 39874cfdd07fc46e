//! Parses templates and paths.

use super::path::{Path, Segment};
use super::{Piece, Template, TemplateError};

pub(super) fn parse_template(text: &str) -> Result<Template, TemplateError> {
    let mut pieces = Vec::new();
    let mut literal = String::new();
    let mut at = 0;
    while let Some(found) = text[at..].find("${") {
        let open = at + found;
        // `$${` is a literal `${`.
        if text[at..open].ends_with('$') {
            literal.push_str(&text[at..open - 1]);
            literal.push_str("${");
            at = open + 2;
            continue;
        }
        literal.push_str(&text[at..open]);
        let body = open + 2;
        let Some(length) = find_closing_brace(&text[body..]) else {
            return Err(error_at(open, "this `${` is not closed (write `$${` for a literal `${`)"));
        };
        if !literal.is_empty() {
            pieces.push(Piece::Literal(std::mem::take(&mut literal)));
        }
        pieces.push(parse_placeholder(&text[body..body + length], body)?);
        at = body + length + 1;
    }
    literal.push_str(&text[at..]);
    if !literal.is_empty() || pieces.is_empty() {
        pieces.push(Piece::Literal(literal));
    }
    Ok(Template { pieces })
}

/// Returns the position of the brace that closes a placeholder. Braces in quotes do not.
fn find_closing_brace(text: &str) -> Option<usize> {
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

fn parse_placeholder(text: &str, at: usize) -> Result<Piece, TemplateError> {
    let (path, default) = match text.split_once(":-") {
        Some((path, default)) => (path, Some(default.to_owned())),
        None => (text, None),
    };
    let leading = path.len() - path.trim_start().len();
    let shift =
        |error: TemplateError| TemplateError { offset: error.offset + at + leading, ..error };
    Ok(Piece::Placeholder { path: parse_path(path.trim()).map_err(shift)?, default })
}

pub(super) fn parse_path(text: &str) -> Result<Path, TemplateError> {
    let mut segments = Vec::new();
    let mut at = 0;
    // `env:NAME` is the key NAME of env.
    let prefixed = text.split_once(':').filter(|(root, _)| is_name(root));
    if let Some((root, name)) = prefixed {
        if name.is_empty() {
            return Err(error_at(text.len(), "expected a name here"));
        }
        segments.push(Segment::Key(root.to_owned()));
        segments.push(Segment::Key(name.to_owned()));
        return Ok(Path { segments });
    }
    loop {
        let rest = &text[at..];
        if let Some(inner) = rest.strip_prefix('[').filter(|_| !segments.is_empty()) {
            let (segment, length) = parse_bracket(inner, at + 1)?;
            segments.push(segment);
            at += length + 2;
        } else {
            let rest = match (rest.strip_prefix('.'), segments.is_empty()) {
                (Some(rest), false) => {
                    at += 1;
                    rest
                }
                (_, true) => rest,
                (None, false) => return Err(error_at(at, "expected `.` or `[` here")),
            };
            let end = rest.find(|c| !is_name_char(c)).unwrap_or(rest.len());
            if !is_name(&rest[..end]) {
                return Err(error_at(at, "expected a name here"));
            }
            segments.push(Segment::Key(rest[..end].to_owned()));
            at += end;
        }
        if at >= text.len() {
            return Ok(Path { segments });
        }
    }
}

/// Parses the content of brackets and returns its length.
fn parse_bracket(inner: &str, at: usize) -> Result<(Segment, usize), TemplateError> {
    if inner.starts_with('"') {
        let mut values = serde_json::Deserializer::from_str(inner).into_iter::<String>();
        let key = values.next().and_then(Result::ok);
        let length = values.byte_offset();
        return match key {
            Some(key) if inner[length..].starts_with(']') => Ok((Segment::Key(key), length)),
            _ => Err(error_at(at, "expected a quoted key and `]` here")),
        };
    }
    let digits = inner.find(']').map(|end| &inner[..end]);
    let index = digits.and_then(|digits| Some((digits.parse().ok()?, digits.len())));
    let (index, length) =
        index.ok_or_else(|| error_at(at, "expected a number or a quoted key here"))?;
    Ok((Segment::Index(index), length))
}

/// Returns true if a key can be written without brackets.
pub(super) fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text.chars().all(is_name_char)
        && !text.starts_with(|c: char| c.is_ascii_digit() || c == '-')
}

fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '-'
}

fn error_at(offset: usize, message: &str) -> TemplateError {
    TemplateError { offset, message: message.to_owned() }
}
