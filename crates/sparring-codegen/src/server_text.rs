//! Renders texts of a server as doc comments and string literals, so that they stay texts:
//! they cannot become a doctest, an intra-doc link or code, end a comment, or change the direction.

/// The maximum length of a description, in bytes.
const MAX_DESCRIPTION_BYTES: usize = 8_000;

/// The maximum width of a paragraph, in columns.
const MAX_COLUMNS: usize = 96;

/// Renders a string literal. Characters that are not ASCII become escapes: the compiler
/// rejects direction marks, letters can look like others, and formatters disagree about the
/// width of such characters.
pub(crate) fn string_literal(text: &str) -> String {
    let mut literal = String::with_capacity(text.len() + 2);
    literal.push('"');
    for c in text.chars() {
        match c {
            '"' => literal.push_str("\\\""),
            '\\' => literal.push_str("\\\\"),
            '\n' => literal.push_str("\\n"),
            '\r' => literal.push_str("\\r"),
            '\t' => literal.push_str("\\t"),
            ' '..='~' => literal.push(c),
            c => literal.extend(c.escape_unicode()),
        }
    }
    literal.push('"');
    literal
}

/// Renders a description as a doc comment: the first paragraph wrapped, and the rest with
/// its original layout.
pub(crate) fn doc_comment(indent: &str, text: &str) -> String {
    let text = sanitize(text);
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let begin = lines.iter().position(|line| !line.is_empty()).unwrap_or(lines.len());
    let lines = &lines[begin..];
    let end = lines.iter().position(|line| line.is_empty()).unwrap_or(lines.len());
    // A list below a heading is not part of the paragraph.
    let is_plain = |line: &&str| line.starts_with(|c: char| c.is_alphanumeric() || c == '(');
    let end = if lines.iter().take(end).skip(1).all(is_plain) { end } else { 1.min(end) };
    let (first, rest) = lines.split_at(end);
    let mut comment = paragraph(indent, &first.join(" "));
    let rest = trim_empty_lines(rest);
    if !rest.is_empty() {
        comment.push_str(&format!("{indent}///\n{}", fenced_block(indent, rest)));
    }
    comment
}

/// Wraps an escaped text to a doc comment.
pub(crate) fn doc_line(indent: &str, text: &str) -> String {
    let mut comment = String::new();
    let mut line = String::new();
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let room = MAX_COLUMNS.saturating_sub(indent.len());
        if !line.is_empty() && line.chars().count() + word.chars().count() >= room {
            comment.push_str(&format!("{indent}/// {line}\n"));
            line.clear();
        }
        match line.is_empty() {
            true => line.push_str(&escape_line_start(word)),
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

/// Renders a text as inline code.
pub(crate) fn inline_code(text: &str) -> String {
    let text = sanitize(text).replace('\n', " ");
    let text: String = text.chars().take(200).collect();
    let fence = "`".repeat(longest_backtick_run(&text) + 1);
    match text.trim() {
        "" => "an empty string".to_owned(),
        text if text.contains('`') => format!("{fence} {text} {fence}"),
        text => format!("{fence}{text}{fence}"),
    }
}

/// Escapes a text for one line of Markdown.
pub(crate) fn escape_inline(text: &str) -> String {
    let text: String = sanitize(text).chars().take(200).collect();
    text.split_whitespace().map(escape_word).collect::<Vec<_>>().join(" ")
}

fn paragraph(indent: &str, text: &str) -> String {
    let words: Vec<String> = text.split_whitespace().map(escape_word).collect();
    doc_line(indent, &words.join(" "))
}

/// Renders lines as a code block.
fn fenced_block(indent: &str, lines: &[&str]) -> String {
    let spaces = |line: &&&str| line.len() - line.trim_start_matches(' ').len();
    let filled = lines.iter().filter(|line| !line.is_empty());
    let margin = filled.clone().map(|line| spaces(&line)).min().unwrap_or_default();
    let longest = filled.map(|line| longest_backtick_run(line)).max().unwrap_or_default();
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

/// Removes empty lines at both ends.
fn trim_empty_lines<'a, 'b>(lines: &'a [&'b str]) -> &'a [&'b str] {
    let is_filled = |line: &&str| !line.is_empty();
    let begin = lines.iter().position(is_filled).unwrap_or(lines.len());
    let end = lines.iter().rposition(is_filled).map_or(begin, |last| last + 1);
    &lines[begin..end]
}

/// Replaces invisible characters by spaces and tabs by four spaces, and truncates the text.
fn sanitize(text: &str) -> String {
    let mut sanitized = String::new();
    for c in text.replace("\r\n", "\n").replace('\t', "    ").chars() {
        if sanitized.len() > MAX_DESCRIPTION_BYTES {
            sanitized.push('…');
            break;
        }
        match c {
            '\n' => sanitized.push('\n'),
            c if c.is_control() => sanitized.push(' '),
            // Direction marks, joiners, fillers, tags, and other line breaks.
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
                sanitized.push(' ');
            }
            c => sanitized.push(c),
        }
    }
    sanitized
}

/// Escapes a word for Markdown.
fn escape_word(word: &str) -> String {
    if let Some(link) = render_link(word) {
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
            // Part of a URL that is not a plain word must not become a link.
            ':' if letters[index..].starts_with(&[':', '/', '/']) => text.push('\\'),
            _ => {}
        }
        text.push(c);
    }
    text
}

/// Renders a URL as a link, with the punctuation after it.
fn render_link(word: &str) -> Option<String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._~:/?#@!$&+,;=%".contains(c);
    let begins = word.starts_with("https://") || word.starts_with("http://");
    let address = word.trim_end_matches(['.', ',', ';', ':', '!', '?']);
    let after = &word[address.len()..];
    (begins && address.chars().all(is_plain)).then(|| format!("<{address}>{after}"))
}

/// Escapes the first word of a line, which must not begin a list, a heading or a rule.
fn escape_line_start(word: &str) -> String {
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

/// Returns the largest number of consecutive backticks.
fn longest_backtick_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        assert_eq!(doc_comment("", text), expected);
    }

    #[test]
    fn a_string_literal_is_escaped() {
        assert_eq!(string_literal("a\"b\\\n"), r#""a\"b\\\n""#);
        assert_eq!(string_literal("größe"), "\"gr\\u{f6}\\u{df}e\"");
        let escaped = "\"\\u{202e}\\u{7}\\u{e9}\\u{301}\"";
        assert_eq!(string_literal("\u{202e}\u{7}é\u{301}"), escaped);
    }

    #[test]
    fn a_description_contains_no_markup() {
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
    fn the_layout_is_kept_and_is_not_a_doctest() {
        check(
            "Adds\nnumbers.\n\nArgs:\n    a: one\n    b: ```rust\n\n",
            "/// Adds numbers.\n///\n/// ````text\n/// Args:\n///     a: one\n///     b: ```rust\n/// ````\n",
        );
        check("Modes:\n  - a\n  - b", "/// Modes:\n///\n/// ```text\n/// - a\n/// - b\n/// ```\n");
    }

    #[test]
    fn inline_code_has_enough_backticks() {
        assert_eq!(inline_code("a"), "`a`");
        assert_eq!(inline_code("a`b"), "`` a`b ``");
        assert_eq!(inline_code(""), "an empty string");
        assert_eq!(inline_code("a\nb"), "`a b`");
    }

    #[test]
    fn a_long_description_is_truncated() {
        assert!(doc_comment("", &"word ".repeat(100_000)).len() < 9_000);
    }
}
