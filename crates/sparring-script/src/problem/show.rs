//! Problems as they are printed: `error`, the place, the line, a caret.

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};

use super::{Problem, Problems};

pub(super) fn all(problems: &Problems, coloured: bool) -> String {
    let renderer = if coloured { Renderer::styled() } else { Renderer::plain() };
    let shown: Vec<String> = problems.iter().map(|it| one(problems, it, &renderer)).collect();
    shown.join("\n\n")
}

fn one(problems: &Problems, problem: &Problem, renderer: &Renderer) -> String {
    let source = problems.source();
    let annotation = AnnotationKind::Primary.span(source.range(problem.span));
    let snippet = Snippet::source(source.text()).path(source.name()).annotation(annotation);
    let (message, help) = (plain(&problem.message), problem.help.as_deref().map(plain));
    let mut group = Level::ERROR.primary_title(&*message).element(snippet);
    if let Some(help) = &help {
        group = group.element(Level::HELP.message(&**help));
    }
    renderer.render(&[group]).clone()
}

/// A message with what the text brought into it, which may be somebody else's:
/// nothing in it makes a terminal do something.
fn plain(message: &str) -> String {
    message.chars().map(|c| if c.is_control() && c != '\n' { '\u{fffd}' } else { c }).collect()
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
        let help = Some("not \u{7}".to_owned());
        problems.add_with_help(Span { start: 3, end: 4 }, "unknown \u{1b}[2J", help);
        let shown = problems.to_string();
        assert!(!shown.contains(['\u{1b}', '\u{7}']), "{shown:?}");
    }

    #[test]
    fn a_place_beyond_the_text_is_shown_as_its_end() {
        let source = Source::new("a.yaml", "");
        let mut problems = Problems::new(&source);
        problems.add(Span { start: 5, end: 9 }, "nothing here");
        assert!(problems.to_string().contains("nothing here"));
    }
}
