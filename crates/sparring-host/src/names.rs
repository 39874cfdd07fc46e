//! What servers and tools are called where many stand beside each other:
//! `mcp__server__tool`, in the characters that every model's API takes.

/// A name with `_` in place of every character but ASCII letters, digits, `_`
/// and `-`.
pub fn sanitized(name: &str) -> String {
    let kept = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    name.chars().map(|c| if kept(c) { c } else { '_' }).collect()
}
