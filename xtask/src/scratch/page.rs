//! Parses the first section of the page about the library: its tests, and the failure it
//! shows.

use anyhow::{Context as _, Result, ensure};

/// The page.
pub(super) const PAGE: &str = "docs/library.md";

/// The heading of the section.
const HEADING: &str = "## A first test";

/// The language of the tests, which are no doc tests: they are whole files.
const LANGUAGE: &str = "rust,ignore";

/// The start of the first line of a Rust block, before the file name.
const NAME_PREFIX: &str = "// tests/";

/// The section below the heading.
#[derive(Debug)]
pub(super) struct FirstTests<'a> {
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

impl<'a> FirstTests<'a> {
    /// Parses the section of the page.
    pub(super) fn parse(page: &'a str) -> Result<Self> {
        let (_, part) = page
            .split_once(&format!("\n{HEADING}\n"))
            .with_context(|| format!("{PAGE} has no `{HEADING}`"))?;
        let part = part.split_once("\n## ").map_or(part, |(part, _)| part);
        let blocks = parse_blocks(part);
        let of_language = |kind| blocks.iter().filter(move |(found, _)| *found == kind);
        let tests: Vec<RustBlock> =
            of_language(LANGUAGE).map(|(_, text)| RustBlock::parse(text)).collect::<Result<_>>()?;
        ensure!(!tests.is_empty(), "{PAGE} has no test in Rust below `{HEADING}`");
        let failure = of_language("text").map(|(_, text)| *text).next();
        let failure =
            failure.with_context(|| format!("{PAGE} shows no failure below `{HEADING}`"))?;
        Ok(FirstTests { tests, failure })
    }
}

impl<'a> RustBlock<'a> {
    fn parse(text: &'a str) -> Result<Self> {
        let first = text.lines().next().unwrap_or_default();
        let name = first.strip_prefix(NAME_PREFIX).and_then(|name| name.strip_suffix(".rs"));
        let name = name.with_context(|| {
            format!(
                "a Rust block in {PAGE} starts with `{first}` instead of `{NAME_PREFIX}NAME.rs`"
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
    use super::{FirstTests, HEADING, RustBlock};

    fn check(part: &str, expected: Result<(&[RustBlock], &str), &str>) {
        let page =
            format!("# It\n\n{HEADING}\n{part}\n## More\n\n```rust,ignore\nfn no() {{}}\n```\n");
        let found = FirstTests::parse(&page);
        let found = found.as_ref().map(|page| (&*page.tests, page.failure));
        assert_eq!(found.map_err(ToString::to_string), expected.map_err(str::to_owned));
    }

    #[test]
    fn finds_the_tests_below_the_heading_and_the_failure() {
        check(
            "\n```sh\ncargo add it\n```\n\n```rust,ignore\n// tests/a.rs\nfn a() {}\n```\nWords.\n\n```rust,ignore\n// tests/b.rs\n```\n\n```text\nno\n```\n",
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
        check("\n", Err("docs/library.md has no test in Rust below `## A first test`"));
        check(
            "\n```rust,ignore\nfn a() {}\n```\n",
            Err(
                "a Rust block in docs/library.md starts with `fn a() {}` instead of `// tests/NAME.rs`",
            ),
        );
        check(
            "\n```rust,ignore\n// tests/a.rs\n```\n",
            Err("docs/library.md shows no failure below `## A first test`"),
        );
    }
}
