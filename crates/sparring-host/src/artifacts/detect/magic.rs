//! Images and sounds by the bytes that they begin with.

use super::super::kind::Kind;

/// How far into a text an SVG's element is looked for: a declaration, a
/// document type and comments may stand before it.
const PROLOG: usize = 2048;

/// The kind that begins like this, where one does.
pub(in super::super) fn by_magic(bytes: &[u8]) -> Option<Kind> {
    match bytes {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some(Kind::Png),
        [0xff, 0xd8, 0xff, ..] => Some(Kind::Jpeg),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some(Kind::Gif),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some(Kind::Webp),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'A', b'V', b'E', ..] => Some(Kind::Wav),
        [b'O', b'g', b'g', b'S', ..] => Some(Kind::Ogg),
        [b'f', b'L', b'a', b'C', ..] => Some(Kind::Flac),
        [b'I', b'D', b'3', 2..=4, ..] => Some(Kind::Mp3),
        // A frame of MPEG audio: eleven set bits, a version that there is, layer
        // III, a bit rate and a sample rate that there are.
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

/// Whether these bytes may be of that kind; of a kind without signs they may.
pub(in super::super) fn begins_like(kind: Kind, bytes: &[u8]) -> bool {
    let has_signs = matches!(
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
    !has_signs || by_magic(bytes) == Some(kind)
}

fn is_svg(bytes: &[u8]) -> bool {
    let start = String::from_utf8_lossy(&bytes[..bytes.len().min(PROLOG)]);
    let mut rest = start.trim_start_matches('\u{feff}').trim_start();
    // What may stand before the element, each with what ends it.
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
    fn each_kind_is_known_by_its_beginning() {
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
            // AAC, whose frames begin alike.
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
            assert_eq!(by_magic(bytes), kind, "{bytes:?}");
        }
    }

    #[test]
    fn what_has_no_signs_begins_in_any_way() {
        assert!(begins_like(Kind::Bytes, b"anything"));
        assert!(begins_like(Kind::Gif, b"GIF87a"));
        assert!(!begins_like(Kind::Gif, b"GIF"));
        assert!(!begins_like(Kind::Png, b"GIF87a"));
    }
}
