//! Names of files, out of whatever a server calls its things.
//!
//! A name has ASCII letters, digits, `_` and `-` before its extension, so there
//! is nothing in it that leads elsewhere, hides, or looks like something else;
//! what a server said stands in the metadata.

/// The longest name before the extension.
const LONGEST: usize = 80;

/// Names that mean devices on Windows, whatever extension follows.
const DEVICES: [&str; 6] = ["con", "prn", "aux", "nul", "conin", "conout"];

/// A name before its extension, and whether there may be one without a number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stem {
    text: String,
    numbered: bool,
}

impl Stem {
    /// For something that its server has a name for; the number comes when the
    /// name is taken. None where nothing of the name can be kept.
    pub(super) fn named(name: &str) -> Option<Stem> {
        Some(Stem { text: safe(name)?, numbered: false })
    }

    /// For something without a name, after the tool that gave it.
    pub(super) fn of_tool(tool: &str) -> Stem {
        Stem { text: safe(tool).unwrap_or_else(|| "artifact".to_owned()), numbered: true }
    }

    /// For a resource, after the last part of its URI that says something.
    pub(super) fn of_uri(uri: &str) -> Option<Stem> {
        let path = uri.split(['?', '#']).next().unwrap_or_default();
        let path = path.split_once("://").map_or(path, |(_, path)| path);
        let last = path.split(['/', '\\', ':']).rev().find(|part| safe(part).is_some())?;
        Stem::named(last)
    }

    /// All names that it may get, the best first.
    pub(super) fn candidates(&self) -> impl Iterator<Item = String> {
        let first = (!self.numbered).then(|| self.text.clone());
        let from = if self.numbered { 1 } else { 2 };
        first.into_iter().chain((from..).map(|number: u32| format!("{}-{number}", self.text)))
    }
}

/// Whether a name before its extension, in lower case, is a device's.
fn is_device(name: &str) -> bool {
    let numbered = |prefix| {
        let digits = name.strip_prefix(prefix).map(str::as_bytes);
        matches!(digits, Some([digit]) if digit.is_ascii_digit())
    };
    DEVICES.contains(&name) || numbered("com") || numbered("lpt")
}

fn safe(name: &str) -> Option<String> {
    // A known extension says what stands in the metadata and comes again.
    let name = match name.rsplit_once('.') {
        Some((stem, extension)) if is_known(extension) => stem,
        _ => name,
    };
    let mut safe = String::new();
    for c in name.chars() {
        match c {
            c if c.is_ascii_alphanumeric() || c == '-' => safe.push(c),
            _ if safe.ends_with('_') => {}
            _ => safe.push('_'),
        }
        if safe.len() == LONGEST {
            break;
        }
    }
    let safe = safe.trim_matches(['_', '-']);
    if is_device(&safe.to_ascii_lowercase()) {
        return Some(format!("{safe}_"));
    }
    (!safe.is_empty()).then(|| safe.to_owned())
}

fn is_known(extension: &str) -> bool {
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

    fn first(stem: Option<Stem>) -> Option<String> {
        stem.and_then(|stem| stem.candidates().next())
    }

    #[test]
    fn nothing_of_a_name_leads_elsewhere() {
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
            assert_eq!(first(Stem::named(name)).as_deref(), expected, "{name:?}");
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
            assert_eq!(first(Stem::of_uri(uri)).as_deref(), expected, "{uri:?}");
        }
    }

    #[test]
    fn a_name_gets_a_number_when_it_is_taken_and_a_tool_always() {
        let named = Stem::named("a").map(|stem| stem.candidates().take(3).collect::<Vec<_>>());
        assert_eq!(named.as_deref(), Some(&["a", "a-2", "a-3"].map(str::to_owned)[..]));
        let tool: Vec<_> = Stem::of_tool("get data").candidates().take(2).collect();
        assert_eq!(tool, ["get_data-1", "get_data-2"]);
        assert_eq!(first(Some(Stem::of_tool("\u{202e}"))).as_deref(), Some("artifact-1"));
    }

    proptest! {
        #[test]
        fn whatever_a_server_says_a_name_is_short_and_harmless(
            name in "(\\PC|[./\\\\\u{0}\u{7f}\u{202e}:*?\"<>| ]|con|nul|\\.\\.){0,200}",
            number in 0usize..3,
        ) {
            let stems = [Stem::named(&name), Stem::of_uri(&name), Some(Stem::of_tool(&name))];
            for stem in stems.into_iter().flatten() {
                let name = stem.candidates().nth(number).expect("there is no end of them");
                prop_assert!(!name.is_empty() && name.len() <= LONGEST + 3);
                let harmless = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
                prop_assert!(name.chars().all(harmless), "{name}");
                prop_assert!(!name.starts_with(['-', '.', '_']) && !name.ends_with('.'));
                prop_assert!(!is_device(&name.to_ascii_lowercase()), "{name}");
            }
        }
    }
}
