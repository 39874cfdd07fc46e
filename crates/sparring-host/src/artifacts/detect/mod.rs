//! Detects the kind of a text or of bytes by their contents.
//!
//! An ambiguous text is plain text: a wrong kind is worse than none.

mod csv;
mod magic;
mod markdown;
mod yaml;

use sparring_wire::RawJson;

use super::kind::Kind;

pub(super) use magic::{kind_from_magic, magic_matches};

/// Detects the kind of a text.
pub(super) fn detect_text(text: &str) -> Kind {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).trim();
    match text {
        _ if is_json(text) => Kind::Json,
        _ if kind_from_magic(text.as_bytes()) == Some(Kind::Svg) => Kind::Svg,
        _ if csv::is_table(text) => Kind::Csv,
        _ if yaml::is_collection(text) => Kind::Yaml,
        _ if markdown::is_markdown(text) => Kind::Markdown,
        _ => Kind::Text,
    }
}

/// Detects the kind of bytes.
pub(super) fn detect_bytes(bytes: &[u8]) -> Kind {
    match (kind_from_magic(bytes), std::str::from_utf8(bytes)) {
        (Some(kind), _) => kind,
        (None, Ok(text)) if !text.contains('\0') => detect_text(text),
        _ => Kind::Bytes,
    }
}

/// A number or a word alone is valid JSON, but is not meant as such.
fn is_json(text: &str) -> bool {
    text.starts_with(['{', '[']) && RawJson::parse(text).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(kind: Kind, texts: &[&str]) {
        for text in texts {
            assert_eq!(detect_text(text), kind, "{text:?}");
        }
    }

    #[test]
    fn json_is_a_valid_object_or_array() {
        check(Kind::Json, &[r#"{"a": 1}"#, " [1, 2]\n", "{}", "\u{feff}[]"]);
        check(Kind::Text, &["42", "\"quoted\"", "true", "null", "{not json}", "[1, 2", "{} {}"]);
    }

    #[test]
    fn a_table_has_equally_many_cells_in_several_rows() {
        check(
            Kind::Csv,
            &[
                "name,age\nAnn,3",
                "name;age\r\nAnn;3\r\nBob;4\r\n",
                "a\tb\n1\t2",
                "id,text\n1,\"a, b\"\n2,\"two\nlines, \"\"quoted\"\"\"",
                "1,2,3\n4,5,6",
                "city, population\nLondon, 8900000",
                "\"full name\",x\nAnn,",
            ],
        );
    }

    #[test]
    fn prose_code_and_logs_are_no_table() {
        check(
            Kind::Text,
            &[
                "name,age",
                "one\ntwo\nthree",
                "Hello, world.\nGoodbye, world.",
                "Dear Ann,\nsee you,",
                "First we go, then we stay\nThen we eat, and drink",
                "a,b\n1,2,3",
                "call(a,b);\ncall(c,d);",
                "let x = [1,2]\nlet y = [3,4]",
                "2024-01-01 10:00:00,123 INFO up\n2024-01-01 10:00:01,456 INFO down",
                "a,a\n1,2",
                "<a,b>\n<c,d>",
                "id,text\n1,\"never closed",
                "",
            ],
        );
    }

    #[test]
    fn yaml_is_a_mapping_or_a_list_of_collections() {
        check(
            Kind::Yaml,
            &[
                "name: spar\nversion: 1",
                "---\nname: spar",
                "# what it is\nservers:\n  a:\n    command: x\n",
                "- name: a\n  size: 1\n- name: b\n  size: 2",
                "list:\n  - a\n  - b",
                "\"quoted key\": 1\nother: 2",
                "name: x\ndescription: A thing that does this and that.",
            ],
        );
    }

    #[test]
    fn prose_and_lists_of_words_are_no_yaml() {
        check(
            Kind::Text,
            &[
                "name: spar",
                "Note: this is one line",
                "Note: this is what happened to the file.\nHint: try it again with another name.",
                "The following was found: nothing\nAnd then: nothing else",
                "error: the server did not answer\nnote: it was asked three times",
                "- milk\n- eggs",
                "error: a: b: c\n  at x",
                "http://example.com\nhttps://example.com",
                "12:30\n13:45",
            ],
        );
    }

    #[test]
    fn markdown_is_detected_by_its_structure() {
        check(
            Kind::Markdown,
            &[
                "# Title\n\nSome prose.",
                "Some prose.\n\n```rust\nfn main() {}\n```\n",
                "| a | b |\n|---|:-:|\n| 1 | 2 |",
                "# One\ntext\n## Two\ntext",
                "Things:\n\n- **bold** one\n- two",
                "> quoted\n\nSee [the page](https://example.com).",
                "History\n=======\n\n* one\n* two",
            ],
        );
        check(
            Kind::Text,
            &[
                "just words",
                "#!/bin/sh\necho hi",
                "# a comment\nmake all",
                "#hashtag\n\nnothing",
                "a * b * c\nd - e",
                "- one thing only",
                "see [1] and (2)",
                "```\nnever closed",
            ],
        );
    }

    #[test]
    fn bytes_are_detected_by_their_first_bytes_or_as_text() {
        assert_eq!(detect_bytes(b"\x89PNG\r\n\x1a\n...."), Kind::Png);
        assert_eq!(detect_bytes(b"a,b\n1,2"), Kind::Csv);
        assert_eq!(detect_bytes(b"\0\x01\x02"), Kind::Bytes);
        assert_eq!(detect_bytes(b"text\0"), Kind::Bytes);
        assert_eq!(detect_bytes(&[0xff, 0xfe, 0x41]), Kind::Bytes);
        assert_eq!(detect_bytes(b""), Kind::Text);
    }
}
