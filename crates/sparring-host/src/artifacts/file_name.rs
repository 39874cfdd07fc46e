//! Derives safe file names from names and URIs of servers.
//!
//! A name has only ASCII letters, digits, `_` and `-` before its extension, so
//! it cannot contain a path, be hidden or look like something else. The
//! metadata contains the original name.

/// The maximum number of bytes before the extension.
const MAX_STEM_BYTES: usize = 80;

/// Names of devices on Windows, with any extension.
const DEVICES: [&str; 6] = ["con", "prn", "aux", "nul", "conin", "conout"];

/// A file name without its extension. A `numbered` one always gets a number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FileStem {
    text: String,
    numbered: bool,
}

impl FileStem {
    /// From a name that the server gave. It gets a number only if the name is
    /// taken. `None` if no character of the name is usable.
    pub(super) fn from_name(name: &str) -> Option<FileStem> {
        Some(FileStem { text: sanitize_stem(name)?, numbered: false })
    }

    /// From the tool's name, for a piece without a name.
    pub(super) fn from_tool(tool: &str) -> FileStem {
        FileStem {
            text: sanitize_stem(tool).unwrap_or_else(|| "artifact".to_owned()),
            numbered: true,
        }
    }

    /// From the last usable segment of a resource's URI.
    pub(super) fn from_uri(uri: &str) -> Option<FileStem> {
        let path = uri.split(['?', '#']).next().unwrap_or_default();
        let path = path.split_once("://").map_or(path, |(_, path)| path);
        let last = path.split(['/', '\\', ':']).rev().find(|part| sanitize_stem(part).is_some())?;
        FileStem::from_name(last)
    }

    /// All candidates, the best one first.
    pub(super) fn candidates(&self) -> impl Iterator<Item = String> {
        let first = (!self.numbered).then(|| self.text.clone());
        let from = if self.numbered { 1 } else { 2 };
        first.into_iter().chain((from..).map(|number: u32| format!("{}-{number}", self.text)))
    }
}

/// Returns true if a name without extension, in lower case, is a device's.
fn is_device(name: &str) -> bool {
    let numbered = |prefix| {
        let digits = name.strip_prefix(prefix).map(str::as_bytes);
        matches!(digits, Some([digit]) if digit.is_ascii_digit())
    };
    DEVICES.contains(&name) || numbered("com") || numbered("lpt")
}

fn sanitize_stem(name: &str) -> Option<String> {
    // The extension of a known type is added again from the kind.
    let name = match name.rsplit_once('.') {
        Some((stem, extension)) if is_known_extension(extension) => stem,
        _ => name,
    };
    let mut safe = String::new();
    for c in name.chars() {
        match c {
            c if c.is_ascii_alphanumeric() || c == '-' => safe.push(c),
            _ if safe.ends_with('_') => {}
            _ => safe.push('_'),
        }
        if safe.len() == MAX_STEM_BYTES {
            break;
        }
    }
    let safe = safe.trim_matches(['_', '-']);
    if is_device(&safe.to_ascii_lowercase()) {
        return Some(format!("{safe}_"));
    }
    (!safe.is_empty()).then(|| safe.to_owned())
}

fn is_known_extension(extension: &str) -> bool {
    const KNOWN: [&str; 18] = [
        "json", "yaml", "yml", "csv", "tsv", "md", "markdown", "txt", "png", "jpg", "jpeg", "gif",
        "webp", "svg", "wav", "mp3", "ogg", "flac",
    ];
    KNOWN.iter().any(|known| known.eq_ignore_ascii_case(extension))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn first(stem: Option<FileStem>) -> Option<String> {
        stem.and_then(|stem| stem.candidates().next())
    }

    #[test]
    fn a_name_never_contains_a_path() {
        for (name, expected) in [
            ("report.json", Some("report")),
            ("report.v2.CSV", Some("report_v2")),
            ("../../etc/passwd", Some("etc_passwd")),
            ("/etc/passwd", Some("etc_passwd")),
            (r"C:\Windows\system32", Some("C_Windows_system32")),
            ("..", None),
            ("", None),
            ("日本語", None),
            ("a\0b\nc\u{202e}gnp.exe", Some("a_b_c_gnp_exe")),
            (".bashrc", Some("bashrc")),
            ("x.json.meta.json", Some("x_json_meta")),
            ("name. . ", Some("name")),
            ("caf\u{e9}", Some("caf")),
            ("cafe\u{301}", Some("cafe")),
            ("NUL", Some("NUL_")),
            ("con.txt", Some("con_")),
            ("Com7", Some("Com7_")),
            ("conin$", Some("conin_")),
            ("common", Some("common")),
            ("~/x", Some("x")),
            ("-rf", Some("rf")),
        ] {
            assert_eq!(first(FileStem::from_name(name)).as_deref(), expected, "{name:?}");
        }
    }

    #[test]
    fn a_resource_is_named_after_the_end_of_its_uri() {
        for (uri, expected) in [
            ("file:///srv/ann/report.csv", Some("report")),
            ("https://example.com/a/b.png?size=../../x#y", Some("b")),
            ("https://example.com/", Some("example_com")),
            ("file:///..", None),
            ("file:///a/..", Some("a")),
            ("test:static", Some("static")),
            ("urn:isbn:123", Some("123")),
            ("x://a/%2e%2e%2fb", Some("2e_2e_2fb")),
            ("", None),
        ] {
            assert_eq!(first(FileStem::from_uri(uri)).as_deref(), expected, "{uri:?}");
        }
    }

    #[test]
    fn a_name_gets_a_number_if_it_is_taken_and_a_tool_always() {
        let named =
            FileStem::from_name("a").map(|stem| stem.candidates().take(3).collect::<Vec<_>>());
        assert_eq!(named.as_deref(), Some(&["a", "a-2", "a-3"].map(str::to_owned)[..]));
        let tool: Vec<_> = FileStem::from_tool("get data").candidates().take(2).collect();
        assert_eq!(tool, ["get_data-1", "get_data-2"]);
        assert_eq!(first(Some(FileStem::from_tool("\u{202e}"))).as_deref(), Some("artifact-1"));
    }

    proptest! {
        #[test]
       fn every_name_is_short_and_safe(
            name in "(\\PC|[./\\\\\u{0}\u{7f}\u{202e}:*?\"<>| ]|con|nul|\\.\\.){0,200}",
            number in 0usize..3,
        ) {
            let stems = [FileStem::from_name(&name), FileStem::from_uri(&name), Some(FileStem::from_tool(&name))];
            for stem in stems.into_iter().flatten() {
                let name = stem.candidates().nth(number).expect("there is no end of them");
                prop_assert!(!name.is_empty() && name.len() <= MAX_STEM_BYTES + 3);
                let harmless = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
                prop_assert!(name.chars().all(harmless), "{name}");
                prop_assert!(!name.starts_with(['-', '.', '_']) && !name.ends_with('.'));
                prop_assert!(!is_device(&name.to_ascii_lowercase()), "{name}");
            }
        }
    }
}
