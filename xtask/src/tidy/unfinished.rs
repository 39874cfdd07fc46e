//! Checks that no code is unfinished, no test is disabled, and no test sleeps.

use super::File;

// `concat!` keeps the check from finding this file.
const ANYWHERE: [&str; 3] =
    [concat!("to", "do!("), concat!("unimple", "mented!("), concat!("#[ig", "nore")];
const IN_TESTS: [&str; 2] = [concat!("thread::", "sleep"), concat!("tokio::time::", "sleep")];

pub(super) fn check(files: &[File]) -> Vec<String> {
    let mut problems = Vec::new();
    for file in files.iter().filter(|file| file.is_rust()) {
        let in_tests: &[&str] = if is_test(&file.path) { &IN_TESTS } else { &[] };
        for (index, line) in file.text.lines().enumerate() {
            for needle in ANYWHERE.iter().chain(in_tests) {
                if line.contains(needle) {
                    problems.push(file.problem(index, &format!("`{needle}` is not allowed here")));
                }
            }
        }
    }
    problems
}

/// Returns true if the file only has tests.
fn is_test(path: &str) -> bool {
    path.split('/').any(|part| part == "tests" || part == "tests.rs")
}

#[cfg(test)]
mod tests {
    use super::super::file;
    use super::{ANYWHERE, IN_TESTS, check};

    fn finds(path: &str, needle: &str) -> bool {
        !check(&[file(path, &format!("//! Why.\n    {needle}"))]).is_empty()
    }

    #[test]
    fn rejects_unfinished_code_anywhere() {
        for needle in ANYWHERE {
            assert!(finds("crates/a/src/a.rs", needle), "{needle}");
            assert!(finds("crates/a/tests/it/a.rs", needle), "{needle}");
        }
    }

    #[test]
    fn rejects_sleep_in_tests_only() {
        for needle in IN_TESTS {
            assert!(!finds("crates/a/src/a.rs", needle), "{needle}");
            assert!(finds("crates/a/src/a/tests.rs", needle), "{needle}");
            assert!(finds("crates/a/tests/it/a.rs", needle), "{needle}");
        }
    }

    #[test]
    fn names_the_line() {
        let text = format!("//! Why.\n{}", ANYWHERE[0]);
        let problems = check(&[file("xtask/src/a.rs", &text)]);
        assert!(problems[0].starts_with("xtask/src/a.rs:2: "));
    }
}
