//! Checks that no Rust file or folder has a vague name.

use super::File;

const VAGUE_NAMES: [&str; 4] = ["utils", "common", "misc", "helpers"];

pub(super) fn check(files: &[File]) -> Vec<String> {
    files
        .iter()
        .filter(|file| file.is_rust())
        .filter_map(|file| {
            let name = file
                .path
                .split('/')
                .map(|part| part.trim_end_matches(".rs"))
                .find(|part| VAGUE_NAMES.contains(part))?;
            let path = &file.path;
            Some(format!("{path}: `{name}` does not say what is in it"))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::file;
    use super::check;

    #[test]
    fn rejects_vague_names_of_files_and_folders() {
        let files = [
            file("crates/a/src/utils.rs", ""),
            file("crates/a/tests/common/mod.rs", ""),
            file("crates/a/src/common_ground.rs", ""),
        ];
        assert_eq!(
            check(&files),
            [
                "crates/a/src/utils.rs: `utils` does not say what is in it",
                "crates/a/tests/common/mod.rs: `common` does not say what is in it",
            ]
        );
    }
}
