//! The front matter of a Markdown file: YAML between two lines of `---` at its
//! top. What is wrong with it is told with its line, and the text below counts
//! all the same.

use serde::Deserialize;
use serde_saphyr::{budget, options};

/// How deep values may be nested; what is read here needs three.
const DEEPEST: usize = 16;

/// What a file says about itself. Other keys belong to others.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct FrontMatter {
    /// What it is called.
    pub title: Option<String>,
    /// What it is about, in a word.
    pub topic: Option<String>,
    /// What kind of instruction it is.
    pub category: Option<String>,
    /// What it is for, in a sentence.
    pub description: Option<String>,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// What it is routed to by.
    pub triggers: Triggers,
    /// Topics of instructions that belong to it.
    pub related: Vec<String>,
    /// Of two that fit equally well the one with more comes first.
    pub priority: i32,
}

/// What somebody says when an instruction is wanted.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Triggers {
    /// Commands, as `/retro`.
    pub commands: Vec<String>,
    /// Words that follow each other, as `I'm done`.
    pub phrases: Vec<String>,
}

/// A file in its two parts.
#[derive(Debug, PartialEq)]
pub struct Parts<'a> {
    /// What the file says about itself; nothing where that cannot be read.
    pub front: FrontMatter,
    /// What follows.
    pub body: &'a str,
    /// What is wrong with the front matter.
    pub flaw: Option<Flaw>,
}

/// What is wrong, and where.
#[derive(Debug, PartialEq, Eq)]
pub struct Flaw {
    /// The line of the file, from 1 on.
    pub line: u64,
    /// What is wrong there.
    pub what: String,
}

/// Reads a file. One whose front matter is wrong has none, and what can be told
/// apart as its body is.
pub fn read(text: &str) -> Parts<'_> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let Some(rest) = after_fence(text) else {
        return Parts { front: FrontMatter::default(), body: text, flaw: None };
    };
    let Some((yaml, body)) = split(rest) else {
        let what = "the front matter has no line `---` at its end".to_owned();
        return Parts {
            front: FrontMatter::default(),
            body: text,
            flaw: Some(Flaw { line: 1, what }),
        };
    };
    match parse(yaml) {
        Ok(front) => Parts { front, body, flaw: None },
        Err(flaw) => Parts { front: FrontMatter::default(), body, flaw: Some(flaw) },
    }
}

/// The text behind a first line of `---`.
fn after_fence(text: &str) -> Option<&str> {
    let (line, rest) = text.split_once('\n')?;
    (line.trim_end() == "---").then_some(rest)
}

/// What is before the next line of `---`, and what is behind it.
fn split(rest: &str) -> Option<(&str, &str)> {
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        if matches!(line.trim_end(), "---" | "...") {
            return Some((&rest[..at], &rest[at + line.len()..]));
        }
        at += line.len();
    }
    None
}

fn parse(yaml: &str) -> Result<FrontMatter, Flaw> {
    let options = options! {
        budget: budget! { max_depth: DEEPEST },
        strict_booleans: true,
        with_snippet: false,
    };
    // Nothing but comments is `null`, which is no map.
    let read = serde_saphyr::from_str_with_options::<Option<FrontMatter>>(yaml, options);
    read.map(Option::unwrap_or_default).map_err(|error| {
        // The first line of it is the second of the file.
        let line = error.location().map_or(1, |location| location.line()) + 1;
        Flaw { line, what: sentence(&error) }
    })
}

/// What the parser says, without the place that is told beside it.
fn sentence(error: &serde_saphyr::Error) -> String {
    let text = error.to_string();
    let text = text.lines().next().unwrap_or_default();
    let end = text.rfind(" at line ").or_else(|| text.rfind("; line ")).unwrap_or(text.len());
    let text = text[..end].trim_end_matches([':', ',', ' ']);
    text.strip_prefix("error: ").unwrap_or(text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_a_file_are_told_apart() {
        let text = "---\ntitle: A\ntags: [x, y]\ntriggers: {phrases: [I'm done]}\nelse: 1\n---\nbody\n---\n";
        let parts = read(text);
        assert_eq!(parts.front.title.as_deref(), Some("A"));
        assert_eq!(parts.front.tags, ["x", "y"]);
        assert_eq!(parts.front.triggers.phrases, ["I'm done"]);
        assert_eq!((parts.body, parts.flaw), ("body\n---\n", None));
    }

    #[test]
    fn a_byte_order_mark_and_windows_line_ends_do_no_harm() {
        let parts = read("\u{feff}---\r\ntitle: A\r\n---\r\nbody");
        assert_eq!(parts.front.title.as_deref(), Some("A"));
        assert_eq!((parts.body, parts.flaw), ("body", None));
    }

    #[test]
    fn a_file_may_have_none_or_an_empty_one() {
        for (text, body) in [
            ("", ""),
            ("---", "---"),
            ("text\n---\nx: 1\n---\n", "text\n---\nx: 1\n---\n"),
            ("---\n---\nbody", "body"),
            ("---\n# nothing\n---\nbody", "body"),
        ] {
            let parts = read(text);
            assert_eq!(
                parts,
                Parts { front: FrontMatter::default(), body, flaw: None },
                "{text:?}"
            );
        }
    }

    fn flaw(text: &str) -> (u64, String) {
        let flaw = read(text).flaw.expect("something is wrong");
        (flaw.line, flaw.what)
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line_and_the_body_stays() {
        let (line, what) = flaw("---\ntitle: A\ntags: 5\n---\nbody");
        assert_eq!(line, 3, "{what}");
        assert!(what.contains("expected"), "{what}");
        let (line, what) = flaw("---\ntitle: A\ntriggers: {phrase: [x]}\n---\nbody");
        assert_eq!(line, 3, "{what}");
        assert!(what.contains("phrase"), "{what}");
        assert_eq!(flaw("---\ntitle: A\ntags: [a, }]\n---\nbody").0, 3);
        assert_eq!(flaw("---\ntitle: A\n").0, 1);
        let many = "[".repeat(1_000);
        assert_eq!(flaw(&format!("---\nelse: {many}\n---\nbody")).0, 2);
        assert_eq!(read("---\ntags: 5\n---\nbody").body, "body");
        assert_eq!(read("---\nnever ended").body, "---\nnever ended");
    }
}
