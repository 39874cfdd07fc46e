//! Fuzzes the parser of `WWW-Authenticate` and the values of mirrored headers.

#![no_main]

use http::header::{HeaderMap, HeaderValue, WWW_AUTHENTICATE};
use libfuzzer_sys::fuzz_target;
use sparring_wire::mirrored_headers::{decode_value, encode_value};

#[expect(dead_code, reason = "the target uses a part")]
#[path = "../../crates/sparring-transport/src/http/client/oauth/challenge.rs"]
mod challenge;

fuzz_target!(|bytes: &[u8]| {
    let mut headers = HeaderMap::new();
    for line in bytes.split(|byte| *byte == b'\n') {
        if let Ok(value) = HeaderValue::from_bytes(line) {
            headers.append(WWW_AUTHENTICATE, value);
        }
    }
    let found = challenge::Challenge::from_headers(&headers);
    let parts = [&found.resource_metadata, &found.scope, &found.error, &found.description];
    assert!(parts.into_iter().flatten().all(|part| part.len() <= bytes.len()));
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let encoded = encode_value(text);
    assert!(HeaderValue::from_str(&encoded).is_ok(), "not valid in a header: {encoded}");
    assert_eq!(decode_value(&encoded).as_deref(), Some(text));
    let _ = decode_value(text);
});
