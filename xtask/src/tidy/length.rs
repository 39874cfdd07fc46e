//! Checks that no Rust file is too long.

use super::File;

const MAX_LINES: usize = 800;

pub(super) fn check(files: &[File]) -> Vec<String> {
    files
        .iter()
        .filter(|file| file.is_rust())
        .filter_map(|file| {
            let lines = file.text.lines().count();
            let path = &file.path;
            (lines > MAX_LINES)
                .then(|| format!("{path}: {lines} lines, more than {MAX_LINES}; split it"))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::file;
    use super::check;

    #[test]
    fn rejects_more_than_800_lines() {
        let files = [
            file("crates/a/src/full.rs", &"\n".repeat(800)),
            file("crates/a/src/over.rs", &"\n".repeat(801)),
            file("docs/long.md", &"\n".repeat(801)),
        ];
        assert_eq!(check(&files), ["crates/a/src/over.rs: 801 lines, more than 800; split it"]);
    }
}
