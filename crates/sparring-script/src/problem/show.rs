//! Problems as they are printed: `error`, the place, the line, a caret.
//!
//! The layout is that of `annotate-snippets`. It gets only the lines that a problem is about,
//! without characters that a terminal would obey or not show, and cut to the width of a page.

use std::ops::Range;

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};

use super::{Problem, Problems};

/// How wide a page is, in columns.
const WIDTH: usize = 140;

/// The most characters that are marked in one line.
const MARKED: usize = 100;

/// The most characters that are shown of each of several marked lines.
const SHOWN: usize = 120;

pub(super) fn all(problems: &Problems, coloured: bool) -> String {
    let renderer = if coloured { Renderer::styled() } else { Renderer::plain() };
    let renderer = renderer.term_width(WIDTH);
    let shown: Vec<String> = problems.iter().map(|it| one(problems, it, &renderer)).collect();
    shown.join("\n\n")
}

fn one(problems: &Problems, problem: &Problem, renderer: &Renderer) -> String {
    let source = problems.source();
    let (text, range) = (source.text(), source.range(problem.span));
    let start = line_start(text, range.start);
    let (excerpt, marked) = excerpt(text, start, range);
    let snippet = Snippet::source(excerpt)
        .path(harmless(source.name()))
        .line_start(text[..start].matches('\n').count() + 1)
        .annotation(AnnotationKind::Primary.span(marked));
    let title = Level::ERROR.primary_title(harmless(&problem.message));
    let help = problem.help.iter().map(|help| Level::HELP.message(harmless(help)));
    renderer.render(&[title.element(snippet).elements(help)])
}

/// Where the line begins that a byte is in. The end of a text is in its last line.
fn line_start(text: &str, byte: usize) -> usize {
    let before = &text[..byte];
    let before = match byte == text.len() {
        true => before.strip_suffix('\n').unwrap_or(before),
        false => before,
    };
    before.rfind('\n').map_or(0, |at| at + 1)
}

/// The lines of a range as they are shown, and where the range is in them. The first line
/// begins at `start`.
fn excerpt(text: &str, start: usize, range: Range<usize>) -> (String, Range<usize>) {
    let end = text[range.end..].find('\n').map_or(text.len(), |at| range.end + at + 1);
    let Some(last) = text[range.clone()].rfind('\n').map(|at| range.start + at + 1) else {
        let marked = prefix(&text[range.clone()], MARKED);
        let after = prefix(&text[range.start + marked.len()..end], WIDTH);
        let [before, marked, after] = [&text[start..range.start], marked, after].map(visible);
        let range = before.len()..before.len() + marked.len();
        return (before + &marked + &after, range);
    };
    let until_last: String = text[start..last].split_inclusive('\n').map(cut).collect();
    let marked_from = visible(prefix(&text[start..range.start], SHOWN)).len();
    let marked_to = until_last.len() + visible(prefix(&text[last..range.end], SHOWN)).len();
    (until_last + &cut(&text[last..end]), marked_from..marked_to)
}

/// One of several lines, no longer than fits.
fn cut(line: &str) -> String {
    match prefix(line, SHOWN) {
        all if all.len() == line.len() => visible(line),
        start => visible(start) + "...\n",
    }
}

/// So many of the first characters.
fn prefix(text: &str, count: usize) -> &str {
    text.char_indices().nth(count).map_or(text, |(end, _)| &text[..end])
}

/// A text that is no part of a snippet, such as a message.
fn harmless(text: &str) -> String {
    visible(text).replace('\r', "\u{240d}")
}

/// The same number of characters, none of which a terminal obeys or does not show. Tabs and ends
/// of lines are left to `annotate-snippets`.
fn visible(text: &str) -> String {
    let visible = |c: char| match c {
        '\t' | '\n' | '\r' => c,
        '\u{0}'..='\u{1f}' => char::from_u32(0x2400 + u32::from(c)).unwrap_or(c),
        '\u{7f}' => '\u{2421}',
        // Control characters, soft hyphens, marks of direction, and what has no width.
        '\u{80}'..='\u{9f}'
        | '\u{ad}'
        | '\u{61c}'
        | '\u{180e}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}' => char::REPLACEMENT_CHARACTER,
        c => c,
    };
    text.chars().map(visible).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{Source, Span};

    #[test]
    fn each_problem_shows_its_line_with_a_caret_and_what_would_be_right() {
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
        assert!(problems.shown(true).contains("\u{1b}["));
    }

    #[test]
    fn nothing_shown_makes_a_terminal_do_something_or_is_not_seen() {
        let odd = "\u{1b}[2J\u{7}\u{8}\u{7f}\u{85}\u{9b}\u{ad}\u{200b}\u{200d}\u{200f}\u{202e}\u{2066}\u{feff}";
        let source = Source::new(format!("a{odd}.yaml"), format!("a: {odd}\r\nb: {odd}\rc\n"));
        let mut problems = Problems::new(&source);
        let help = Some(format!("not {odd}\r"));
        problems.add_with_help(Span { start: 3, end: 4 }, format!("unknown {odd}\r"), help);
        problems.add(Span { start: 3, end: source.text().len() - 1 }, "several lines");
        let shown = problems.to_string();
        let seen = odd.replace("[2J", "");
        assert!(!shown.contains(|c| c == '\r' || seen.contains(c)), "{shown:?}");
        assert!(shown.contains("\u{241b}[2J"), "{shown}");
    }

    #[test]
    fn what_is_not_seen_counts_as_a_column() {
        let expected = "error: wrong\n --> a.yaml:1:3\n  |\n1 | a\u{fffd}b: 1\n  |   ^";
        assert_eq!(shown("a\u{200b}b: 1\n", 4, 5), expected);
    }

    #[test]
    fn a_place_beyond_the_text_is_shown_as_its_end() {
        let source = Source::new("a.yaml", "");
        let mut problems = Problems::new(&source);
        problems.add(Span { start: 5, end: 9 }, "nothing here");
        assert!(problems.to_string().contains("nothing here"));
    }

    fn shown(text: &str, start: usize, end: usize) -> String {
        let mut problems = Problems::new(&Source::new("a.yaml", text));
        problems.add(Span { start, end }, "wrong");
        problems.to_string()
    }

    #[test]
    fn a_caret_stands_where_wide_and_odd_characters_leave_it() {
        let expected = "error: wrong\n --> a.yaml:1:6\n  |\n1 | \u{65e5}\u{672c}:     x\u{241b}\n  |           ^^";
        assert_eq!(shown("\u{65e5}\u{672c}: \tx\u{1b}\n", 9, 11), expected);
    }

    #[test]
    fn what_is_at_the_end_of_a_text_is_shown_in_its_last_line() {
        assert_eq!(
            shown("a: [1\n", 6, 6),
            "error: wrong\n --> a.yaml:1:7\n  |\n1 | a: [1\n  |      ^"
        );
    }

    #[test]
    fn what_spans_several_lines_has_a_bracket() {
        let expected = "\
error: wrong
 --> a.yaml:1:4
  |
1 |   a: |
  |  ____^
2 | |   one
3 | |   two
  | |_____^";
        assert_eq!(shown("a: |\n  one\n  two\nb: 1\n", 3, 16), expected);
    }

    #[test]
    fn what_spans_many_lines_is_shown_by_its_ends() {
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
        assert_eq!(shown(&"a\n".repeat(12), 0, 23), expected);
    }

    #[test]
    fn a_long_line_is_shown_around_its_mark() {
        let told = shown(&format!("{}key: {}", "x".repeat(300), "y".repeat(200)), 300, 303);
        let [line, mark] = told.lines().skip(3).collect::<Vec<_>>()[..] else { panic!("{told}") };
        assert!(line.len() <= 140 && line.starts_with("1 | ...x") && line.ends_with("y..."));
        let at = line.find("key").unwrap();
        assert_eq!(mark, format!("  |{}^^^", " ".repeat(at - 3)));
    }

    #[test]
    fn a_mark_at_the_edge_of_the_page_is_seen() {
        let room = WIDTH - "1 | ".len();
        // At the end of a line that just fits.
        let told = shown(&"x".repeat(room), room, room);
        assert!(told.ends_with('^'), "{told}");
        // In the last columns of a line that does not.
        for at in room - 6..room + 3 {
            let told = shown(&format!("{}key{}", "x".repeat(at), "y".repeat(99)), at, at + 3);
            let lines: Vec<&str> = told.lines().skip(3).collect();
            let [line, mark] = lines[..] else { panic!("{told}") };
            assert!(line.len() <= WIDTH, "{told}");
            assert_eq!(line.find("key"), mark.find("^^^"), "{told}");
        }
    }

    #[test]
    fn a_bracket_is_no_wider_than_the_page() {
        let told = shown(&format!("a\n{}", "x".repeat(500)), 0, 502);
        assert!(told.lines().all(|line| line.len() <= WIDTH), "{told}");
    }
}
