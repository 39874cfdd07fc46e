//! Checks that the first line of every Rust file states its purpose.

use super::File;

pub(super) fn check(files: &[File]) -> Vec<String> {
    files
        .iter()
        .filter(|file| file.is_rust() && !has_header(&file.text))
        .map(|file| file.problem(0, "the first line must be `//!` with the purpose of the file"))
        .collect()
}

fn has_header(text: &str) -> bool {
    text.lines()
        .next()
        .and_then(|line| line.strip_prefix("//!"))
        .is_some_and(|purpose| !purpose.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::super::file;
    use super::check;

    #[test]
    fn requires_a_purpose_in_the_first_line() {
        let files = [
            file("crates/a/src/good.rs", "//! Says why.\n"),
            file("crates/a/src/late.rs", "\n//! Says why.\n"),
            file("crates/a/src/mute.rs", "//!\n//! Says why.\n"),
            file("fuzz/empty.rs", ""),
            file("docs/other.rs", "fn main() {}\n"),
        ];
        let message = "the first line must be `//!` with the purpose of the file";
        assert_eq!(
            check(&files),
            [
                format!("crates/a/src/late.rs:1: {message}"),
                format!("crates/a/src/mute.rs:1: {message}"),
                format!("fuzz/empty.rs:1: {message}"),
            ]
        );
    }
}
