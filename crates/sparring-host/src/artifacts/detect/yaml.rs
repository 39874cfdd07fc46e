//! Detects YAML collections, and excludes prose that happens to be valid YAML.

use sparring_script::{Node, Source};

/// The maximum number of bytes of a text that is examined.
const MAX_TEXT_BYTES: usize = 1024 * 1024;

/// Returns true if the text is a mapping with several or nested entries, or a
/// list of collections. A list of words could be Markdown, and a few words with
/// a colon are prose.
pub(super) fn is_collection(text: &str) -> bool {
    let marked = text.starts_with("---\n");
    if text.len() > MAX_TEXT_BYTES || !(marked || text.contains('\n')) || !may_be_yaml(text) {
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

/// Returns true if every line without indentation can be YAML. This cheap check
/// excludes most texts. A key is one word, or quoted.
fn may_be_yaml(text: &str) -> bool {
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
