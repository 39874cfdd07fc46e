//! What a manifest says about its crate: the folder has the crate's name, so that
//! either leads to the other, and a published crate has what crates.io shows.
//!
//! Only manifests in our own layout are read: a field on one line.

use super::File;

/// The categories of crates.io that fit our crates. crates.io drops any other word.
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
    let manifests = files.iter().filter_map(|file| Some((file, folder(&file.path)?)));
    manifests
        .flat_map(|(file, folder)| {
            let problems = name(&file.text, folder).into_iter().chain(metadata(&file.text));
            problems.map(|problem| format!("{}: {problem}", file.path)).collect::<Vec<_>>()
        })
        .collect()
}

/// The folder of a manifest that is a crate of the workspace.
fn folder(path: &str) -> Option<&str> {
    let folder = path.strip_suffix("/Cargo.toml")?;
    match folder.strip_prefix("crates/").or_else(|| folder.strip_prefix("examples/")) {
        Some(name) => (!name.contains('/')).then_some(name),
        None => (folder == "xtask").then_some(folder),
    }
}

/// The problem with the package's name.
fn name(manifest: &str, folder: &str) -> Option<String> {
    match field(manifest, "name").and_then(text) {
        Some(name) if name == folder => None,
        Some(name) => Some(format!("package `{name}` lies in `{folder}`")),
        None => Some("no package name".to_owned()),
    }
}

/// The problems with what crates.io shows. A crate that is not published only needs
/// a description.
fn metadata(manifest: &str) -> Vec<String> {
    let mut problems = Vec::new();
    if field(manifest, "description").and_then(text).is_none_or(str::is_empty) {
        problems.push("no description".to_owned());
    }
    if field(manifest, "publish") == Some("false") {
        return problems;
    }
    let keywords = list(manifest, "keywords");
    if keywords.is_empty() || keywords.len() > MAX_KEYWORDS {
        problems.push(format!("{} keywords; wanted: 1 to {MAX_KEYWORDS}", keywords.len()));
    }
    let is_long = |keyword: &&str| keyword.len() > MAX_KEYWORD_LENGTH;
    problems.extend(keywords.into_iter().filter(is_long).map(|keyword| {
        format!("the keyword `{keyword}` has more than {MAX_KEYWORD_LENGTH} characters")
    }));
    let categories = list(manifest, "categories");
    if categories.is_empty() || categories.len() > MAX_CATEGORIES {
        problems.push(format!("{} categories; wanted: 1 to {MAX_CATEGORIES}", categories.len()));
    }
    let is_unknown = |category: &&str| !CATEGORIES.contains(category);
    let unknown = categories.into_iter().filter(is_unknown);
    problems.extend(unknown.map(|category| format!("unknown category `{category}`")));
    problems
}

/// The value of a field of the package, as it is written.
fn field<'a>(manifest: &'a str, key: &str) -> Option<&'a str> {
    manifest
        .lines()
        .map(str::trim)
        .skip_while(|line| *line != "[package]")
        .skip(1)
        .take_while(|line| !line.starts_with('['))
        .find_map(|line| Some(line.strip_prefix(key)?.trim_start().strip_prefix('=')?.trim_start()))
}

/// The text that a value begins with.
fn text(value: &str) -> Option<&str> {
    value.strip_prefix('"')?.split('"').next()
}

/// The texts of a list; none where the field is missing.
fn list<'a>(manifest: &'a str, key: &str) -> Vec<&'a str> {
    // Between quotes stands every second part.
    field(manifest, key).into_iter().flat_map(|value| value.split('"').skip(1).step_by(2)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::file;
    use super::{check, metadata};

    #[test]
    fn wants_the_folder_named_like_the_package() {
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
                "crates/b/Cargo.toml: package `a` lies in `b`",
                "crates/c/Cargo.toml: no package name",
                "examples/d/Cargo.toml: package `a` lies in `d`",
            ]
        );
    }

    #[test]
    fn wants_what_crates_io_shows() {
        fn check(fields: &str, expected: &[&str]) {
            let manifest = format!("[package]\nname = \"a\"\n{fields}\n[lints]\n");
            assert_eq!(metadata(&manifest), expected, "{fields}");
        }
        let good =
            "description = \"A\"\nkeywords = [\"mcp\", \"yaml\"]\ncategories = [\"encoding\"]";
        check(good, &[]);
        check("description = \"A\"\npublish = false", &[]);
        check("publish = false", &["no description"]);
        check(
            "description = \"\"",
            &["no description", "0 keywords; wanted: 1 to 5", "0 categories; wanted: 1 to 5"],
        );
        check(
            &good.replace("\"mcp\"", "\"a\", \"b\", \"c\", \"d\", \"model-context-protocol\""),
            &[
                "6 keywords; wanted: 1 to 5",
                "the keyword `model-context-protocol` has more than 20 characters",
            ],
        );
        check(&good.replace("encoding", "encodings"), &["unknown category `encodings`"]);
    }
}
