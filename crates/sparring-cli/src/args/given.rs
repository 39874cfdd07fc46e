//! Text given on the command line, in a file (`@file`) or on stdin (`-`).

use std::io::Read as _;

use sparring_wire::RawJson;

/// The bytes that an argument means.
pub(crate) fn bytes(text: &str) -> Result<Vec<u8>, String> {
    if text == "-" {
        let mut bytes = Vec::new();
        std::io::stdin().read_to_end(&mut bytes).map_err(|error| format!("stdin: {error}"))?;
        return Ok(bytes);
    }
    match text.strip_prefix('@') {
        Some(path) => std::fs::read(path).map_err(|error| format!("{path}: {error}")),
        None => Ok(text.as_bytes().to_vec()),
    }
}

/// The JSON object that an argument means.
pub(crate) fn object(text: &str) -> Result<RawJson, String> {
    let bytes = bytes(text)?;
    let text = std::str::from_utf8(&bytes).map_err(|error| error.to_string())?;
    let json = RawJson::parse(text).map_err(|error| error.to_string())?;
    match json.view().is_object() {
        // A value with line breaks would be several lines on the wire.
        true => Ok(one_line(&json)),
        false => Err(format!("arguments are an object, not {}", json.view().kind().name())),
    }
}

/// The same JSON without line breaks. Inside its strings there are none.
pub(crate) fn one_line(json: &RawJson) -> RawJson {
    let text = json.text().replace(['\n', '\r'], " ");
    RawJson::parse(&text).expect("white space is all that changed")
}
