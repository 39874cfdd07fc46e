//! Parses the README's section on the library: its tests, and the failure it shows.

use anyhow::{Context as _, Result, ensure};

/// The heading of the section.
pub(super) const HEADING: &str = "## Test a server in Rust";

/// The start of the first line of a Rust block, before the file name.
const NAME_PREFIX: &str = "// tests/";

/// The section below the heading.
#[derive(Debug)]
pub(super) struct ReadmeSection<'a> {
    /// The tests, in order.
    pub(super) tests: Vec<RustBlock<'a>>,
    /// The failure that it shows.
    pub(super) failure: &'a str,
}

/// A block of Rust code.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct RustBlock<'a> {
    /// The file name without folder and extension.
    pub(super) name: &'a str,
    /// The whole text.
    pub(super) text: &'a str,
}

impl<'a> ReadmeSection<'a> {
    /// Parses the section of the README.
    pub(super) fn parse(readme: &'a str) -> Result<Self> {
        let (_, part) = readme
            .split_once(&format!("\n{HEADING}\n"))
            .with_context(|| format!("README.md has no `{HEADING}`"))?;
        let part = part.split_once("\n## ").map_or(part, |(part, _)| part);
        let blocks = parse_blocks(part);
        let of_language = |kind| blocks.iter().filter(move |(found, _)| *found == kind);
        let tests: Vec<RustBlock> =
            of_language("rust").map(|(_, text)| RustBlock::parse(text)).collect::<Result<_>>()?;
        ensure!(!tests.is_empty(), "README.md has no test in Rust below `{HEADING}`");
        let failure = of_language("text").map(|(_, text)| *text).next();
        let failure =
            failure.with_context(|| format!("README.md shows no failure below `{HEADING}`"))?;
        Ok(ReadmeSection { tests, failure })
    }
}

impl<'a> RustBlock<'a> {
    fn parse(text: &'a str) -> Result<Self> {
        let first = text.lines().next().unwrap_or_default();
        let name = first.strip_prefix(NAME_PREFIX).and_then(|name| name.strip_suffix(".rs"));
        let name = name.with_context(|| {
            format!(
                "a Rust block in README.md starts with `{first}` instead of `{NAME_PREFIX}NAME.rs`"
            )
        })?;
        Ok(RustBlock { name, text })
    }
}

/// Returns the code blocks with their languages.
fn parse_blocks(text: &str) -> Vec<(&str, &str)> {
    text.split("\n```")
        .skip(1)
        .step_by(2)
        .map(|block| block.split_once('\n').unwrap_or((block, "")))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{HEADING, ReadmeSection, RustBlock};

    fn check(part: &str, expected: Result<(&[RustBlock], &str), &str>) {
        let readme = format!("# It\n\n{HEADING}\n{part}\n## More\n\n```rust\nfn no() {{}}\n```\n");
        let found = ReadmeSection::parse(&readme);
        let found = found.as_ref().map(|page| (&*page.tests, page.failure));
        assert_eq!(found.map_err(ToString::to_string), expected.map_err(str::to_owned));
    }

    #[test]
    fn finds_the_tests_below_the_heading_and_the_failure() {
        check(
            "\n```sh\ncargo add it\n```\n\n```rust\n// tests/a.rs\nfn a() {}\n```\nWords.\n\n```rust\n// tests/b.rs\n```\n\n```text\nno\n```\n",
            Ok((
                &[
                    RustBlock { name: "a", text: "// tests/a.rs\nfn a() {}" },
                    RustBlock { name: "b", text: "// tests/b.rs" },
                ],
                "no",
            )),
        );
    }

    #[test]
    fn requires_named_tests_and_a_failure() {
        check("\n", Err("README.md has no test in Rust below `## Test a server in Rust`"));
        check(
            "\n```rust\nfn a() {}\n```\n",
            Err("a Rust block in README.md starts with `fn a() {}` instead of `// tests/NAME.rs`"),
        );
        check(
            "\n```rust\n// tests/a.rs\n```\n",
            Err("README.md shows no failure below `## Test a server in Rust`"),
        );
    }
}
