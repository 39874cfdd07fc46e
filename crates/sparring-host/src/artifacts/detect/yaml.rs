//! Whether a text is a mapping or a list in YAML, and not prose that happens to
//! read as one.

use sparring_script::{Node, Source};

/// A longer text is not looked into.
const LONGEST: usize = 1024 * 1024;

/// A mapping with more than one entry or something inside, or a list of
/// mappings or lists. A list of words is Markdown as well, and a few words with
/// a colon are a sentence.
pub(super) fn is_collection(text: &str) -> bool {
    let marked = text.starts_with("---\n");
    if text.len() > LONGEST || !(marked || text.contains('\n')) || !may_be(text) {
        return false;
    }
    let Ok(node) = Node::parse(&Source::new("text", text)) else { return false };
    let is_inner = |node: &Node| !node.entries().is_empty() || !node.items().is_empty();
    let entries = node.entries();
    if entries.is_empty() {
        return node.items().len() > usize::from(!marked) && node.items().iter().all(is_inner);
    }
    let nested = entries.iter().any(|entry| is_inner(&entry.value));
    let texts = entries.iter().filter_map(|entry| entry.value.as_str());
    let is_prose = texts.filter(|text| is_sentence(text)).count() * 2 > entries.len();
    marked || nested || (entries.len() > 1 && !is_prose)
}

/// Whether every line that is not indented may be one of YAML: cheap, and most
/// texts end here. A key is one word, or quoted.
fn may_be(text: &str) -> bool {
    let lines = text.lines().filter(|line| !line.trim().is_empty() && *line != "---");
    let mut outer = lines.filter(|line| !line.starts_with([' ', '#', '\t']));
    outer.all(|line| line.starts_with("- ") || line == "-" || is_entry(line))
}

fn is_entry(line: &str) -> bool {
    let end = line.find(": ").or_else(|| line.trim_end().strip_suffix(':').map(str::len));
    let Some(key) = end.map(|end| &line[..end]) else { return false };
    let quoted = key.len() > 2 && (key.starts_with('"') && key.ends_with('"'));
    let word = |c: char| c.is_alphanumeric() || "_-./$@".contains(c);
    quoted || (!key.is_empty() && key.chars().all(word))
}

fn is_sentence(text: &str) -> bool {
    text.split_whitespace().count() > 3
}
