//! No Rust file grows past what a reader can hold in mind.

use super::File;

const MOST_LINES: usize = 800;

pub(super) fn check(files: &[File]) -> Vec<String> {
    files
        .iter()
        .filter(|file| file.is_rust())
        .filter_map(|file| {
            let lines = file.text.lines().count();
            let path = &file.path;
            (lines > MOST_LINES)
                .then(|| format!("{path}: {lines} lines; split it before {MOST_LINES}"))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::file;
    use super::check;

    #[test]
    fn refuses_more_than_800_lines() {
        let files = [
            file("crates/a/src/full.rs", &"\n".repeat(800)),
            file("crates/a/src/over.rs", &"\n".repeat(801)),
            file("docs/long.md", &"\n".repeat(801)),
        ];
        assert_eq!(check(&files), ["crates/a/src/over.rs: 801 lines; split it before 800"]);
    }
}
