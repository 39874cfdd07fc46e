//! Decodes JSON strings: resolves escapes and replaces invalid UTF-8.

use std::borrow::Cow;

/// Returns bytes as text, with invalid UTF-8 replaced. Most text is valid, and
/// `from_utf8` recognizes that faster than `from_utf8_lossy`.
pub(super) fn to_text(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(bytes),
    }
}

/// Resolves the escapes of a string's inner bytes. A lone surrogate and invalid UTF-8
/// become U+FFFD.
pub(super) fn unescape(inner: &[u8], escapes: bool) -> Cow<'_, str> {
    if !escapes {
        return to_text(inner);
    }
    let mut out = Vec::with_capacity(inner.len());
    let mut rest = inner;
    while let Some((&byte, tail)) = rest.split_first() {
        rest = tail;
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        let Some((&letter, tail)) = rest.split_first() else {
            break;
        };
        rest = tail;
        let plain = match letter {
            b'b' => 8,
            b'f' => 12,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'u' => {
                let character = parse_code_point(&mut rest);
                out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                continue;
            }
            other => other,
        };
        out.push(plain);
    }
    match String::from_utf8(out) {
        Ok(text) => Cow::Owned(text),
        Err(error) => Cow::Owned(String::from_utf8_lossy(error.as_bytes()).into_owned()),
    }
}

/// Parses the hex digits after `\u`, and a second escape if the first is a high
/// surrogate.
fn parse_code_point(rest: &mut &[u8]) -> char {
    let Some(high) = parse_hex4(rest) else {
        return char::REPLACEMENT_CHARACTER;
    };
    *rest = &rest[4..];
    if let Some(character) = char::from_u32(high) {
        return character;
    }
    if (0xD800..0xDC00).contains(&high)
        && rest.starts_with(b"\\u")
        && let Some(low) = parse_hex4(&rest[2..])
        && (0xDC00..0xE000).contains(&low)
    {
        *rest = &rest[6..];
        let joined = 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
        return char::from_u32(joined).unwrap_or(char::REPLACEMENT_CHARACTER);
    }
    char::REPLACEMENT_CHARACTER
}

fn parse_hex4(bytes: &[u8]) -> Option<u32> {
    let digits = std::str::from_utf8(bytes.get(..4)?).ok()?;
    u32::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use crate::json::Json;

    #[test]
    fn resolves_escapes_as_serde_json_does() {
        for text in [r#""a\"\\\/\b\f\n\r\t""#, r#""\u00e9\ud83d\ude00z""#, r#""plain é""#] {
            let expected: String = serde_json::from_str(text).unwrap();
            assert_eq!(Json::trusted(text.as_bytes()).as_str().unwrap(), expected);
        }
        assert_eq!(Json::trusted(br#""\ud83dx""#).as_str().unwrap(), "\u{fffd}x");
        assert!(Json::trusted(br#"{"\u006eame":1}"#).get("name").is_some());
    }
}
