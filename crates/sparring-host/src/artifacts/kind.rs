//! The kinds of artifacts, each with its MIME types and file extension.

/// The kind of an artifact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// A JSON value.
    Json,
    /// A mapping or a list in YAML.
    Yaml,
    /// A table with commas, semicolons or tabs between its cells.
    Csv,
    /// Markdown.
    Markdown,
    /// Any other text.
    Text,
    /// An image.
    Png,
    /// An image.
    Jpeg,
    /// An image.
    Gif,
    /// An image.
    Webp,
    /// An image in text form.
    Svg,
    /// A sound.
    Wav,
    /// A sound.
    Mp3,
    /// A sound.
    Ogg,
    /// A sound.
    Flac,
    /// A link to a resource: the item as JSON.
    Link,
    /// Any other bytes.
    Bytes,
}

/// Each kind with its name, its extension and its MIME types. The first MIME
/// type is the one that is written.
const KINDS: [(Kind, &str, &str, &[&str]); 16] = [
    (Kind::Json, "json", "json", &["application/json", "text/json"]),
    (
        Kind::Yaml,
        "yaml",
        "yaml",
        &["application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml"],
    ),
    (Kind::Csv, "csv", "csv", &["text/csv", "application/csv", "text/tab-separated-values"]),
    (Kind::Markdown, "markdown", "md", &["text/markdown", "text/x-markdown"]),
    (Kind::Text, "text", "txt", &["text/plain"]),
    (Kind::Png, "png", "png", &["image/png"]),
    (Kind::Jpeg, "jpeg", "jpg", &["image/jpeg", "image/jpg"]),
    (Kind::Gif, "gif", "gif", &["image/gif"]),
    (Kind::Webp, "webp", "webp", &["image/webp"]),
    (Kind::Svg, "svg", "svg", &["image/svg+xml"]),
    (Kind::Wav, "wav", "wav", &["audio/wav", "audio/x-wav", "audio/wave", "audio/vnd.wave"]),
    (Kind::Mp3, "mp3", "mp3", &["audio/mpeg", "audio/mp3"]),
    (Kind::Ogg, "ogg", "ogg", &["audio/ogg", "application/ogg", "audio/opus"]),
    (Kind::Flac, "flac", "flac", &["audio/flac", "audio/x-flac"]),
    (Kind::Link, "link", "link.json", &["application/json"]),
    (Kind::Bytes, "bytes", "bin", &["application/octet-stream"]),
];

impl Kind {
    /// A stable name, for programs and people.
    pub fn name(self) -> &'static str {
        self.row().1
    }

    /// The extension of its files, without the leading dot.
    pub fn extension(self) -> &'static str {
        self.row().2
    }

    /// Its MIME type.
    pub fn mime_type(self) -> &'static str {
        self.row().3[0]
    }

    /// Returns true if its bytes are text.
    pub fn is_text(self) -> bool {
        matches!(
            self,
            Kind::Json
                | Kind::Yaml
                | Kind::Csv
                | Kind::Markdown
                | Kind::Text
                | Kind::Svg
                | Kind::Link
        )
    }

    /// The kind of a MIME type, without its parameters. Unknown text types are
    /// text; everything else is bytes.
    pub fn from_mime_type(mime_type: &str) -> Kind {
        let essence = mime_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        let listed = KINDS.iter().find(|row| row.3.contains(&essence.as_str()));
        match listed {
            Some(row) => row.0,
            None if essence.ends_with("+json") => Kind::Json,
            None if essence.ends_with("+yaml") => Kind::Yaml,
            None if essence.starts_with("text/") || essence.ends_with("+xml") => Kind::Text,
            None => Kind::Bytes,
        }
    }

    fn row(self) -> &'static (Kind, &'static str, &'static str, &'static [&'static str]) {
        KINDS.iter().find(|row| row.0 == self).expect("every kind has a row")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_mime_type_has_its_kind() {
        for (kind, _, extension, mime_types) in KINDS {
            assert!(!extension.is_empty() && extension != "meta.json");
            for mime_type in mime_types {
                // The item's type determines a link.
                let expected = if kind == Kind::Link { Kind::Json } else { kind };
                assert_eq!(Kind::from_mime_type(mime_type), expected, "{mime_type}");
            }
        }
    }

    #[test]
    fn parameters_case_and_suffixes_are_understood() {
        for (mime_type, kind) in [
            ("Text/CSV; charset=utf-8", Kind::Csv),
            ("application/geo+json", Kind::Json),
            ("application/openapi+yaml", Kind::Yaml),
            ("text/html", Kind::Text),
            ("application/atom+xml", Kind::Text),
            ("application/pdf", Kind::Bytes),
            ("", Kind::Bytes),
        ] {
            assert_eq!(Kind::from_mime_type(mime_type), kind, "{mime_type}");
        }
    }
}
