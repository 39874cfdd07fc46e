//! Detects Markdown.

use super::super::fenced_blocks::{Block, find_fenced_blocks};

/// Returns true if the text is Markdown. One unique feature is enough; of
/// features that other texts have too, two are needed. Code is excluded,
/// because its comments can have all of them.
pub(super) fn is_markdown(text: &str) -> bool {
    let blocks = find_fenced_blocks(text);
    let lines = lines_around(text, &blocks);
    if is_code(&lines) {
        return false;
    }
    if !blocks.is_empty() || has_table(&lines) || is_titled(&lines) {
        return true;
    }
    let many = |fits: fn(&str) -> bool| lines.iter().filter(|line| fits(line)).count();
    let headings: Vec<_> = lines.iter().filter_map(|line| heading_level(line)).collect();
    let features = [
        !headings.is_empty() || lines.windows(2).any(|two| is_underlined(two[0], two[1])),
        headings.iter().any(|level| *level != headings[0]),
        many(is_item) > 1,
        many(|line| line.starts_with("> ")) > 0,
        many(has_link) > 0,
        many(has_emphasis) > 0,
    ];
    features.iter().filter(|feature| **feature).count() > 1
}

fn lines_around<'a>(text: &'a str, blocks: &[Block<'_>]) -> Vec<&'a str> {
    let mut lines = Vec::new();
    let mut from = 0;
    for block in blocks {
        lines.extend(text[from..block.range.start].lines());
        from = block.range.end;
    }
    lines.extend(text[from..].lines());
    lines
}

/// Returns true if one line can only be code, or at least one in twenty-five
/// looks like code.
fn is_code(lines: &[&str]) -> bool {
    let code = lines.iter().filter(|line| may_be_code(line)).count();
    let all = lines.iter().filter(|line| !line.trim().is_empty()).count();
    lines.iter().any(|line| is_certainly_code(line)) || (code > 0 && code * 25 >= all)
}

fn is_certainly_code(line: &str) -> bool {
    let from = line.strip_prefix("from ").and_then(|rest| rest.split_once(" import "));
    let is_import = from.is_some_and(|(module, _)| !module.contains(' '));
    is_import || line.starts_with("#!/") || line.starts_with("#include ")
}

fn may_be_code(line: &str) -> bool {
    let begins = ["import ", "//", "/*", "\"\"\"", "'''", "@"];
    let heads = ["def ", "class ", "if ", "for ", "while ", "async def "];
    let is_head = line.ends_with(':') && heads.iter().any(|head| line.starts_with(head));
    let ends = [";", "{", "}", "("].iter().any(|end| line.ends_with(end));
    // A semicolon at the end may belong to an HTML entity.
    let is_entity = line.rsplit_once('&').is_some_and(|(_, entity)| entity.len() < 8);
    let is_statement = !line.starts_with([' ', '\t']) && ends && !is_entity;
    is_head || is_statement || begins.iter().any(|begin| line.starts_with(begin))
}

/// A heading with a line of `=` or `-` below it.
fn is_underlined(heading: &str, rule: &str) -> bool {
    let rule = rule.trim_end();
    let is_rule = rule.len() > 2 && ["=", "-"].iter().any(|mark| rule.replace(mark, "").is_empty());
    is_rule && heading.starts_with(char::is_alphanumeric)
}

/// The level of a heading.
fn heading_level(line: &str) -> Option<usize> {
    let level = line.bytes().take_while(|byte| *byte == b'#').count();
    let heading = (1..=6).contains(&level) && line[level..].starts_with(' ');
    (heading && line[level..].trim().len() > 1).then_some(level)
}

/// Returns true if the text begins with a heading followed by an empty line.
fn is_titled(lines: &[&str]) -> bool {
    let alone = lines.get(1).is_some_and(|line| line.trim().is_empty());
    alone && lines.first().is_some_and(|line| heading_level(line).is_some())
}

fn has_table(lines: &[&str]) -> bool {
    lines.windows(2).any(|two| two[0].contains('|') && is_table_rule(two[1]))
}

/// The line below the column names of a table.
fn is_table_rule(line: &str) -> bool {
    let line = line.trim();
    line.contains('|') && line.contains("--") && line.chars().all(|c| "|-: ".contains(c))
}

fn is_item(line: &str) -> bool {
    let line = line.trim_start();
    let number = line.bytes().take_while(u8::is_ascii_digit).count();
    let numbered = (1..=3).contains(&number) && line[number..].starts_with(". ");
    numbered || ["- ", "* ", "+ "].iter().any(|mark| line.starts_with(mark))
}

fn has_link(line: &str) -> bool {
    let Some((before, after)) = line.split_once("](") else { return false };
    before.contains('[') && after.contains(')')
}

/// Text between two pairs of stars.
fn has_emphasis(line: &str) -> bool {
    let mut parts = line.split("**").skip(1);
    let inner = parts.next().filter(|inner| !inner.is_empty() && inner.trim() == *inner);
    inner.is_some() && parts.next().is_some()
}
