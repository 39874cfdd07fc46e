//! A crate's folder has the crate's name, so that either leads to the other.

use super::File;

pub(super) fn check(files: &[File]) -> Vec<String> {
    files
        .iter()
        .filter_map(|file| {
            let folder = folder(&file.path)?;
            let path = &file.path;
            match package_name(&file.text) {
                Some(name) if name == folder => None,
                Some(name) => Some(format!("{path}: package `{name}` lies in `{folder}`")),
                None => Some(format!("{path}: no package name")),
            }
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

fn package_name(manifest: &str) -> Option<&str> {
    manifest
        .lines()
        .map(str::trim)
        .skip_while(|line| *line != "[package]")
        .skip(1)
        .take_while(|line| !line.starts_with('['))
        .find_map(|line| {
            let value = line.strip_prefix("name")?.trim_start().strip_prefix('=')?;
            value.trim_start().strip_prefix('"')?.split('"').next()
        })
}

#[cfg(test)]
mod tests {
    use super::super::file;
    use super::check;

    #[test]
    fn wants_the_folder_named_like_the_package() {
        let manifest = "[package]\nedition = \"2024\"\nname = \"a\"\n\n[[bin]]\nname = \"b\"\n";
        let files = [
            file("Cargo.toml", "[workspace]\n"),
            file("crates/a/Cargo.toml", manifest),
            file("crates/b/Cargo.toml", manifest),
            file("crates/c/Cargo.toml", "[[bin]]\nname = \"c\"\n"),
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
}
