//! What a request says twice over HTTP: the parts of its body that stand in
//! its headers as well (2026-07-28, basic/transports/streamable-http#request-metadata).
//!
//! How to name and write them, how to read them back, and which tool
//! definitions ask for it in a way that cannot be followed.

use std::borrow::Cow;
use std::collections::HashSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::frame::Frame;
use crate::headers::Headers;
use crate::json::{Json, JsonKind};

/// The header with the protocol version; since 2025-06-18.
pub const PROTOCOL_VERSION: &str = "MCP-Protocol-Version";
/// The header with the method.
pub const METHOD: &str = "Mcp-Method";
/// The header with the name or address that the request is about.
pub const NAME: &str = "Mcp-Name";

const PARAM: &str = "Mcp-Param-";
const ANNOTATION: &str = "x-mcp-header";
const SENTINEL: (&str, &str) = ("=?base64?", "?=");

/// The arguments of one tool that are mirrored: each header with the path of
/// the argument.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Mirrored(Vec<(String, Vec<String>)>);

impl Mirrored {
    /// Reads the annotations of an input schema.
    ///
    /// # Errors
    /// Says which of them cannot be followed, and why; such a tool is to be
    /// left out by clients over HTTP.
    pub fn read(schema: Json<'_>) -> Result<Mirrored, String> {
        let mut found = Mirrored::default();
        let mut names = HashSet::new();
        found.walk(schema, Some(&mut Vec::new()), &mut names)?;
        Ok(found)
    }

    /// Whether nothing is mirrored.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The headers for these arguments: names, and values as they are to be
    /// written.
    pub fn headers<'a>(
        &'a self,
        arguments: Json<'a>,
    ) -> impl Iterator<Item = (&'a str, String)> + 'a {
        self.0.iter().filter_map(move |(header, path)| {
            let value = at(arguments, path).and_then(plain)?;
            Some((header.as_str(), encode(&value).into_owned()))
        })
    }

    fn walk(
        &mut self,
        schema: Json<'_>,
        mut path: Option<&mut Vec<String>>,
        names: &mut HashSet<String>,
    ) -> Result<(), String> {
        if let Some(annotation) = schema.get(ANNOTATION) {
            let path = path.as_deref().filter(|path| !path.is_empty());
            let name = usable(schema, annotation, path, names)?;
            self.0.push((format!("{PARAM}{name}"), path.cloned().unwrap_or_default()));
        }
        for (key, value) in schema.members() {
            let key = key.name();
            match &*key {
                // These hold values, not schemas.
                ANNOTATION | "default" | "examples" | "enum" | "const" => {}
                "properties" => {
                    for (name, property) in value.members() {
                        if let Some(path) = path.as_deref_mut() {
                            path.push(name.name().into_owned());
                        }
                        self.walk(property, path.as_deref_mut(), names)?;
                        if let Some(path) = path.as_deref_mut() {
                            path.pop();
                        }
                    }
                }
                _ if value.is_object() => self.walk(value, None, names)?,
                _ => {
                    for item in value.items().filter(|item| item.is_object()) {
                        self.walk(item, None, names)?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// The name that an annotation gives, if it may (tools#x-mcp-header).
fn usable(
    schema: Json<'_>,
    annotation: Json<'_>,
    path: Option<&Vec<String>>,
    names: &mut HashSet<String>,
) -> Result<String, String> {
    let refuse = |why: &str| Err(format!("{ANNOTATION} {annotation} {why}"));
    let Some(name) = annotation.as_str() else { return refuse("is not a string") };
    if path.is_none() {
        return refuse("does not stand at a property that `properties` alone lead to");
    }
    if name.is_empty() || !name.bytes().all(is_token) {
        return refuse("is not a name for a header");
    }
    let kind = schema.get("type").and_then(Json::as_str);
    if !matches!(kind.as_deref(), Some("string" | "integer" | "boolean")) {
        return refuse("is not at a string, an integer or a boolean");
    }
    if !names.insert(name.to_ascii_lowercase()) {
        return refuse("stands there twice");
    }
    Ok(name.into_owned())
}

/// What `Mcp-Name` holds for a request of that method.
pub fn name_of<'a>(method: &str, params: Option<Json<'a>>) -> Option<Cow<'a, str>> {
    let field = match method {
        "tools/call" | "prompts/get" => "name",
        "resources/read" => "uri",
        _ => return None,
    };
    params?.get(field)?.as_str()
}

/// Checks the headers of a request against its body, and says what does not
/// fit. `mirrored` is what the tool it calls asks for.
///
/// # Errors
/// When a header is missing, cannot be read, or says something else.
pub fn check(headers: &Headers, frame: &Frame, mirrored: &Mirrored) -> Result<(), String> {
    let method = frame.method().unwrap_or_default();
    let params = frame.params();
    let version =
        params.and_then(|params| params.at(&["_meta", "io.modelcontextprotocol/protocolVersion"]));
    let version = version.and_then(Json::as_str).unwrap_or_default();
    same(headers, PROTOCOL_VERSION, headers.get(PROTOCOL_VERSION).map(Cow::Borrowed), &version)?;
    same(headers, METHOD, headers.get(METHOD).map(Cow::Borrowed), method)?;
    if let Some(name) = name_of(method, params) {
        same(headers, NAME, decoded(headers, NAME)?, &name)?;
    }
    let arguments = params.and_then(|params| params.get("arguments"));
    for (header, path) in &mirrored.0 {
        let value = arguments.and_then(|arguments| at(arguments, path));
        let Some(expected) = value.and_then(plain) else { continue };
        let found = decoded(headers, header)?;
        let numeric = value.is_some_and(|value| value.as_f64().is_some());
        let equal = |found: &str| numeric && found.parse::<f64>().ok() == expected.parse().ok();
        if !found.as_deref().is_some_and(equal) {
            same(headers, header, found, &expected)?;
        }
    }
    Ok(())
}

fn same(
    headers: &Headers,
    header: &str,
    found: Option<Cow<'_, str>>,
    expected: &str,
) -> Result<(), String> {
    match found {
        Some(found) if found == expected => Ok(()),
        Some(found) => Err(format!("the header {header} says {found:?} and the body {expected:?}")),
        None if headers.get(header).is_none() => {
            Err(format!("the header {header} is missing; the body says {expected:?}"))
        }
        None => Err(format!("the header {header} cannot be read")),
    }
}

fn decoded<'a>(headers: &'a Headers, header: &str) -> Result<Option<Cow<'a, str>>, String> {
    let Some(value) = headers.get(header) else { return Ok(None) };
    let decoded = decode(value);
    decoded.map(Some).ok_or_else(|| format!("the header {header} has characters it must not have"))
}

/// A value as it stands in a header: itself, or in Base64 where it would not
/// come through (streamable-http#value-encoding).
pub fn encode(value: &str) -> Cow<'_, str> {
    let (before, after) = SENTINEL;
    // A tab may stand there, but not everybody lets it through.
    let safe = value.bytes().all(|byte| matches!(byte, b' '..=b'~'))
        && value.trim_matches(' ') == value
        && !(value.starts_with(before) && value.ends_with(after));
    match safe {
        true => Cow::Borrowed(value),
        false => Cow::Owned(format!("{before}{}{after}", STANDARD.encode(value))),
    }
}

/// What a value in a header stands for; none where it cannot be read.
pub fn decode(value: &str) -> Option<Cow<'_, str>> {
    let (before, after) = SENTINEL;
    match value.strip_prefix(before).and_then(|rest| rest.strip_suffix(after)) {
        Some(inner) => String::from_utf8(STANDARD.decode(inner).ok()?).ok().map(Cow::Owned),
        None if value.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\t')) => {
            Some(Cow::Borrowed(value))
        }
        None => None,
    }
}

fn at<'a>(arguments: Json<'a>, path: &[String]) -> Option<Json<'a>> {
    path.iter().try_fold(arguments, |json, name| json.get(name))
}

/// A value in plain text; none where it is not mirrored.
fn plain(value: Json<'_>) -> Option<Cow<'_, str>> {
    match value.kind() {
        JsonKind::String => value.as_str(),
        JsonKind::Boolean | JsonKind::Integer => Some(value.text()),
        JsonKind::Number => Some(match value.as_f64() {
            Some(number) if number.fract() == 0.0 => Cow::Owned(format!("{number:.0}")),
            _ => value.text(),
        }),
        _ => None,
    }
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::RawJson;
    use serde_json::json;

    fn read(schema: serde_json::Value) -> Result<Mirrored, String> {
        Mirrored::read(RawJson::from(schema).view())
    }

    #[test]
    fn values_are_encoded_as_the_specification_shows() {
        for (value, written) in [
            ("us-west1", "us-west1"),
            ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
            (" padded ", "=?base64?IHBhZGRlZCA=?="),
            ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
            ("a\tb", "=?base64?YQli?="),
            ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
            ("", ""),
        ] {
            assert_eq!(encode(value), written);
            assert_eq!(decode(written).as_deref(), Some(value));
        }
        assert_eq!(decode("=?base64?!!!?="), None);
        assert_eq!(decode("ünsafe"), None);
    }

    #[test]
    fn arguments_are_found_by_their_path() {
        let mirrored = read(json!({"type": "object", "properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "limits": {"type": "object", "properties": {"most": {"type": "integer", "x-mcp-header": "Most"}}},
            "dry": {"type": "boolean", "x-mcp-header": "Dry"},
            "x-mcp-header": {"type": "string"},
        }}));
        let arguments =
            RawJson::from(json!({"region": "ü", "limits": {"most": 42.0}, "dry": null}));
        let mirrored = mirrored.expect("all of them can be followed");
        let headers: Vec<_> = mirrored.headers(arguments.view()).collect();
        let expected = [("Mcp-Param-Region", "=?base64?w7w=?="), ("Mcp-Param-Most", "42")];
        assert_eq!(headers, expected.map(|(name, value)| (name, value.to_owned())));
    }

    #[test]
    fn annotations_that_cannot_be_followed_are_refused() {
        let property = |property: serde_json::Value| json!({"properties": {"a": property}});
        for (schema, why) in [
            (property(json!({"type": "string", "x-mcp-header": ""})), "not a name"),
            (property(json!({"type": "string", "x-mcp-header": "a b"})), "not a name"),
            (property(json!({"type": "string", "x-mcp-header": 1})), "not a string"),
            (property(json!({"type": "number", "x-mcp-header": "A"})), "is not at a string"),
            (property(json!({"items": {"type": "string", "x-mcp-header": "A"}})), "alone lead"),
            (json!({"type": "string", "x-mcp-header": "A"}), "alone lead"),
            (json!({"oneOf": [property(json!({"type": "string", "x-mcp-header": "A"}))]}), "alone"),
            (json!({"$defs": {"d": {"type": "string", "x-mcp-header": "A"}}}), "alone lead"),
            (
                json!({"properties": {
                    "a": {"type": "string", "x-mcp-header": "A"},
                    "b": {"type": "string", "x-mcp-header": "a"},
                }}),
                "twice",
            ),
        ] {
            let refused = read(schema.clone()).expect_err("it cannot be followed");
            assert!(refused.contains(why), "{schema}: {refused}");
        }
        assert!(read(json!({"default": {"x-mcp-header": 1}})).is_ok_and(|none| none.is_empty()));
    }

    #[test]
    fn headers_are_held_against_the_body() {
        let frame = Frame::parse(
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"q","arguments":{"n":42},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#,
        );
        let mirrored = read(json!({"properties": {"n": {"type": "integer", "x-mcp-header": "N"}}}));
        let mirrored = mirrored.expect("it can be followed");
        let good = [
            ("mcp-protocol-version", "2026-07-28"),
            ("mcp-method", "tools/call"),
            ("mcp-name", "=?base64?cQ==?="),
            ("mcp-param-n", "42.0"),
        ];
        assert_eq!(check(&good.into_iter().collect(), &frame, &mirrored), Ok(()));
        for (name, value, why) in [
            ("mcp-method", "tools/list", r#"says "tools/list" and the body "tools/call""#),
            ("mcp-name", "", "says"),
            ("mcp-name", "=?base64?§?=", "must not have"),
            ("mcp-param-n", "43", r#"says "43""#),
        ] {
            let changed = good.map(|pair| if pair.0 == name { (name, value) } else { pair });
            let found = check(&changed.into_iter().collect(), &frame, &mirrored);
            assert!(found.clone().is_err_and(|found| found.contains(why)), "{name}: {found:?}");
        }
        for missing in good.map(|(name, _)| name) {
            let rest = good.into_iter().filter(|(name, _)| *name != missing).collect();
            let found = check(&rest, &frame, &mirrored);
            assert!(found.is_err_and(|found| found.contains("is missing")), "{missing}");
        }
    }
}
