//! Problems as they are printed: `error`, the place, the line, a caret.
//!
//! What spans several lines is shown with a bracket before them.

use std::ops::Range;

use unicode_width::UnicodeWidthChar as _;

use super::{Problem, Problems};

/// How wide a page is: a longer line is cut.
const WIDTH: usize = 140;

/// What stands where something of a line is left out.
const CUT: &str = "...";

/// Of a long part, how many lines are shown from its beginning and from its end.
const FIRST: usize = 4;
const LAST: usize = 2;

/// How many columns a bracket before lines takes.
const BRACKET: usize = 2;

const TITLE: &str = "error";
const HELP: &str = "help";

const BOLD: &str = "\u{1b}[1m";
const RED: &str = "\u{1b}[1m\u{1b}[91m";
const BLUE: &str = "\u{1b}[1m\u{1b}[94m";
const RESET: &str = "\u{1b}[0m";

pub(super) fn all(problems: &Problems, coloured: bool) -> String {
    let shown: Vec<String> = problems.iter().map(|it| one(problems, it, coloured)).collect();
    shown.join("\n\n")
}

fn one(problems: &Problems, problem: &Problem, coloured: bool) -> String {
    let source = problems.source();
    let (first, rows) = rows(source.text(), source.range(problem.span));
    let gutter = (first + rows.len() - 1).to_string().len();
    let mut page = Page { text: String::new(), gutter, coloured };
    page.title(&plain(&problem.message));
    page.place(&format!("{}:{first}:{}", source.name(), rows[0].column()));
    match &rows[..] {
        [row] => page.line(first, row),
        rows => page.lines(first, rows),
    }
    if let Some(help) = &problem.help {
        page.help(&plain(help));
    }
    page.text
}

/// A message with what the text brought into it, which may be somebody else's:
/// nothing in it makes a terminal do something.
fn plain(message: &str) -> String {
    let plain = |c: char| match c {
        '\n' => "\n".to_owned(),
        c if c.is_control() => char::REPLACEMENT_CHARACTER.to_string(),
        c => shown(c),
    };
    message.chars().map(plain).collect()
}

/// A line of the text, and what of it is marked.
struct Row<'a> {
    /// With its end.
    text: &'a str,
    marked: Range<usize>,
}

/// The lines that a range touches, and the number of the first. What stands at the very
/// end of the text stands in its last line.
fn rows(text: &str, range: Range<usize>) -> (usize, Vec<Row<'_>>) {
    let mut rows = Vec::new();
    let (mut first, mut start) = (1, 0);
    let lines = if text.is_empty() { "\n" } else { text };
    for line in lines.split_inclusive('\n') {
        let end = start + line.len();
        if range.start >= end && end < text.len() {
            first += 1;
        } else if range.end >= start && (start < text.len() || start == 0) {
            let within = |at: usize| at.clamp(start, end) - start;
            rows.push(Row { text: line, marked: within(range.start)..within(range.end) });
        }
        start = end;
    }
    (first, rows)
}

impl<'a> Row<'a> {
    fn content(&self) -> &'a str {
        let line = self.text.strip_suffix('\n').unwrap_or(self.text);
        line.strip_suffix('\r').unwrap_or(line)
    }

    /// Which character the mark begins with, from 1; the end of the line is one.
    fn column(&self) -> usize {
        let (content, start) = (self.content(), self.marked.start);
        match content.get(..start) {
            Some(before) => before.chars().count() + 1,
            None => content.chars().count() + 2,
        }
    }

    /// Where something begins as it is shown, in columns.
    fn shown_at(&self, byte: usize) -> usize {
        let content = self.content();
        width(content.get(..byte).unwrap_or(content))
    }
}

/// What is printed of a problem, as it grows.
struct Page {
    text: String,
    /// How wide the numbers of lines are.
    gutter: usize,
    coloured: bool,
}

impl Page {
    fn title(&mut self, message: &str) {
        self.put(RED, TITLE);
        for (at, line) in message.split('\n').enumerate() {
            match at {
                0 => self.put(BOLD, &format!(": {line}")),
                _ => {
                    self.text += &format!("\n{:1$}", "", TITLE.len() + 2);
                    self.put(BOLD, line);
                }
            }
        }
    }

    fn place(&mut self, place: &str) {
        self.text += &format!("\n{:1$}", "", self.gutter);
        self.put(BLUE, "--> ");
        self.text += place;
        self.edge("");
    }

    /// One line, with what is wrong in it underlined.
    fn line(&mut self, number: usize, row: &Row<'_>) {
        let (start, end) = (row.shown_at(row.marked.start), row.shown_at(row.marked.end));
        let end = end.max(start + 1);
        let (line, from) = cut(row.content(), start..end, self.room());
        self.edge(&number.to_string());
        self.after(&line);
        self.edge("");
        let start = start - from;
        let end = (end - from).min(self.room()).max(start + 1);
        self.text += &" ".repeat(start + 1);
        self.put(RED, &"^".repeat(end - start));
    }

    /// Several lines, with a bracket from where it begins to where it ends.
    fn lines(&mut self, first: usize, rows: &[Row<'_>]) {
        let left_out = match rows.len() {
            all if all > FIRST + LAST + 1 => FIRST..all - LAST,
            _ => 0..0,
        };
        for (at, row) in rows.iter().enumerate() {
            if at == left_out.start && !left_out.is_empty() {
                self.text.push('\n');
                self.put(BLUE, CUT);
                self.text += &" ".repeat(self.gutter);
                self.put(RED, "|");
            }
            if left_out.contains(&at) {
                continue;
            }
            let begins_line = row.text[..row.marked.start].trim().is_empty();
            self.edge(&(first + at).to_string());
            self.text.push(' ');
            match at {
                0 if begins_line => self.put(RED, "/"),
                0 => self.text.push(' '),
                _ => self.put(RED, "|"),
            }
            self.after(&cut(row.content(), 0..1, self.room() - BRACKET).0);
            if at == 0 && !begins_line {
                self.bracket(" ", row.shown_at(row.marked.start) + 1);
            }
        }
        if let Some(last) = rows.last() {
            self.bracket("|", last.shown_at(last.marked.end).max(1));
        }
    }

    /// The beginning or the end of a bracket, so long.
    fn bracket(&mut self, corner: &str, length: usize) {
        self.edge("");
        self.text.push(' ');
        let length = length.min(self.room() - BRACKET);
        self.put(RED, &format!("{corner}{}^", "_".repeat(length)));
    }

    fn help(&mut self, message: &str) {
        self.edge("");
        self.text += &format!("\n{:1$} ", "", self.gutter);
        self.put(BLUE, "= ");
        self.put(BOLD, HELP);
        self.text += ": ";
        let indent = self.gutter + " = : ".len() + HELP.len();
        self.text += &message.replace('\n', &format!("\n{:indent$}", ""));
    }

    /// How much of a line there is room for.
    fn room(&self) -> usize {
        WIDTH - self.gutter - " | ".len()
    }

    /// Begins a line that has this number, or none.
    fn edge(&mut self, number: &str) {
        self.text.push('\n');
        let padded = format!("{number:>gutter$}", gutter = self.gutter);
        match number {
            "" => self.text += &padded,
            _ => self.put(BLUE, &padded),
        }
        self.text.push(' ');
        self.put(BLUE, "|");
    }

    /// Puts a line of the text after what stands before it; an empty one leaves no blank.
    fn after(&mut self, line: &str) {
        if !line.is_empty() {
            self.text.push(' ');
            self.text += line;
        }
    }

    fn put(&mut self, style: &str, text: &str) {
        match self.coloured {
            true => self.text += &format!("{style}{text}{RESET}"),
            false => self.text += text,
        }
    }
}

/// A line as it is shown: so much of it, with what is marked in the middle, as there is
/// room for; and the column with which it begins.
fn cut(line: &str, marked: Range<usize>, room: usize) -> (String, usize) {
    if width(line) <= room {
        return (line.chars().map(shown).collect(), 0);
    }
    let before = (room.saturating_sub(marked.len()) / 2).max(CUT.len());
    let from = match marked.end + CUT.len() > room {
        true => marked.start.saturating_sub(before),
        false => 0,
    };
    let mut column = 0;
    let mut cut = String::new();
    for c in line.chars() {
        let left = from > 0 && column < from + CUT.len();
        if !left && column + wide(c) + CUT.len() > from + room {
            return (cut + CUT, from);
        }
        column += wide(c);
        match left {
            true if cut.is_empty() && column > from => cut += CUT,
            true => {}
            false => cut += &shown(c),
        }
    }
    (cut, from)
}

/// A character as it is shown: nothing makes a terminal do something, and what has no
/// width of its own has one that is known.
fn shown(c: char) -> String {
    match c {
        '\t' => "    ".to_owned(),
        '\u{0}'..='\u{1f}' => char::from_u32(0x2400 + u32::from(c)).unwrap_or(c).to_string(),
        '\u{7f}' => '\u{2421}'.to_string(),
        '\u{80}'..='\u{9f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            char::REPLACEMENT_CHARACTER.to_string()
        }
        '\u{200d}' => String::new(),
        c => c.to_string(),
    }
}

fn wide(c: char) -> usize {
    shown(c).chars().map(|c| c.width().unwrap_or(0)).sum()
}

fn width(text: &str) -> usize {
    text.chars().map(wide).sum()
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
    fn nothing_shown_makes_a_terminal_do_something() {
        let source = Source::new("a.yaml", "a: \u{1b}[2J\n");
        let mut problems = Problems::new(&source);
        let help = Some("not \u{7}\u{2066}".to_owned());
        problems.add_with_help(Span { start: 3, end: 4 }, "unknown \u{1b}[2J\u{202e}", help);
        let shown = problems.to_string();
        assert!(!shown.contains(['\u{1b}', '\u{7}', '\u{202e}', '\u{2066}']), "{shown:?}");
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
