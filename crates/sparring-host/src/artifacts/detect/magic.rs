//! Detects images and sounds by their first bytes.

use super::super::kind::Kind;

/// Maximum bytes before the `<svg` element: a declaration, a document type and comments
/// can precede it.
const MAX_SVG_PROLOG_BYTES: usize = 2048;

/// The kind with these first bytes, if there is one.
pub(in super::super) fn kind_from_magic(bytes: &[u8]) -> Option<Kind> {
    match bytes {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some(Kind::Png),
        [0xff, 0xd8, 0xff, ..] => Some(Kind::Jpeg),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some(Kind::Gif),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some(Kind::Webp),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'A', b'V', b'E', ..] => Some(Kind::Wav),
        [b'O', b'g', b'g', b'S', ..] => Some(Kind::Ogg),
        [b'f', b'L', b'a', b'C', ..] => Some(Kind::Flac),
        [b'I', b'D', b'3', 2..=4, ..] => Some(Kind::Mp3),
        // An MPEG audio frame: eleven set bits, a valid version, layer III, and
        // a valid bit rate and sample rate.
        [0xff, second, third, ..]
            if second & 0xe6 == 0xe2
                && second & 0x18 != 0x08
                && third & 0xf0 != 0xf0
                && third & 0x0c != 0x0c =>
        {
            Some(Kind::Mp3)
        }
        _ => is_svg(bytes).then_some(Kind::Svg),
    }
}

/// Returns true if the bytes can have that kind. Kinds without magic bytes
/// accept all.
pub(in super::super) fn magic_matches(kind: Kind, bytes: &[u8]) -> bool {
    let has_magic = matches!(
        kind,
        Kind::Png
            | Kind::Jpeg
            | Kind::Gif
            | Kind::Webp
            | Kind::Svg
            | Kind::Wav
            | Kind::Mp3
            | Kind::Ogg
            | Kind::Flac
    );
    !has_magic || kind_from_magic(bytes) == Some(kind)
}

fn is_svg(bytes: &[u8]) -> bool {
    let start = String::from_utf8_lossy(&bytes[..bytes.len().min(MAX_SVG_PROLOG_BYTES)]);
    let mut rest = start.trim_start_matches('\u{feff}').trim_start();
    // Skips each part that can precede the element.
    loop {
        let end = match rest {
            _ if rest.starts_with("<?") => "?>",
            _ if rest.starts_with("<!--") => "-->",
            _ if rest.starts_with("<!DOCTYPE svg") => ">",
            _ => break,
        };
        let Some((_, after)) = rest.split_once(end) else { return false };
        rest = after.trim_start();
    }
    let after = rest.strip_prefix("<svg");
    after
        .is_some_and(|after| after.starts_with(|c: char| c.is_whitespace() || c == '>' || c == '/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_is_detected_by_its_first_bytes() {
        let cases: [(&[u8], Option<Kind>); 18] = [
            (b"\x89PNG\r\n\x1a\nrest", Some(Kind::Png)),
            (b"\xff\xd8\xff\xe0rest", Some(Kind::Jpeg)),
            (b"GIF89a..", Some(Kind::Gif)),
            (b"RIFF\0\0\0\0WEBPVP8 ", Some(Kind::Webp)),
            (b"RIFF\0\0\0\0WAVEfmt ", Some(Kind::Wav)),
            (b"RIFF\0\0\0\0AVI ", None),
            (b"OggS\0", Some(Kind::Ogg)),
            (b"fLaC\0", Some(Kind::Flac)),
            (b"ID3\x04\0", Some(Kind::Mp3)),
            (b"\xff\xfb\x90\x64", Some(Kind::Mp3)),
            // AAC frames begin alike.
            (b"\xff\xf1\x50\x80", None),
            (b"\xff\xff\xff\xff", None),
            (b"<svg xmlns='x'/>", Some(Kind::Svg)),
            (b"<?xml version='1.0'?>\n<!-- made -->\n<svg>", Some(Kind::Svg)),
            (b"<svgx/>", None),
            (b"<!-- <svg> ", None),
            (b"<html><svg/></html>", None),
            (b"", None),
        ];
        for (bytes, kind) in cases {
            assert_eq!(kind_from_magic(bytes), kind, "{bytes:?}");
        }
    }

    #[test]
    fn a_kind_without_magic_bytes_accepts_all_bytes() {
        assert!(magic_matches(Kind::Bytes, b"anything"));
        assert!(magic_matches(Kind::Gif, b"GIF87a"));
        assert!(!magic_matches(Kind::Gif, b"GIF"));
        assert!(!magic_matches(Kind::Png, b"GIF87a"));
    }
}
