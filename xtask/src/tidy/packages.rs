//! Checks the manifests: a crate's folder has its name, and a published crate has the
//! metadata that crates.io shows.
//!
//! A field must be on one line, as in the manifests of this repository.

use super::File;

/// The categories of crates.io for our crates. crates.io ignores unknown ones.
const CATEGORIES: [&str; 11] = [
    "asynchronous",
    "authentication",
    "command-line-utilities",
    "data-structures",
    "development-tools",
    "development-tools::testing",
    "encoding",
    "network-programming",
    "parser-implementations",
    "text-processing",
    "web-programming",
];

/// The limits of crates.io.
const MAX_KEYWORDS: usize = 5;
const MAX_KEYWORD_LENGTH: usize = 20;
const MAX_CATEGORIES: usize = 5;

pub(super) fn check(files: &[File]) -> Vec<String> {
    let manifests = files.iter().filter_map(|file| Some((file, crate_folder(&file.path)?)));
    manifests
        .flat_map(|(file, folder)| {
            let problems = check_name(&file.text, folder).into_iter();
            let problems = problems.chain(check_metadata(&file.text));
            problems.map(|problem| format!("{}: {problem}", file.path)).collect::<Vec<_>>()
        })
        .collect()
}

/// Returns the folder of a manifest of a workspace crate.
fn crate_folder(path: &str) -> Option<&str> {
    let folder = path.strip_suffix("/Cargo.toml")?;
    match folder.strip_prefix("crates/").or_else(|| folder.strip_prefix("examples/")) {
        Some(name) => (!name.contains('/')).then_some(name),
        None => (folder == "xtask").then_some(folder),
    }
}

fn check_name(manifest: &str, folder: &str) -> Option<String> {
    match find_field(manifest, "name").and_then(parse_string) {
        Some(name) if name == folder => None,
        Some(name) => Some(format!("package `{name}` is in the folder `{folder}`")),
        None => Some("no package name".to_owned()),
    }
}

/// Checks the metadata for crates.io. An unpublished crate only needs a description.
fn check_metadata(manifest: &str) -> Vec<String> {
    let mut problems = Vec::new();
    if find_field(manifest, "description").and_then(parse_string).is_none_or(str::is_empty) {
        problems.push("no description".to_owned());
    }
    if find_field(manifest, "publish") == Some("false") {
        return problems;
    }
    let keywords = parse_list(manifest, "keywords");
    if keywords.is_empty() || keywords.len() > MAX_KEYWORDS {
        problems.push(format!("{} keywords, expected 1 to {MAX_KEYWORDS}", keywords.len()));
    }
    let is_long = |keyword: &&str| keyword.len() > MAX_KEYWORD_LENGTH;
    problems.extend(keywords.into_iter().filter(is_long).map(|keyword| {
        format!("keyword `{keyword}` has more than {MAX_KEYWORD_LENGTH} characters")
    }));
    let categories = parse_list(manifest, "categories");
    if categories.is_empty() || categories.len() > MAX_CATEGORIES {
        problems.push(format!("{} categories, expected 1 to {MAX_CATEGORIES}", categories.len()));
    }
    let is_unknown = |category: &&str| !CATEGORIES.contains(category);
    let unknown = categories.into_iter().filter(is_unknown);
    problems.extend(unknown.map(|category| format!("unknown category `{category}`")));
    problems
}

/// Returns the raw value of a field of the package.
fn find_field<'a>(manifest: &'a str, key: &str) -> Option<&'a str> {
    manifest
        .lines()
        .map(str::trim)
        .skip_while(|line| *line != "[package]")
        .skip(1)
        .take_while(|line| !line.starts_with('['))
        .find_map(|line| Some(line.strip_prefix(key)?.trim_start().strip_prefix('=')?.trim_start()))
}

/// Parses the string at the start of a value.
fn parse_string(value: &str) -> Option<&str> {
    value.strip_prefix('"')?.split('"').next()
}

/// Parses the strings of a list; none if the field is missing.
fn parse_list<'a>(manifest: &'a str, key: &str) -> Vec<&'a str> {
    // Every second part is between quotes.
    find_field(manifest, key)
        .into_iter()
        .flat_map(|value| value.split('"').skip(1).step_by(2))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::file;
    use super::{check, check_metadata};

    #[test]
    fn requires_the_folder_to_have_the_name_of_the_package() {
        let manifest = "[package]\nedition = \"2024\"\nname = \"a\"\ndescription = \"A\"\n\
                        publish = false\n\n[[bin]]\nname = \"b\"\n";
        let files = [
            file("Cargo.toml", "[workspace]\n"),
            file("crates/a/Cargo.toml", manifest),
            file("crates/b/Cargo.toml", manifest),
            file("crates/c/Cargo.toml", &manifest.replace("name = \"a\"\n", "")),
            file("crates/c/tests/golden/Cargo.toml", manifest),
            file("examples/a/Cargo.toml", manifest),
            file("examples/d/Cargo.toml", manifest),
        ];
        assert_eq!(
            check(&files),
            [
                "crates/b/Cargo.toml: package `a` is in the folder `b`",
                "crates/c/Cargo.toml: no package name",
                "examples/d/Cargo.toml: package `a` is in the folder `d`",
            ]
        );
    }

    #[test]
    fn requires_the_metadata_of_crates_io() {
        fn check(fields: &str, expected: &[&str]) {
            let manifest = format!("[package]\nname = \"a\"\n{fields}\n[lints]\n");
            assert_eq!(check_metadata(&manifest), expected, "{fields}");
        }
        let good =
            "description = \"A\"\nkeywords = [\"mcp\", \"yaml\"]\ncategories = [\"encoding\"]";
        check(good, &[]);
        check("description = \"A\"\npublish = false", &[]);
        check("publish = false", &["no description"]);
        check(
            "description = \"\"",
            &["no description", "0 keywords, expected 1 to 5", "0 categories, expected 1 to 5"],
        );
        check(
            &good.replace("\"mcp\"", "\"a\", \"b\", \"c\", \"d\", \"model-context-protocol\""),
            &[
                "6 keywords, expected 1 to 5",
                "keyword `model-context-protocol` has more than 20 characters",
            ],
        );
        check(&good.replace("encoding", "encodings"), &["unknown category `encodings`"]);
    }
}
