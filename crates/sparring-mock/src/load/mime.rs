//! The MIME types that names of files speak of; a script names any other itself.

use std::path::Path;

use sparring_script::Node;

/// The MIME type that a file's name speaks of.
pub(super) fn mime_type_of(file: &Node) -> Option<String> {
    let ending = Path::new(file.as_str()?).extension()?.to_str()?.to_ascii_lowercase();
    let found = TYPES.binary_search_by_key(&&*ending, |(known, _)| known).ok()?;
    Some(TYPES[found].1.to_owned())
}

/// What names end with, in the order of the alphabet, and what that stands for.
#[rustfmt::skip]
static TYPES: [(&str, &str); 120] = [
    ("3gp", "video/3gpp"),
    ("7z", "application/x-7z-compressed"),
    ("aac", "audio/aac"),
    ("ai", "application/postscript"),
    ("aif", "audio/x-aiff"),
    ("aiff", "audio/x-aiff"),
    ("apng", "image/apng"),
    ("avi", "video/x-msvideo"),
    ("avif", "image/avif"),
    ("bin", "application/octet-stream"),
    ("bmp", "image/bmp"),
    ("bz2", "application/x-bzip2"),
    ("c", "text/plain"),
    ("cjs", "text/javascript"),
    ("conf", "text/plain"),
    ("cpp", "text/plain"),
    ("css", "text/css"),
    ("csv", "text/csv"),
    ("dat", "application/octet-stream"),
    ("doc", "application/msword"),
    ("docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    ("eps", "application/postscript"),
    ("epub", "application/epub+zip"),
    ("exe", "application/octet-stream"),
    ("flac", "audio/flac"),
    ("gif", "image/gif"),
    ("glb", "model/gltf-binary"),
    ("gltf", "model/gltf+json"),
    ("go", "text/plain"),
    ("gz", "application/gzip"),
    ("h", "text/plain"),
    ("heic", "image/heic"),
    ("heif", "image/heif"),
    ("htm", "text/html"),
    ("html", "text/html"),
    ("ico", "image/x-icon"),
    ("ics", "text/calendar"),
    ("ini", "text/plain"),
    ("jar", "application/java-archive"),
    ("java", "text/plain"),
    ("jpeg", "image/jpeg"),
    ("jpg", "image/jpeg"),
    ("js", "text/javascript"),
    ("json", "application/json"),
    ("jsonl", "application/jsonl"),
    ("jsonld", "application/ld+json"),
    ("jxl", "image/jxl"),
    ("kt", "text/plain"),
    ("log", "text/plain"),
    ("m2ts", "video/mp2t"),
    ("m4a", "audio/mp4"),
    ("m4v", "video/mp4"),
    ("map", "application/json"),
    ("markdown", "text/markdown"),
    ("md", "text/markdown"),
    ("mid", "audio/midi"),
    ("midi", "audio/midi"),
    ("mjs", "text/javascript"),
    ("mkv", "video/x-matroska"),
    ("mov", "video/quicktime"),
    ("mp3", "audio/mpeg"),
    ("mp4", "video/mp4"),
    ("mpeg", "video/mpeg"),
    ("mpg", "video/mpeg"),
    ("ndjson", "application/jsonl"),
    ("odp", "application/vnd.oasis.opendocument.presentation"),
    ("ods", "application/vnd.oasis.opendocument.spreadsheet"),
    ("odt", "application/vnd.oasis.opendocument.text"),
    ("oga", "audio/ogg"),
    ("ogg", "audio/ogg"),
    ("ogv", "video/ogg"),
    ("opus", "audio/ogg"),
    ("otf", "font/otf"),
    ("parquet", "application/vnd.apache.parquet"),
    ("pdf", "application/pdf"),
    ("png", "image/png"),
    ("ppt", "application/vnd.ms-powerpoint"),
    ("pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"),
    ("ps", "application/postscript"),
    ("psd", "image/vnd.adobe.photoshop"),
    ("py", "text/plain"),
    ("rar", "application/vnd.rar"),
    ("rb", "text/plain"),
    ("rs", "text/plain"),
    ("rtf", "application/rtf"),
    ("sh", "application/x-sh"),
    ("sql", "application/sql"),
    ("sqlite", "application/vnd.sqlite3"),
    ("stl", "model/stl"),
    ("svg", "image/svg+xml"),
    ("tar", "application/x-tar"),
    ("text", "text/plain"),
    ("tif", "image/tiff"),
    ("tiff", "image/tiff"),
    ("toml", "application/toml"),
    ("ts", "text/plain"),
    ("tsv", "text/tab-separated-values"),
    ("ttf", "font/ttf"),
    ("txt", "text/plain"),
    ("vcf", "text/vcard"),
    ("vtt", "text/vtt"),
    ("wasm", "application/wasm"),
    ("wav", "audio/wav"),
    ("weba", "audio/webm"),
    ("webm", "video/webm"),
    ("webmanifest", "application/manifest+json"),
    ("webp", "image/webp"),
    ("woff", "font/woff"),
    ("woff2", "font/woff2"),
    ("xhtml", "application/xhtml+xml"),
    ("xls", "application/vnd.ms-excel"),
    ("xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    ("xml", "application/xml"),
    ("xsd", "application/xml"),
    ("xsl", "application/xml"),
    ("xz", "application/x-xz"),
    ("yaml", "application/yaml"),
    ("yml", "application/yaml"),
    ("zip", "application/zip"),
    ("zst", "application/zstd"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_can_be_searched() {
        assert!(TYPES.is_sorted_by(|(one, _), (other, _)| one < other));
    }

    #[test]
    fn the_end_of_a_name_says_what_it_is() {
        let of = |name: &str| mime_type_of(&Node::from((Default::default(), name.into())));
        assert_eq!(of("a/logo.v2.PNG").as_deref(), Some("image/png"));
        assert_eq!(of("table.csv").as_deref(), Some("text/csv"));
        assert_eq!(of("README").or(of("x.unheard")).or(of("")), None);
    }
}
