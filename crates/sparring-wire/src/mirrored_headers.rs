//! Mirrored headers: HTTP headers that repeat parts of a request's body (2026-07-28,
//! basic/transports/streamable-http#request-metadata).
//!
//! This module names, encodes, decodes and checks them, and rejects tool definitions with
//! invalid `x-mcp-header` annotations.

use std::borrow::Cow;
use std::collections::HashSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::frame::Frame;
use crate::headers::Headers;
use crate::json::{Json, JsonKind};

/// The header with the protocol version; since 2025-06-18.
pub const PROTOCOL_VERSION_HEADER: &str = "MCP-Protocol-Version";
/// The header with the method.
pub const METHOD_HEADER: &str = "Mcp-Method";
/// The header with the name or URI that the request refers to.
pub const NAME_HEADER: &str = "Mcp-Name";

const PARAM_PREFIX: &str = "Mcp-Param-";
const ANNOTATION: &str = "x-mcp-header";
const BASE64_MARKERS: (&str, &str) = ("=?base64?", "?=");

/// The mirrored arguments of one tool: each header with the path of its argument.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MirroredArguments(Vec<(String, Vec<String>)>);

impl MirroredArguments {
    /// Reads the annotations of an input schema.
    ///
    /// # Errors
    /// Fails for an invalid annotation, with the reason. Clients over HTTP must leave out
    /// such a tool.
    pub fn from_schema(schema: Json<'_>) -> Result<MirroredArguments, String> {
        let mut found = MirroredArguments::default();
        let mut names = HashSet::new();
        found.collect_annotations(schema, Some(&mut Vec::new()), &mut names)?;
        Ok(found)
    }

    /// Returns true if the tool has no mirrored arguments.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the headers for these arguments: names and encoded values.
    pub fn headers<'a>(
        &'a self,
        arguments: Json<'a>,
    ) -> impl Iterator<Item = (&'a str, String)> + 'a {
        self.0.iter().filter_map(move |(header, path)| {
            let value = argument_at(arguments, path).and_then(header_text)?;
            Some((header.as_str(), encode_value(&value).into_owned()))
        })
    }

    fn collect_annotations(
        &mut self,
        schema: Json<'_>,
        mut path: Option<&mut Vec<String>>,
        names: &mut HashSet<String>,
    ) -> Result<(), String> {
        if let Some(annotation) = schema.get(ANNOTATION) {
            let path = path.as_deref().filter(|path| !path.is_empty());
            let name = check_annotation(schema, annotation, path, names)?;
            self.0.push((format!("{PARAM_PREFIX}{name}"), path.cloned().unwrap_or_default()));
        }
        for (key, value) in schema.members() {
            let key = key.name();
            match &*key {
                // These keys hold values, not schemas.
                ANNOTATION | "default" | "examples" | "enum" | "const" => {}
                "properties" => {
                    for (name, property) in value.members() {
                        if let Some(path) = path.as_deref_mut() {
                            path.push(name.name().into_owned());
                        }
                        self.collect_annotations(property, path.as_deref_mut(), names)?;
                        if let Some(path) = path.as_deref_mut() {
                            path.pop();
                        }
                    }
                }
                _ if value.is_object() => self.collect_annotations(value, None, names)?,
                _ => {
                    for item in value.items().filter(|item| item.is_object()) {
                        self.collect_annotations(item, None, names)?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// Returns the name in an annotation, if the annotation is valid (tools#x-mcp-header).
fn check_annotation(
    schema: Json<'_>,
    annotation: Json<'_>,
    path: Option<&Vec<String>>,
    names: &mut HashSet<String>,
) -> Result<String, String> {
    let reject = |reason: &str| Err(format!("{ANNOTATION} {annotation} {reason}"));
    let Some(name) = annotation.as_str() else { return reject("is not a string") };
    if path.is_none() {
        return reject("is not on a property that is reached through `properties` only");
    }
    if name.is_empty() || !name.bytes().all(is_token_byte) {
        return reject("is not a valid header name");
    }
    let kind = schema.get("type").and_then(Json::as_str);
    if !matches!(kind.as_deref(), Some("string" | "integer" | "boolean")) {
        return reject("is not on a property of type string, integer or boolean");
    }
    if !names.insert(name.to_ascii_lowercase()) {
        return reject("is used twice");
    }
    Ok(name.into_owned())
}

/// Returns the value of `Mcp-Name` for a request.
pub fn name_header_value<'a>(method: &str, params: Option<Json<'a>>) -> Option<Cow<'a, str>> {
    let field = match method {
        "tools/call" | "prompts/get" => "name",
        "resources/read" => "uri",
        _ => return None,
    };
    params?.get(field)?.as_str()
}

/// Compares the headers of a request with its body. `mirrored` has the mirrored arguments
/// of the called tool.
///
/// # Errors
/// Fails if a header is missing, cannot be decoded, or differs from the body.
pub fn check_headers(
    headers: &Headers,
    frame: &Frame,
    mirrored: &MirroredArguments,
) -> Result<(), String> {
    let method = frame.method().unwrap_or_default();
    let params = frame.params();
    let version = params
        .and_then(|params| params.get_path(&["_meta", "io.modelcontextprotocol/protocolVersion"]));
    let version = version.and_then(Json::as_str).unwrap_or_default();
    compare(
        headers,
        PROTOCOL_VERSION_HEADER,
        headers.get(PROTOCOL_VERSION_HEADER).map(Cow::Borrowed),
        &version,
    )?;
    compare(headers, METHOD_HEADER, headers.get(METHOD_HEADER).map(Cow::Borrowed), method)?;
    if let Some(name) = name_header_value(method, params) {
        compare(headers, NAME_HEADER, decode_header(headers, NAME_HEADER)?, &name)?;
    }
    let arguments = params.and_then(|params| params.get("arguments"));
    for (header, path) in &mirrored.0 {
        let value = arguments.and_then(|arguments| argument_at(arguments, path));
        let Some(expected) = value.and_then(header_text) else { continue };
        let found = decode_header(headers, header)?;
        let numeric = value.is_some_and(|value| value.as_f64().is_some());
        let equal = |found: &str| numeric && found.parse::<f64>().ok() == expected.parse().ok();
        if !found.as_deref().is_some_and(equal) {
            compare(headers, header, found, &expected)?;
        }
    }
    Ok(())
}

fn compare(
    headers: &Headers,
    header: &str,
    found: Option<Cow<'_, str>>,
    expected: &str,
) -> Result<(), String> {
    match found {
        Some(found) if found == expected => Ok(()),
        Some(found) => Err(format!("the header {header} has {found:?}, the body has {expected:?}")),
        None if headers.get(header).is_none() => {
            Err(format!("the header {header} is missing; the body has {expected:?}"))
        }
        None => Err(format!("the header {header} cannot be decoded")),
    }
}

fn decode_header<'a>(headers: &'a Headers, header: &str) -> Result<Option<Cow<'a, str>>, String> {
    let Some(value) = headers.get(header) else { return Ok(None) };
    let decoded = decode_value(value);
    decoded.map(Some).ok_or_else(|| format!("the header {header} has invalid characters"))
}

/// Encodes a header value: as it is, or as Base64 if HTTP could change it
/// (streamable-http#value-encoding).
pub fn encode_value(value: &str) -> Cow<'_, str> {
    let (before, after) = BASE64_MARKERS;
    // A tab is allowed, but some intermediaries do not forward it.
    let safe = value.bytes().all(|byte| matches!(byte, b' '..=b'~'))
        && value.trim_matches(' ') == value
        && !(value.starts_with(before) && value.ends_with(after));
    match safe {
        true => Cow::Borrowed(value),
        false => Cow::Owned(format!("{before}{}{after}", STANDARD.encode(value))),
    }
}

/// Decodes a header value; returns `None` if it is invalid.
pub fn decode_value(value: &str) -> Option<Cow<'_, str>> {
    let (before, after) = BASE64_MARKERS;
    match value.strip_prefix(before).and_then(|rest| rest.strip_suffix(after)) {
        Some(inner) => String::from_utf8(STANDARD.decode(inner).ok()?).ok().map(Cow::Owned),
        None if value.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\t')) => {
            Some(Cow::Borrowed(value))
        }
        None => None,
    }
}

fn argument_at<'a>(arguments: Json<'a>, path: &[String]) -> Option<Json<'a>> {
    path.iter().try_fold(arguments, |json, name| json.get(name))
}

/// Returns an argument as header text; `None` if its type is not mirrored.
fn header_text(value: Json<'_>) -> Option<Cow<'_, str>> {
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

fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::RawJson;
    use serde_json::json;

    fn read(schema: serde_json::Value) -> Result<MirroredArguments, String> {
        MirroredArguments::from_schema(RawJson::from(schema).view())
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
            assert_eq!(encode_value(value), written);
            assert_eq!(decode_value(written).as_deref(), Some(value));
        }
        assert_eq!(decode_value("=?base64?!!!?="), None);
        assert_eq!(decode_value("ünsafe"), None);
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
        let mirrored = mirrored.expect("all annotations are valid");
        let headers: Vec<_> = mirrored.headers(arguments.view()).collect();
        let expected = [("Mcp-Param-Region", "=?base64?w7w=?="), ("Mcp-Param-Most", "42")];
        assert_eq!(headers, expected.map(|(name, value)| (name, value.to_owned())));
    }

    #[test]
    fn invalid_annotations_are_rejected() {
        let property = |property: serde_json::Value| json!({"properties": {"a": property}});
        for (schema, reason) in [
            (property(json!({"type": "string", "x-mcp-header": ""})), "not a valid header name"),
            (property(json!({"type": "string", "x-mcp-header": "a b"})), "not a valid header name"),
            (property(json!({"type": "string", "x-mcp-header": 1})), "not a string"),
            (
                property(json!({"type": "number", "x-mcp-header": "A"})),
                "is not on a property of type",
            ),
            (
                property(json!({"items": {"type": "string", "x-mcp-header": "A"}})),
                "through `properties` only",
            ),
            (json!({"type": "string", "x-mcp-header": "A"}), "through `properties` only"),
            (
                json!({"oneOf": [property(json!({"type": "string", "x-mcp-header": "A"}))]}),
                "through `properties` only",
            ),
            (
                json!({"$defs": {"d": {"type": "string", "x-mcp-header": "A"}}}),
                "through `properties` only",
            ),
            (
                json!({"properties": {
                    "a": {"type": "string", "x-mcp-header": "A"},
                    "b": {"type": "string", "x-mcp-header": "a"},
                }}),
                "twice",
            ),
        ] {
            let rejected = read(schema.clone()).expect_err("the annotation is invalid");
            assert!(rejected.contains(reason), "{schema}: {rejected}");
        }
        assert!(read(json!({"default": {"x-mcp-header": 1}})).is_ok_and(|none| none.is_empty()));
    }

    #[test]
    fn headers_are_compared_with_the_body() {
        let frame = Frame::parse(
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"q","arguments":{"n":42},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#,
        );
        let mirrored = read(json!({"properties": {"n": {"type": "integer", "x-mcp-header": "N"}}}));
        let mirrored = mirrored.expect("the annotation is valid");
        let good = [
            ("mcp-protocol-version", "2026-07-28"),
            ("mcp-method", "tools/call"),
            ("mcp-name", "=?base64?cQ==?="),
            ("mcp-param-n", "42.0"),
        ];
        assert_eq!(check_headers(&good.into_iter().collect(), &frame, &mirrored), Ok(()));
        for (name, value, reason) in [
            ("mcp-method", "tools/list", r#"has "tools/list", the body has "tools/call""#),
            ("mcp-name", "", "has"),
            ("mcp-name", "=?base64?§?=", "invalid characters"),
            ("mcp-param-n", "43", r#"has "43""#),
        ] {
            let changed = good.map(|pair| if pair.0 == name { (name, value) } else { pair });
            let found = check_headers(&changed.into_iter().collect(), &frame, &mirrored);
            assert!(found.clone().is_err_and(|found| found.contains(reason)), "{name}: {found:?}");
        }
        for missing in good.map(|(name, _)| name) {
            let rest = good.into_iter().filter(|(name, _)| *name != missing).collect();
            let found = check_headers(&rest, &frame, &mirrored);
            assert!(found.is_err_and(|found| found.contains("is missing")), "{missing}");
        }
    }
}
