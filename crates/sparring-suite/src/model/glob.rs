//! Patterns of files: `*` within a folder, `**` across folders, `?`, `[a-z]`,
//! `{a,b}`.

use std::borrow::Cow;
use std::path::{MAIN_SEPARATOR, MAIN_SEPARATOR_STR, Path};

use regex::{Regex, escape};

/// A pattern of files.
#[derive(Debug)]
pub(crate) struct Glob(Regex);

impl Glob {
    /// Reads a pattern.
    ///
    /// # Errors
    /// When it is none; the error says why.
    pub(crate) fn new(text: &str) -> Result<Glob, String> {
        Regex::new(&translate(&slashes(text.into()))?).map(Glob).map_err(|why| why.to_string())
    }

    /// Whether the whole of a path fits.
    pub(crate) fn is_match(&self, path: &Path) -> bool {
        self.0.is_match(&slashes(path.to_string_lossy()))
    }
}

/// A path in the one way in which patterns have it.
fn slashes(path: Cow<'_, str>) -> Cow<'_, str> {
    match MAIN_SEPARATOR {
        '/' => path,
        _ => path.replace(MAIN_SEPARATOR_STR, "/").into(),
    }
}

/// The same as a regular expression.
fn translate(glob: &str) -> Result<String, String> {
    let (mut out, mut depth) = ("(?s)^".to_owned(), 0);
    let (mut rest, mut starts) = (glob, true);
    while let Some(next) = rest.chars().next() {
        let folders = rest.strip_prefix("**").filter(|_| starts);
        let ends = |after: &str| {
            after.is_empty() || depth > 0 && (after.starts_with(',') || after.starts_with('}'))
        };
        if let Some(after) = folders.and_then(|after| after.strip_prefix('/')) {
            out += "(?:.*/)?";
            rest = after;
            continue;
        } else if let Some(after) = folders.filter(|after| ends(after)) {
            out += ".*";
            rest = after;
            continue;
        }
        rest = &rest[next.len_utf8()..];
        starts = next == '/' || next == '{' || next == ',' && depth > 0;
        match next {
            '*' => out += "[^/]*",
            '?' => out += "[^/]",
            '[' => rest = class(rest, &mut out)?,
            '{' => {
                depth += 1;
                out += "(?:";
            }
            '}' if depth > 0 => {
                depth -= 1;
                out.push(')');
            }
            ',' if depth > 0 => out.push('|'),
            '\\' => match rest.chars().next() {
                Some(literal) => {
                    out += &escape(&literal.to_string());
                    rest = &rest[literal.len_utf8()..];
                }
                None => return Err("a backslash is the last of it".to_owned()),
            },
            other => out += &escape(&other.to_string()),
        }
    }
    if depth > 0 {
        return Err("a brace is not closed".to_owned());
    }
    Ok(out + "$")
}

/// Translates what follows a `[`, and says what follows the class. A `]` that is the
/// first in it, and a dash that is no range's, stand for themselves.
fn class<'a>(text: &'a str, out: &mut String) -> Result<&'a str, String> {
    let negated = text.strip_prefix(['!', '^']);
    let inside = negated.unwrap_or(text);
    let end = inside.char_indices().skip(1).find(|(_, it)| *it == ']');
    let Some((end, _)) = end else { return Err("a class is not closed".to_owned()) };
    let (inside, after) = (&inside[..end], &inside[end + 1..]);
    out.push_str(if negated.is_some() { "[^" } else { "[" });
    let last = inside.chars().count() - 1;
    for (index, character) in inside.chars().enumerate() {
        match character {
            '-' if index > 0 && index < last => out.push('-'),
            other => *out += &escape(&other.to_string()),
        }
    }
    out.push(']');
    Ok(after)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_fit_or_do_not() {
        for (glob, fits, others) in [
            ("a.txt", &["a.txt"][..], &["b/a.txt", "aXtxt", "a.txt2"][..]),
            ("*.png", &["a.png", ".png"], &["a/b.png", "a.PNG"]),
            ("**/*.png", &["a.png", "a/b.png", "a/b/c.png", "/a.png"], &["a.txt"]),
            ("src/**/*.py", &["src/a.py", "src/b/c/a.py"], &["src2/a.py", "a.py"]),
            ("out/**", &["out/a", "out/a/b"], &["out", "output/a"]),
            ("**", &["a", "a/b"], &[]),
            ("a**b", &["ab", "acb"], &["a/b"]),
            ("a?c", &["abc", "a\u{e9}c"], &["ac", "a/c"]),
            ("[a-c]x[!0-9]", &["bxy"], &["dxy", "bx1"]),
            ("[]a-]", &["]", "a", "-"], &["b"]),
            ("{a,b/**,{c,d}*}.{md,txt}", &["a.md", "cx.txt", "b/c/d.md"], &["e.md", "a.rs"]),
            (r"\*\{a", &["*{a"], &["x{a"]),
            ("a,b}", &["a,b}"], &["a"]),
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
    fn what_is_no_pattern_is_told() {
        for (glob, expected) in [
            ("[a", "a class is not closed"),
            ("[]", "a class is not closed"),
            ("{a,b", "a brace is not closed"),
            ("a\\", "a backslash is the last of it"),
            ("[z-a]", "`z-a` is in the wrong order"),
        ] {
            let told = Glob::new(glob).unwrap_err();
            assert!(told.starts_with(expected), "{glob}: {told}");
        }
    }
}
