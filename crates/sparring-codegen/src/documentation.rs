//! Texts of a server as doc comments: they stay texts. None is run as a test,
//! links to something, closes a comment or turns a line around.

/// How much of a description is kept.
const MOST: usize = 8_000;

/// Where a paragraph is broken.
const COLUMNS: usize = 96;

/// A doc comment: what it says first as a paragraph, and the rest as it was laid
/// out.
pub(crate) fn comment(indent: &str, text: &str) -> String {
    let text = harmless(text);
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let begin = lines.iter().position(|line| !line.is_empty()).unwrap_or(lines.len());
    let lines = &lines[begin..];
    let end = lines.iter().position(|line| line.is_empty()).unwrap_or(lines.len());
    // A list under a heading is no paragraph.
    let is_plain = |line: &&str| line.starts_with(|c: char| c.is_alphanumeric() || c == '(');
    let end = if lines.iter().take(end).skip(1).all(is_plain) { end } else { 1.min(end) };
    let (first, rest) = lines.split_at(end);
    let mut comment = paragraph(indent, &first.join(" "));
    let rest = without_edges(rest);
    if !rest.is_empty() {
        comment.push_str(&format!("{indent}///\n{}", fenced(indent, rest)));
    }
    comment
}

/// Words of our own, or escaped ones, as a doc comment.
pub(crate) fn line(indent: &str, text: &str) -> String {
    let mut comment = String::new();
    let mut line = String::new();
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let room = COLUMNS.saturating_sub(indent.len());
        if !line.is_empty() && line.chars().count() + word.chars().count() >= room {
            comment.push_str(&format!("{indent}/// {line}\n"));
            line.clear();
        }
        match line.is_empty() {
            true => line.push_str(&at_the_beginning(word)),
            false => {
                line.push(' ');
                line.push_str(word);
            }
        }
    }
    comment.push_str(&format!("{indent}/// {line}"));
    comment.truncate(comment.trim_end().len());
    comment.push('\n');
    comment
}

/// A text between backticks, in one line.
pub(crate) fn code(text: &str) -> String {
    let text = harmless(text).replace('\n', " ");
    let text: String = text.chars().take(200).collect();
    let fence = "`".repeat(backticks(&text) + 1);
    match text.trim() {
        "" => "an empty text".to_owned(),
        text if text.contains('`') => format!("{fence} {text} {fence}"),
        text => format!("{fence}{text}{fence}"),
    }
}

/// A text in one line, escaped.
pub(crate) fn inline(text: &str) -> String {
    let text: String = harmless(text).chars().take(200).collect();
    text.split_whitespace().map(escaped).collect::<Vec<_>>().join(" ")
}

fn paragraph(indent: &str, text: &str) -> String {
    let words: Vec<String> = text.split_whitespace().map(escaped).collect();
    line(indent, &words.join(" "))
}

/// Lines as they are.
fn fenced(indent: &str, lines: &[&str]) -> String {
    let spaces = |line: &&&str| line.len() - line.trim_start_matches(' ').len();
    let filled = lines.iter().filter(|line| !line.is_empty());
    let margin = filled.clone().map(|line| spaces(&line)).min().unwrap_or_default();
    let longest = filled.map(|line| backticks(line)).max().unwrap_or_default();
    let fence = "`".repeat(3.max(longest + 1));
    let mut comment = format!("{indent}/// {fence}text\n");
    for line in lines {
        match line.get(margin..).unwrap_or_default() {
            "" => comment.push_str(&format!("{indent}///\n")),
            line => comment.push_str(&format!("{indent}/// {line}\n")),
        }
    }
    comment.push_str(&format!("{indent}/// {fence}\n"));
    comment
}

/// Without empty lines at both ends.
fn without_edges<'a, 'b>(lines: &'a [&'b str]) -> &'a [&'b str] {
    let is_filled = |line: &&str| !line.is_empty();
    let begin = lines.iter().position(is_filled).unwrap_or(lines.len());
    let end = lines.iter().rposition(is_filled).map_or(begin, |last| last + 1);
    &lines[begin..end]
}

/// The beginning of a text without what cannot be seen; tabs are four spaces.
fn harmless(text: &str) -> String {
    let mut kept = String::new();
    for c in text.replace("\r\n", "\n").replace('\t', "    ").chars() {
        if kept.len() > MOST {
            kept.push('…');
            break;
        }
        match c {
            '\n' => kept.push('\n'),
            c if c.is_control() => kept.push(' '),
            // Marks of direction, joiners, fillers, tags, and other line breaks.
            '\u{ad}'
            | '\u{61c}'
            | '\u{115f}'
            | '\u{1160}'
            | '\u{180e}'
            | '\u{3164}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{fff0}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e0fff}' => {
                kept.push(' ');
            }
            c => kept.push(c),
        }
    }
    kept
}

/// A word that Markdown takes for nothing else.
fn escaped(word: &str) -> String {
    if let Some(link) = link(word) {
        return link;
    }
    let letters: Vec<char> = word.chars().collect();
    let mut text = String::with_capacity(word.len());
    for (index, &c) in letters.iter().enumerate() {
        let is_word = |at: Option<usize>| {
            at.and_then(|at| letters.get(at)).is_some_and(|c| c.is_alphanumeric())
        };
        let within = is_word(index.checked_sub(1)) && is_word(Some(index + 1));
        match c {
            '\\' | '`' | '*' | '[' | ']' | '<' | '>' | '~' | '&' | '$' | '|' => text.push('\\'),
            '_' if !within => text.push('\\'),
            // An address with something around it: shown, and no link.
            ':' if letters[index..].starts_with(&[':', '/', '/']) => text.push('\\'),
            _ => {}
        }
        text.push(c);
    }
    text
}

/// An address of the web as a link, with what stands after it.
fn link(word: &str) -> Option<String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._~:/?#@!$&+,;=%".contains(c);
    let begins = word.starts_with("https://") || word.starts_with("http://");
    let address = word.trim_end_matches(['.', ',', ';', ':', '!', '?']);
    let after = &word[address.len()..];
    (begins && address.chars().all(is_plain)).then(|| format!("<{address}>{after}"))
}

/// The first word of a line, which must not begin a list, a heading or a rule.
fn at_the_beginning(word: &str) -> String {
    let digits = word.trim_start_matches(|c: char| c.is_ascii_digit());
    if digits.len() < word.len() && digits.starts_with(['.', ')']) {
        let number = &word[..word.len() - digits.len()];
        return format!("{number}\\{digits}");
    }
    match word.starts_with(['-', '+', '#', '=', ':']) {
        true => format!("\\{word}"),
        false => word.to_owned(),
    }
}

/// The most backticks that follow each other.
fn backticks(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        assert_eq!(comment("", text), expected);
    }

    #[test]
    fn a_description_stays_a_text() {
        check("Adds two numbers.", "/// Adds two numbers.\n");
        check(
            "Uses [`Foo`] and <b>&amp; *x*",
            "/// Uses \\[\\`Foo\\`\\] and \\<b\\>\\&amp; \\*x\\*\n",
        );
        check("snake_case and _this_", "/// snake_case and \\_this\\_\n");
        check("- one", "/// \\- one\n");
        check("1. one", "/// 1\\. one\n");
        check("# one", "/// \\# one\n");
        check("*/ fn main() {} /*", "/// \\*/ fn main() {} /\\*\n");
        check("a\u{202e}b\u{7}c\rd", "/// a b c d\n");
        check("See https://example.com/a_b.", "/// See <https://example.com/a_b>.\n");
        check("(https://example.com)", "/// (https\\://example.com)\n");
        check("", "///\n");
    }

    #[test]
    fn a_paragraph_is_broken_between_words_and_no_line_begins_a_list() {
        let text = format!("{} - {}", "a".repeat(90), "b".repeat(10));
        let expected = format!("/// {} -\n/// {}\n", "a".repeat(90), "b".repeat(10));
        check(&text, &expected);
        let text = format!("{} 1) {}", "a".repeat(95), "b");
        check(&text, &format!("/// {}\n/// 1\\) b\n", "a".repeat(95)));
    }

    #[test]
    fn what_is_laid_out_stays_so_and_is_no_test() {
        check(
            "Adds\nnumbers.\n\nArgs:\n    a: one\n    b: ```rust\n\n",
            "/// Adds numbers.\n///\n/// ````text\n/// Args:\n///     a: one\n///     b: ```rust\n/// ````\n",
        );
        check("Modes:\n  - a\n  - b", "/// Modes:\n///\n/// ```text\n/// - a\n/// - b\n/// ```\n");
    }

    #[test]
    fn a_text_in_a_line_is_code() {
        assert_eq!(code("a"), "`a`");
        assert_eq!(code("a`b"), "`` a`b ``");
        assert_eq!(code(""), "an empty text");
        assert_eq!(code("a\nb"), "`a b`");
    }

    #[test]
    fn a_book_is_cut() {
        assert!(comment("", &"word ".repeat(100_000)).len() < 9_000);
    }
}
