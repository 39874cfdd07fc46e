//! Joins the instructions of all connected servers, for a model or for the clients of a
//! gateway.

use crate::manager::Manager;
use crate::text::truncate;

/// The maximum number of characters of one server's instructions.
const MAX_SERVER_CHARS: usize = 10_000;

/// The maximum number of characters of all instructions.
const MAX_CHARS: usize = 50_000;

/// The instructions of all connected servers, each below the name of its server; `None` if
/// there are none.
pub(crate) fn join_instructions(manager: &Manager) -> Option<String> {
    let connections = manager.connections();
    let each = connections.iter().filter_map(|connection| {
        let instructions = connection.instructions()?.trim();
        let instructions = truncate(instructions, MAX_SERVER_CHARS);
        (!instructions.is_empty()).then(|| format!("# {}\n\n{instructions}", connection.server()))
    });
    join_limited(&each.collect::<Vec<_>>(), MAX_CHARS)
}

/// Joins texts up to a limit, and counts the others.
fn join_limited(texts: &[String], limit: usize) -> Option<String> {
    let mut joined = String::new();
    for (at, text) in texts.iter().enumerate() {
        if joined.chars().count() + text.chars().count() > limit {
            joined.push_str(&format!("(instructions of {} more servers)\n\n", texts.len() - at));
            break;
        }
        joined.push_str(&format!("{text}\n\n"));
    }
    let joined = joined.trim_end();
    (!joined.is_empty()).then(|| joined.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_beyond_the_limit_are_counted() {
        let texts = ["# a\n\nx".to_owned(), "# b\n\ny".to_owned(), "# c\n\nz".to_owned()];
        let all = "# a\n\nx\n\n# b\n\ny\n\n# c\n\nz";
        assert_eq!(join_limited(&texts, 100).as_deref(), Some(all));
        let some = "# a\n\nx\n\n(instructions of 2 more servers)";
        assert_eq!(join_limited(&texts, 10).as_deref(), Some(some));
        assert_eq!(join_limited(&[], 10), None);
    }
}
