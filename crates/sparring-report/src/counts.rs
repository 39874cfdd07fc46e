//! Numbers of things, in words.

/// A number of things.
pub(crate) fn of(count: usize, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        _ => format!("{count} {what}s"),
    }
}
