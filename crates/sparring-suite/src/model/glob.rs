//! File patterns: `*` within a folder, `**` across folders, `?`, `[a-z]`, `{a,b}`.

use std::borrow::Cow;
use std::path::Path;

use globset::{GlobBuilder, GlobSet, escape};

/// A file pattern.
#[derive(Debug)]
pub(crate) struct Glob {
    // A set with one glob does not panic if the pattern is too large; a single matcher does.
    set: GlobSet,
    ascii: bool,
}

impl Glob {
    /// Parses a pattern.
    ///
    /// # Errors
    /// When the pattern is invalid.
    pub(crate) fn new(text: &str) -> Result<Glob, String> {
        if has_wide_class(text) {
            return Err("[…] takes only ASCII characters; write {ä,ö} in place of [äö]".to_owned());
        }
        let message = |error: globset::Error| error.kind().to_string();
        let mut builder = GlobBuilder::new(text);
        let glob =
            builder.literal_separator(true).empty_alternates(true).build().map_err(message)?;
        let set = GlobSet::new([glob]).map_err(message)?;
        Ok(Glob { set, ascii: text.is_ascii() })
    }

    /// Parses a pattern below a folder, whose path is literal.
    ///
    /// # Errors
    /// When the pattern is invalid.
    pub(crate) fn below(folder: &Path, text: &str) -> Result<Glob, String> {
        let folder = escape(&folder.to_string_lossy());
        Glob::new(&Path::new(&folder).join(text).to_string_lossy())
    }

    /// Returns true if the whole path matches.
    pub(crate) fn is_match(&self, path: &Path) -> bool {
        self.set.is_match(&*self.subject(path))
    }

    /// The path to match. In `globset` a `?` matches one byte, so each non-ASCII character
    /// becomes one byte that only `*`, `?` and `[!…]` match, unless the pattern has such
    /// characters itself.
    fn subject<'p>(&self, path: &'p Path) -> Cow<'p, str> {
        let path = path.to_string_lossy();
        match self.ascii && !path.is_ascii() {
            true => path.replace(|c: char| !c.is_ascii(), "\u{1a}").into(),
            false => path,
        }
    }
}

/// Returns true if a class has a non-ASCII character, which `globset` treats as several
/// characters.
fn has_wide_class(text: &str) -> bool {
    let opened = text.match_indices('[').filter(|(at, _)| !text[..*at].ends_with('\\'));
    let mut classes = opened.filter_map(|(at, _)| text[at..].split(']').next());
    classes.any(|class| !class.is_ascii())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_paths() {
        for (glob, fits, others) in [
            ("a.txt", &["a.txt"][..], &["b/a.txt", "aXtxt", "a.txt2"][..]),
            ("*.png", &["a.png", ".png"], &["a/b.png", "a.PNG"]),
            ("**/*.png", &["a.png", "a/b.png", "a/b/c.png", "/a.png"], &["a.txt"]),
            ("src/**/*.py", &["src/a.py", "src/b/c/a.py"], &["src2/a.py", "a.py"]),
            ("out/**", &["out/a", "out/a/b"], &["out", "output/a"]),
            ("**", &["a", "a/b"], &[]),
            ("a**b", &["ab", "acb"], &["a/b"]),
            ("a?c", &["abc", "a\u{e9}c"], &["ac", "a/c"]),
            ("[!a]b", &["cb", "\u{e9}b"], &["ab"]),
            ("\u{fc}*.{md,\u{e9}}", &["\u{fc}b.md", "\u{fc}.\u{e9}"], &["u.md"]),
            ("[a-c]x[!0-9]", &["bxy"], &["dxy", "bx1"]),
            ("[]a-]", &["]", "a", "-"], &["b"]),
            ("{a,b/**,{c,d}*}.{md,txt}", &["a.md", "cx.txt", "b/c/d.md"], &["e.md", "a.rs"]),
            ("a{,.bak}", &["a", "a.bak"], &["b"]),
            (r"\*\{a", &["*{a"], &["x{a"]),
            ("\\[\u{e9}]", &["[\u{e9}]"], &["\u{e9}"]),
            (r"a,b\}", &["a,b}"], &["a"]),
            ("(a|b)+.$", &["(a|b)+.$"], &["a.$"]),
        ] {
            let read = Glob::new(glob).unwrap_or_else(|why| panic!("{glob}: {why}"));
            for path in fits {
                assert!(read.is_match(Path::new(path)), "{glob} {path}");
            }
            for path in others {
                assert!(!read.is_match(Path::new(path)), "{glob} {path}");
            }
        }
    }

    #[test]
    fn takes_the_name_of_a_folder_literally() {
        let read = Glob::below(Path::new("/{a}/[b]*"), "c?.txt").unwrap();
        assert!(read.is_match(Path::new("/{a}/[b]*/cd.txt")));
        assert!(!read.is_match(Path::new("/a/b/cd.txt")));
        assert!(Glob::below(Path::new(""), "*.txt").unwrap().is_match(Path::new("a.txt")));
        assert!(Glob::below(Path::new("a"), "/b/*").unwrap().is_match(Path::new("/b/c")));
    }

    #[test]
    fn refuses_wrong_patterns() {
        let nested = "{".repeat(300) + &"}".repeat(300);
        for (glob, expected) in [
            ("[a", "unclosed character class"),
            ("[]", "unclosed character class"),
            ("{a,b", "unclosed alternate group"),
            ("a,b}", "unopened alternate group"),
            ("a\\", "dangling '\\'"),
            ("[z-a]", "invalid range; 'z' > 'a'"),
            ("[a\u{e9}]", "[…] takes only ASCII characters"),
            (&*nested, "error parsing pattern"),
        ] {
            let message = Glob::new(glob).unwrap_err();
            assert!(message.starts_with(expected), "{glob}: {message}");
        }
    }
}
