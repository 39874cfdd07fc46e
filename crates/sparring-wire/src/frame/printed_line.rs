//! Describes a line that a server printed to its stdout although it is not JSON-RPC: a banner,
//! a log line, a traceback.

use super::{Frame, FrameKind};
use crate::rule::Rule;
use crate::violation::Violation;

/// The number of characters of a line that a message shows.
const MAX_LINE_PREVIEW: usize = 200;

impl Frame {
    /// Returns true if the bytes are not a JSON-RPC message and do not resemble one: text, or
    /// JSON without any member of JSON-RPC.
    pub fn is_foreign_line(&self) -> bool {
        let is_member = |name| self.text().contains(&format!("\"{name}\""));
        self.kind() == FrameKind::Other
            && self.id().is_none()
            && self.method().is_none()
            && self.result().is_none()
            && self.error().is_none()
            && !is_member("jsonrpc")
            && self.violations().iter().any(shows_foreign_line)
    }

    /// Describes a line that a server printed to its stdout, with the place to log instead.
    pub fn describe_printed_line(&self) -> String {
        format!(
            "the server printed a line that is not JSON-RPC: `{}` (log to stderr, \
             not to stdout)",
            self.preview()
        )
    }

    /// Returns the beginning of the text in one line, without control characters.
    fn preview(&self) -> String {
        let text = self.text();
        let mut shown = String::new();
        for character in text.chars().take(MAX_LINE_PREVIEW) {
            match character.is_control() {
                true => shown.extend(character.escape_default()),
                false => shown.push(character),
            }
        }
        if text.chars().nth(MAX_LINE_PREVIEW).is_some() {
            shown.push_str(&format!("… ({} bytes)", self.bytes().len()));
        }
        shown
    }
}

/// Describes the line in the first violation that shows that it is not JSON-RPC, and removes
/// the others that show the same.
pub(crate) fn explain(frame: &Frame, violations: &mut Vec<Violation>) {
    let mut explained = false;
    violations.retain_mut(|violation| {
        if !shows_foreign_line(violation) {
            return true;
        }
        violation.path = "$".to_owned();
        violation.message = frame.describe_printed_line();
        !std::mem::replace(&mut explained, true)
    });
}

/// Returns true if a violation shows that a line is not JSON-RPC.
fn shows_foreign_line(violation: &Violation) -> bool {
    matches!(
        violation.rule,
        Rule::NotJson | Rule::NotAnObject | Rule::WrongJsonrpc | Rule::EmptyMessage
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, foreign: bool) {
        assert_eq!(Frame::parse(line).is_foreign_line(), foreign, "{line}");
    }

    #[test]
    fn only_lines_that_do_not_resemble_a_message_are_foreign() {
        check("Listening on port 3000", true);
        check("42", true);
        check(r#"{"level":"info","msg":"starting"}"#, true);
        check(r#"{"level":"info","#, true);
        check(r#"{"jsonrpc":"2.0","id":1,"result":{"#, false);
        check(r#"{"jsonrpc":"2.0","#, false);
        check(r#"{"jsonrpc":"1.0","id":1,"result":{}}"#, false);
        check(r#"{"method":"ping"}"#, false);
        check(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, false);
    }

    #[test]
    fn a_printed_line_has_one_violation_that_shows_it() {
        for line in ["Hello\u{1b}[0m", r#"{"level":"info"}"#] {
            let frame = Frame::parse(line);
            let mut violations = frame.violations().to_vec();
            explain(&frame, &mut violations);
            let [violation] = &violations[..] else { panic!("{violations:?}") };
            assert!(violation.message.contains("printed"), "{violation}");
            assert!(violation.message.contains("log to stderr, not to stdout"), "{violation}");
            assert!(!violation.message.contains('\u{1b}'), "{violation}");
        }
    }
}
