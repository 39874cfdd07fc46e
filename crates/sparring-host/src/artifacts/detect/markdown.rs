//! Whether a text has the structure of Markdown.

/// A block that nothing else has is enough; of signs that other texts have too
/// there must be two.
pub(super) fn is_markdown(text: &str) -> bool {
    let lines: Vec<&str> = text.lines().collect();
    if !super::super::blocks::fenced(text).is_empty() || has_table(&lines) || is_titled(&lines) {
        return true;
    }
    let many = |fits: fn(&str) -> bool| lines.iter().filter(|line| fits(line)).count();
    let headings: Vec<_> = lines.iter().filter_map(|line| level(line)).collect();
    let signs = [
        !headings.is_empty(),
        headings.iter().any(|level| *level != headings[0]),
        many(is_item) > 1,
        many(|line| line.starts_with("> ")) > 0,
        many(has_link) > 0,
        many(has_emphasis) > 0,
    ];
    signs.iter().filter(|sign| **sign).count() > 1
}

/// The level of a heading.
fn level(line: &str) -> Option<usize> {
    let level = line.bytes().take_while(|byte| *byte == b'#').count();
    let heading = (1..=6).contains(&level) && line[level..].starts_with(' ');
    (heading && line[level..].trim().len() > 1).then_some(level)
}

/// Begins with a heading that stands alone.
fn is_titled(lines: &[&str]) -> bool {
    let alone = lines.get(1).is_some_and(|line| line.trim().is_empty());
    alone && lines.first().is_some_and(|line| level(line).is_some())
}

fn has_table(lines: &[&str]) -> bool {
    lines.windows(2).any(|two| two[0].contains('|') && is_rule(two[1]))
}

/// The line below the names of a table's columns.
fn is_rule(line: &str) -> bool {
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

/// Two pairs of stars around something.
fn has_emphasis(line: &str) -> bool {
    let mut parts = line.split("**").skip(1);
    let inner = parts.next().filter(|inner| !inner.is_empty() && inner.trim() == *inner);
    inner.is_some() && parts.next().is_some()
}
