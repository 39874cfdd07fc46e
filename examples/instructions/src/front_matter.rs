//! Reads the front matter of a Markdown file: YAML between two lines of `---` at its
//! top. An error has its line, and the text below is still used.

use serde::Deserialize;
use serde_saphyr::{budget, options};

/// Maximum nesting depth of values; the known keys need three levels.
const MAX_DEPTH: usize = 16;

/// The front matter of a file. Unknown keys are ignored.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct FrontMatter {
    /// The title.
    pub title: Option<String>,
    /// The topic, in a word.
    pub topic: Option<String>,
    /// The category.
    pub category: Option<String>,
    /// The purpose, in a sentence.
    pub description: Option<String>,
    /// Words that find the instruction.
    pub tags: Vec<String>,
    /// The triggers that route to the instruction.
    pub triggers: Triggers,
    /// Topics of related instructions.
    pub related: Vec<String>,
    /// Of two instructions with the same score, the one with the higher priority comes first.
    pub priority: i32,
}

/// The messages that route to an instruction.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Triggers {
    /// Commands, such as `/retro`.
    pub commands: Vec<String>,
    /// Phrases, such as `I'm done`.
    pub phrases: Vec<String>,
}

/// The two parts of a file.
#[derive(Debug, PartialEq)]
pub struct Parts<'a> {
    /// The front matter; empty if it cannot be read.
    pub front: FrontMatter,
    /// The text below the front matter.
    pub body: &'a str,
    /// The error in the front matter.
    pub error: Option<FrontMatterError>,
}

/// An error, and its place.
#[derive(Debug, PartialEq, Eq)]
pub struct FrontMatterError {
    /// The line in the file, from 1.
    pub line: u64,
    /// The message.
    pub what: String,
}

/// Splits a file. If the front matter is wrong, it counts as empty, and the body is kept.
pub fn read(text: &str) -> Parts<'_> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let Some(rest) = after_fence(text) else {
        return Parts { front: FrontMatter::default(), body: text, error: None };
    };
    let Some((yaml, body)) = split(rest) else {
        let what = "the front matter has no line `---` at its end".to_owned();
        return Parts {
            front: FrontMatter::default(),
            body: text,
            error: Some(FrontMatterError { line: 1, what }),
        };
    };
    match parse(yaml) {
        Ok(front) => Parts { front, body, error: None },
        Err(error) => Parts { front: FrontMatter::default(), body, error: Some(error) },
    }
}

/// The text after a first line of `---`.
fn after_fence(text: &str) -> Option<&str> {
    let (line, rest) = text.split_once('\n')?;
    (line.trim_end() == "---").then_some(rest)
}

/// Splits the text at the next line of `---`.
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

fn parse(yaml: &str) -> Result<FrontMatter, FrontMatterError> {
    let options = options! {
        budget: budget! { max_depth: MAX_DEPTH },
        strict_booleans: true,
        with_snippet: false,
    };
    // YAML with only comments is `null`, not a map.
    let read = serde_saphyr::from_str_with_options::<Option<FrontMatter>>(yaml, options);
    read.map(Option::unwrap_or_default).map_err(|error| {
        // The YAML begins in the second line of the file.
        let line = error.location().map_or(1, |location| location.line()) + 1;
        FrontMatterError { line, what: message(&error) }
    })
}

/// The parser's message without its location, which the caller reports separately.
fn message(error: &serde_saphyr::Error) -> String {
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
    fn splits_a_file_into_front_matter_and_body() {
        let text = "---\ntitle: A\ntags: [x, y]\ntriggers: {phrases: [I'm done]}\nelse: 1\n---\nbody\n---\n";
        let parts = read(text);
        assert_eq!(parts.front.title.as_deref(), Some("A"));
        assert_eq!(parts.front.tags, ["x", "y"]);
        assert_eq!(parts.front.triggers.phrases, ["I'm done"]);
        assert_eq!((parts.body, parts.error), ("body\n---\n", None));
    }

    #[test]
    fn accepts_a_byte_order_mark_and_windows_line_ends() {
        let parts = read("\u{feff}---\r\ntitle: A\r\n---\r\nbody");
        assert_eq!(parts.front.title.as_deref(), Some("A"));
        assert_eq!((parts.body, parts.error), ("body", None));
    }

    #[test]
    fn accepts_a_file_with_no_or_empty_front_matter() {
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
                Parts { front: FrontMatter::default(), body, error: None },
                "{text:?}"
            );
        }
    }

    fn error(text: &str) -> (u64, String) {
        let error = read(text).error.expect("something is wrong");
        (error.line, error.what)
    }

    #[test]
    fn reports_an_error_with_its_line_and_keeps_the_body() {
        let (line, what) = error("---\ntitle: A\ntags: 5\n---\nbody");
        assert_eq!(line, 3, "{what}");
        assert!(what.contains("expected"), "{what}");
        let (line, what) = error("---\ntitle: A\ntriggers: {phrase: [x]}\n---\nbody");
        assert_eq!(line, 3, "{what}");
        assert!(what.contains("phrase"), "{what}");
        assert_eq!(error("---\ntitle: A\ntags: [a, }]\n---\nbody").0, 3);
        assert_eq!(error("---\ntitle: A\n").0, 1);
        let many = "[".repeat(1_000);
        assert_eq!(error(&format!("---\nelse: {many}\n---\nbody")).0, 2);
        assert_eq!(read("---\ntags: 5\n---\nbody").body, "body");
        assert_eq!(read("---\nnever ended").body, "---\nnever ended");
    }
}
