//! Values in a URL: where they are percent-encoded, and how.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// What must be written otherwise in a URL (RFC 3986, 2.3).
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// A text as it stands in a URL, whatever is in it.
pub fn encoded(text: &str) -> String {
    utf8_percent_encode(text, RESERVED).to_string()
}

/// Whether what follows this text in a URL stands behind scheme, host and port.
pub(super) fn is_behind_origin(before: &str) -> bool {
    let named = |scheme: &str| !scheme.contains(['/', '?', '#']);
    let rest = match before.split_once("://") {
        Some((scheme, rest)) if named(scheme) => rest,
        _ => before,
    };
    rest.contains(['/', '?', '#'])
}
