//! Checks that the repository has no absolute path of a home or working folder, and no
//! host of a package registry.

use super::File;

// `concat!` keeps the check from finding this file.
const FOLDERS: [&str; 3] = [concat!("/ho", "me/"), concat!("/ro", "ot/"), concat!("/wo", "rk/")];
const HOSTS: [&str; 4] = [
    concat!("index.", "crates.io"),
    concat!("static.", "crates.io"),
    concat!("registry.", "npmjs.org"),
    concat!("pypi", ".org"),
];

pub(super) fn check(files: &[File]) -> Vec<String> {
    let mut problems = Vec::new();
    // Cargo writes the registry of each crate into lock files.
    for file in files.iter().filter(|file| !file.path.ends_with("Cargo.lock")) {
        for (index, line) in file.text.lines().enumerate() {
            for folder in FOLDERS {
                if has_folder(line, folder) {
                    problems
                        .push(file.problem(index, &format!("`{folder}` is a path of one machine")));
                }
            }
            for host in HOSTS {
                if line.contains(host) {
                    problems
                        .push(file.problem(index, &format!("`{host}` is a host of a registry")));
                }
            }
        }
    }
    problems
}

/// Returns true if a line has an absolute path in this folder. A longer path or URL may
/// contain the same letters.
fn has_folder(line: &str, folder: &str) -> bool {
    line.match_indices(folder).any(|(at, _)| {
        !line[..at].ends_with(|before: char| before.is_alphanumeric() || "._-}".contains(before))
    })
}

#[cfg(test)]
mod tests {
    use super::super::file;
    use super::{FOLDERS, HOSTS, check};

    fn finds(path: &str, text: &str) -> bool {
        !check(&[file(path, text)]).is_empty()
    }

    #[test]
    fn rejects_paths_of_one_machine() {
        for folder in FOLDERS {
            assert!(finds("README.md", &format!("see {folder}me")));
            assert!(finds("README.md", &format!("file://{folder}me")));
            assert!(!finds("README.md", &format!("https://example.com{folder}me")));
            assert!(!finds("README.md", &format!("../docs{folder}me")));
        }
    }

    #[test]
    fn rejects_registry_hosts_except_in_lock_files() {
        for host in HOSTS {
            assert!(finds("docs/a.md", &format!("https://{host}/x")));
            assert!(!finds("Cargo.lock", &format!("https://{host}/x")));
        }
    }
}
