//! Nothing in the repository depends on the machine it was written on: no
//! absolute path of a home or working folder, no host of a package registry.

use super::File;

// The pieces are joined by the compiler, or this file would find itself.
const FOLDERS: [&str; 3] = [concat!("/ho", "me/"), concat!("/ro", "ot/"), concat!("/wo", "rk/")];
const HOSTS: [&str; 4] = [
    concat!("index.", "crates.io"),
    concat!("static.", "crates.io"),
    concat!("registry.", "npmjs.org"),
    concat!("pypi", ".org"),
];

pub(super) fn check(files: &[File]) -> Vec<String> {
    let mut problems = Vec::new();
    // Cargo writes lock files, and with them where a crate came from.
    for file in files.iter().filter(|file| !file.path.ends_with("Cargo.lock")) {
        for (index, line) in file.text.lines().enumerate() {
            for folder in FOLDERS {
                if has_folder(line, folder) {
                    problems.push(file.problem(index, &format!("`{folder}` is a machine's path")));
                }
            }
            for host in HOSTS {
                if line.contains(host) {
                    problems.push(file.problem(index, &format!("`{host}` is a registry's host")));
                }
            }
        }
    }
    problems
}

/// Whether an absolute path begins with this folder somewhere in the line. In
/// the middle of a longer path or URL the same letters mean nothing.
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
    fn refuses_paths_of_a_machine() {
        for folder in FOLDERS {
            assert!(finds("README.md", &format!("see {folder}me")));
            assert!(finds("README.md", &format!("file://{folder}me")));
            assert!(!finds("README.md", &format!("https://example.com{folder}me")));
            assert!(!finds("README.md", &format!("../docs{folder}me")));
        }
    }

    #[test]
    fn refuses_registry_hosts_but_in_lock_files() {
        for host in HOSTS {
            assert!(finds("docs/a.md", &format!("https://{host}/x")));
            assert!(!finds("Cargo.lock", &format!("https://{host}/x")));
        }
    }
}
