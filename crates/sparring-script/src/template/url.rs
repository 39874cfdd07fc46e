//! Percent-encodes values in a URL.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// All characters but the unreserved ones (RFC 3986, 2.3).
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Percent-encodes a text.
pub fn percent_encode(text: &str) -> String {
    utf8_percent_encode(text, ENCODED).to_string()
}

/// Returns true if the text that follows `before` in a URL is after scheme, host and port.
pub(super) fn is_after_origin(before: &str) -> bool {
    let is_scheme = |scheme: &str| !scheme.contains(['/', '?', '#']);
    let rest = match before.split_once("://") {
        Some((scheme, rest)) if is_scheme(scheme) => rest,
        _ => before,
    };
    rest.contains(['/', '?', '#'])
}
