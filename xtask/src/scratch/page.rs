//! The README's part on the library: its tests, and what it shows of a failure.

use anyhow::{Context as _, Result, ensure};

/// The heading of that part.
pub(super) const HEADING: &str = "## Test a server in Rust";

/// What a block of Rust begins with, before the name of its file.
const NAME: &str = "// tests/";

/// What stands below the heading.
#[derive(Debug)]
pub(super) struct Page<'a> {
    /// The tests, in order.
    pub(super) tests: Vec<Test<'a>>,
    /// What is shown of a failure.
    pub(super) failure: &'a str,
}

/// A block of Rust.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Test<'a> {
    /// Its file's name, without folder and ending.
    pub(super) name: &'a str,
    /// All of it.
    pub(super) text: &'a str,
}

impl<'a> Page<'a> {
    /// Reads the part of the page.
    pub(super) fn read(readme: &'a str) -> Result<Self> {
        let (_, part) = readme
            .split_once(&format!("\n{HEADING}\n"))
            .with_context(|| format!("README.md has no `{HEADING}`"))?;
        let part = part.split_once("\n## ").map_or(part, |(part, _)| part);
        let blocks = blocks(part);
        let of = |kind| blocks.iter().filter(move |(found, _)| *found == kind);
        let tests: Vec<Test> =
            of("rust").map(|(_, text)| Test::read(text)).collect::<Result<_>>()?;
        ensure!(!tests.is_empty(), "README.md has no test in Rust below `{HEADING}`");
        let failure = of("text").map(|(_, text)| *text).next();
        let failure =
            failure.with_context(|| format!("README.md shows no failure below `{HEADING}`"))?;
        Ok(Page { tests, failure })
    }
}

impl<'a> Test<'a> {
    fn read(text: &'a str) -> Result<Self> {
        let first = text.lines().next().unwrap_or_default();
        let name = first.strip_prefix(NAME).and_then(|name| name.strip_suffix(".rs"));
        let name = name.with_context(|| {
            format!("a block of Rust in README.md begins with `{first}` instead of `{NAME}NAME.rs`")
        })?;
        Ok(Test { name, text })
    }
}

/// The blocks of code, with their languages.
fn blocks(text: &str) -> Vec<(&str, &str)> {
    text.split("\n```")
        .skip(1)
        .step_by(2)
        .map(|block| block.split_once('\n').unwrap_or((block, "")))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{HEADING, Page, Test};

    fn check(part: &str, expected: Result<(&[Test], &str), &str>) {
        let readme = format!("# It\n\n{HEADING}\n{part}\n## More\n\n```rust\nfn no() {{}}\n```\n");
        let found = Page::read(&readme);
        let found = found.as_ref().map(|page| (&*page.tests, page.failure));
        assert_eq!(found.map_err(ToString::to_string), expected.map_err(str::to_owned));
    }

    #[test]
    fn finds_the_tests_below_the_heading_and_the_failure() {
        check(
            "\n```sh\ncargo add it\n```\n\n```rust\n// tests/a.rs\nfn a() {}\n```\nWords.\n\n```rust\n// tests/b.rs\n```\n\n```text\nno\n```\n",
            Ok((
                &[
                    Test { name: "a", text: "// tests/a.rs\nfn a() {}" },
                    Test { name: "b", text: "// tests/b.rs" },
                ],
                "no",
            )),
        );
    }

    #[test]
    fn wants_tests_with_names_and_a_failure() {
        check("\n", Err("README.md has no test in Rust below `## Test a server in Rust`"));
        check(
            "\n```rust\nfn a() {}\n```\n",
            Err(
                "a block of Rust in README.md begins with `fn a() {}` instead of `// tests/NAME.rs`",
            ),
        );
        check(
            "\n```rust\n// tests/a.rs\n```\n",
            Err("README.md shows no failure below `## Test a server in Rust`"),
        );
    }
}
