//! Renders problems: `error`, the location, the line, and a caret.
//!
//! `annotate-snippets` makes the layout. It gets only the lines of the problem, without
//! characters that control a terminal or are invisible, and truncated to [`MAX_WIDTH`].

use std::ops::Range;

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};

use super::{Problem, Problems};

/// The maximum width of a rendered problem, in columns.
const MAX_WIDTH: usize = 140;

/// The maximum number of characters that are marked in one line.
const MAX_MARKED_CHARS: usize = 100;

/// The maximum number of characters of each line, if several lines are marked.
const MAX_LINE_CHARS: usize = 120;

/// Renders all problems, separated by empty lines.
pub(super) fn render_all(problems: &Problems, coloured: bool) -> String {
    let renderer = if coloured { Renderer::styled() } else { Renderer::plain() };
    let renderer = renderer.term_width(MAX_WIDTH);
    let rendered: Vec<String> =
        problems.iter().map(|it| render_one(problems, it, &renderer)).collect();
    rendered.join("\n\n")
}

fn render_one(problems: &Problems, problem: &Problem, renderer: &Renderer) -> String {
    let source = problems.source();
    let (text, range) = (source.text(), source.highlight_range(problem.span));
    let start = line_start(text, range.start);
    let (excerpt, marked) = excerpt(text, start, range);
    let snippet = Snippet::source(excerpt)
        .path(sanitize_message(source.name()))
        .line_start(text[..start].matches('\n').count() + 1)
        .annotation(AnnotationKind::Primary.span(marked));
    let title = Level::ERROR.primary_title(sanitize_message(&problem.message));
    let help = problem.help.iter().map(|help| Level::HELP.message(sanitize_message(help)));
    renderer.render(&[title.element(snippet).elements(help)])
}

/// Returns the start of the line that contains a byte. The end of a text belongs to its
/// last line.
fn line_start(text: &str, byte: usize) -> usize {
    let before = &text[..byte];
    let before = match byte == text.len() {
        true => before.strip_suffix('\n').unwrap_or(before),
        false => before,
    };
    before.rfind('\n').map_or(0, |at| at + 1)
}

/// Returns the lines of a range as they are rendered, and the range within them. The first
/// line begins at `start`.
fn excerpt(text: &str, start: usize, range: Range<usize>) -> (String, Range<usize>) {
    let end = text[range.end..].find('\n').map_or(text.len(), |at| range.end + at + 1);
    let Some(last) = text[range.clone()].rfind('\n').map(|at| range.start + at + 1) else {
        let marked = first_chars(&text[range.clone()], MAX_MARKED_CHARS);
        let after = first_chars(&text[range.start + marked.len()..end], MAX_WIDTH);
        let [before, marked, after] =
            [&text[start..range.start], marked, after].map(replace_invisible);
        let range = before.len()..before.len() + marked.len();
        return (before + &marked + &after, range);
    };
    let until_last: String = text[start..last].split_inclusive('\n').map(truncate_line).collect();
    let marked_from =
        replace_invisible(first_chars(&text[start..range.start], MAX_LINE_CHARS)).len();
    let marked_to = until_last.len()
        + replace_invisible(first_chars(&text[last..range.end], MAX_LINE_CHARS)).len();
    (until_last + &truncate_line(&text[last..end]), marked_from..marked_to)
}

/// Returns one of several lines, truncated to [`MAX_LINE_CHARS`].
fn truncate_line(line: &str) -> String {
    match first_chars(line, MAX_LINE_CHARS) {
        all if all.len() == line.len() => replace_invisible(line),
        start => replace_invisible(start) + "...\n",
    }
}

/// Returns the first `count` characters.
fn first_chars(text: &str, count: usize) -> &str {
    text.char_indices().nth(count).map_or(text, |(end, _)| &text[..end])
}

/// Replaces invisible characters and carriage returns in a text outside a snippet, such as a
/// message.
fn sanitize_message(text: &str) -> String {
    replace_invisible(text).replace('\r', "\u{240d}")
}

/// Replaces each character that controls a terminal or is invisible by a visible one.
/// `annotate-snippets` handles tabs and line breaks.
fn replace_invisible(text: &str) -> String {
    let replace = |c: char| match c {
        '\t' | '\n' | '\r' => c,
        '\u{0}'..='\u{1f}' => char::from_u32(0x2400 + u32::from(c)).unwrap_or(c),
        '\u{7f}' => '\u{2421}',
        // Control characters, soft hyphens, direction marks, and characters without width.
        '\u{80}'..='\u{9f}'
        | '\u{ad}'
        | '\u{61c}'
        | '\u{180e}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e0fff}' => char::REPLACEMENT_CHARACTER,
        c => c,
    };
    text.chars().map(replace).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{Source, Span};

    #[test]
    fn each_problem_shows_its_line_with_a_caret_and_its_help() {
        let source = Source::new("a.mock.yaml", "tools:\n  - nmae: x\n    x: 1\n");
        let mut problems = Problems::new(&source);
        problems.add(Span { start: 23, end: 24 }, "unknown key `x`");
        let help = Some("did you mean 'name'?".to_owned());
        problems.add_with_help(Span { start: 11, end: 15 }, "unknown key `nmae`", help);
        let expected = "\
error: unknown key `nmae`
 --> a.mock.yaml:2:5
  |
2 |   - nmae: x
  |     ^^^^
  |
  = help: did you mean 'name'?

error: unknown key `x`
 --> a.mock.yaml:3:5
  |
3 |     x: 1
  |     ^";
        assert_eq!(problems.to_string(), expected);
        assert!(problems.render(true).contains("\u{1b}["));
    }

    #[test]
    fn terminal_controls_and_invisible_characters_are_replaced() {
        let odd = "\u{1b}[2J\u{7}\u{8}\u{7f}\u{85}\u{9b}\u{ad}\u{200b}\u{200d}\u{200f}\u{202e}\u{2066}\u{feff}";
        let source = Source::new(format!("a{odd}.yaml"), format!("a: {odd}\r\nb: {odd}\rc\n"));
        let mut problems = Problems::new(&source);
        let help = Some(format!("not {odd}\r"));
        problems.add_with_help(Span { start: 3, end: 4 }, format!("unknown {odd}\r"), help);
        problems.add(Span { start: 3, end: source.text().len() - 1 }, "several lines");
        let rendered = problems.to_string();
        let replaced = odd.replace("[2J", "");
        assert!(!rendered.contains(|c| c == '\r' || replaced.contains(c)), "{rendered:?}");
        assert!(rendered.contains("\u{241b}[2J"), "{rendered}");
    }

    #[test]
    fn an_invisible_character_counts_as_a_column() {
        let expected = "error: wrong\n --> a.yaml:1:3\n  |\n1 | a\u{fffd}b: 1\n  |   ^";
        assert_eq!(render("a\u{200b}b: 1\n", 4, 5), expected);
    }

    #[test]
    fn a_span_beyond_the_text_is_shown_at_its_end() {
        let source = Source::new("a.yaml", "");
        let mut problems = Problems::new(&source);
        problems.add(Span { start: 5, end: 9 }, "nothing here");
        assert!(problems.to_string().contains("nothing here"));
    }

    fn render(text: &str, start: usize, end: usize) -> String {
        let mut problems = Problems::new(&Source::new("a.yaml", text));
        problems.add(Span { start, end }, "wrong");
        problems.to_string()
    }

    #[test]
    fn a_caret_is_aligned_after_wide_and_control_characters() {
        let expected = "error: wrong\n --> a.yaml:1:6\n  |\n1 | \u{65e5}\u{672c}:     x\u{241b}\n  |           ^^";
        assert_eq!(render("\u{65e5}\u{672c}: \tx\u{1b}\n", 9, 11), expected);
    }

    #[test]
    fn a_span_at_the_end_of_a_text_is_shown_in_its_last_line() {
        assert_eq!(
            render("a: [1\n", 6, 6),
            "error: wrong\n --> a.yaml:1:7\n  |\n1 | a: [1\n  |      ^"
        );
    }

    #[test]
    fn a_span_of_several_lines_has_a_bracket() {
        let expected = "\
error: wrong
 --> a.yaml:1:4
  |
1 |   a: |
  |  ____^
2 | |   one
3 | |   two
  | |_____^";
        assert_eq!(render("a: |\n  one\n  two\nb: 1\n", 3, 16), expected);
    }

    #[test]
    fn a_span_of_many_lines_shows_its_ends() {
        let expected = "\
error: wrong
  --> a.yaml:1:1
   |
 1 | / a
 2 | | a
 3 | | a
 4 | | a
...  |
11 | | a
12 | | a
   | |_^";
        assert_eq!(render(&"a\n".repeat(12), 0, 23), expected);
    }

    #[test]
    fn a_long_line_is_shown_around_its_mark() {
        let rendered = render(&format!("{}key: {}", "x".repeat(300), "y".repeat(200)), 300, 303);
        let [line, mark] = rendered.lines().skip(3).collect::<Vec<_>>()[..] else {
            panic!("{rendered}")
        };
        assert!(line.len() <= 140 && line.starts_with("1 | ...x") && line.ends_with("y..."));
        let at = line.find("key").unwrap();
        assert_eq!(mark, format!("  |{}^^^", " ".repeat(at - 3)));
    }

    #[test]
    fn a_mark_at_the_edge_of_the_page_is_seen() {
        let room = MAX_WIDTH - "1 | ".len();
        // At the end of a line that just fits.
        let rendered = render(&"x".repeat(room), room, room);
        assert!(rendered.ends_with('^'), "{rendered}");
        // In the last columns of a line that does not.
        for at in room - 6..room + 3 {
            let rendered = render(&format!("{}key{}", "x".repeat(at), "y".repeat(99)), at, at + 3);
            let lines: Vec<&str> = rendered.lines().skip(3).collect();
            let [line, mark] = lines[..] else { panic!("{rendered}") };
            assert!(line.len() <= MAX_WIDTH, "{rendered}");
            assert_eq!(line.find("key"), mark.find("^^^"), "{rendered}");
        }
    }

    #[test]
    fn a_bracket_is_no_wider_than_the_page() {
        let rendered = render(&format!("a\n{}", "x".repeat(500)), 0, 502);
        assert!(rendered.lines().all(|line| line.len() <= MAX_WIDTH), "{rendered}");
    }
}
