//! The forms in which programs write a secret: in JSON, in a URL, in a form, in XML, in Base64.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// Shorter secrets are not masked: they occur in too many texts.
const MIN_LENGTH: usize = 6;

/// A line of a secret, such as a key, is masked by itself from this length on.
const MIN_LINE_LENGTH: usize = 16;

/// Words that are no secrets: members of messages, usual settings, and our own replacement.
const TRIVIAL: [&str; 28] = [
    "arguments",
    "content",
    "default",
    "description",
    "development",
    "disabled",
    "enabled",
    "example",
    "hidden",
    "inputschema",
    "jsonrpc",
    "localhost",
    "message",
    "method",
    "object",
    "params",
    "production",
    "prompts",
    "resources",
    "result",
    "server",
    "staging",
    "string",
    "structuredcontent",
    "testing",
    "verbose",
    "version",
    "warning",
];

/// The characters that HTML forms encode.
const FORM: &AsciiSet = &NON_ALPHANUMERIC.remove(b'*').remove(b'-').remove(b'.').remove(b'_');

/// The characters that a part of a URL encodes (RFC 3986, 2.3).
const URL: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The same for a path, whose slashes stay.
const PATH: &AsciiSet = &URL.remove(b'/');

/// The characters that `encodeURIComponent` of JavaScript encodes.
const COMPONENT: &AsciiSet = &URL.remove(b'!').remove(b'*').remove(b'\'').remove(b'(').remove(b')');

/// Returns true if a value is too short or too common to be a secret.
pub(super) fn is_trivial(value: &str) -> bool {
    // A placeholder is shown as the file has it.
    let is_placeholder = value.starts_with("${") && value.ends_with('}');
    value.len() < MIN_LENGTH
        || is_placeholder
        || TRIVIAL.iter().any(|word| word.eq_ignore_ascii_case(value))
}

/// Returns all written forms of a secret.
pub(super) fn written_forms(secret: &str) -> Vec<Vec<u8>> {
    let mut texts = vec![secret.to_owned(), secret.trim().to_owned()];
    let lines = secret.lines().map(str::trim).filter(|line| line.len() >= MIN_LINE_LENGTH);
    texts.extend(lines.map(str::to_owned));
    // Control characters become spaces in a line of output.
    texts.push(secret.replace(|c: char| c.is_control(), " "));
    let mut forms = Vec::new();
    for text in texts {
        let json = in_json(&text);
        forms.push(json.replace('/', "\\/"));
        forms.push(in_ascii_json(&json));
        forms.push(in_json(&json));
        forms.push(json);
        for set in [FORM, URL, PATH, COMPONENT] {
            let encoded = utf8_percent_encode(&text, set).to_string();
            forms.push(with_lower_case_digits(&encoded));
            forms.push(encoded.replace("%20", "+"));
            forms.push(encoded);
        }
        let xml = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        forms.push(xml.replace('"', "&quot;").replace('\'', "&apos;"));
        forms.push(xml.replace('"', "&quot;").replace('\'', "&#39;"));
        forms.push(xml.replace('"', "&quot;"));
        forms.push(xml);
        forms.extend(in_base64(&text));
        forms.push(text);
    }
    forms.retain(|form| form.len() >= MIN_LENGTH);
    forms.sort();
    forms.dedup();
    forms.into_iter().map(String::into_bytes).collect()
}

fn in_json(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

/// JSON in ASCII, as some languages write it by default.
fn in_ascii_json(json: &str) -> String {
    let mut ascii = String::with_capacity(json.len());
    for c in json.chars() {
        match c.is_ascii() {
            true => ascii.push(c),
            false => {
                let mut units = [0; 2];
                let units = c.encode_utf16(&mut units).iter();
                ascii.extend(units.map(|unit| format!("\\u{unit:04x}")));
            }
        }
    }
    ascii
}

fn with_lower_case_digits(encoded: &str) -> String {
    let mut rest = 0;
    let lower = |c: char| {
        rest = if c == '%' { 2 } else { i32::max(rest - 1, -1) };
        if rest >= 0 { c.to_ascii_lowercase() } else { c }
    };
    encoded.chars().map(lower).collect()
}

/// The secret inside of a longer text in Base64. Its letters depend on its position, and the
/// outer ones also on its neighbours; those are left out.
fn in_base64(text: &str) -> Vec<String> {
    let mut forms = Vec::new();
    for before in 0..3 {
        let bytes = [&vec![0; before][..], text.as_bytes()].concat();
        let (first, last) = ((before * 8).div_ceil(6), bytes.len() * 8 / 6);
        for encoded in [STANDARD_NO_PAD.encode(&bytes), URL_SAFE_NO_PAD.encode(&bytes)] {
            forms.push(encoded[first..last].to_owned());
        }
    }
    forms
}
