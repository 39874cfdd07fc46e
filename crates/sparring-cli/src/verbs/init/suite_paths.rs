//! The paths of a command, relative to the folder of its suite.

use std::path::{Component, Path, PathBuf};

use sparring_transport::ChildTarget;

/// Makes the program and the working directory of a command relative to the suite's
/// folder. `resolved` is the same command with the values of its variables.
///
/// A suite resolves both from its own folder (see `run/connect.rs` of `sparring-suite`).
pub(super) fn make_relative(command: &mut ChildTarget, resolved: &ChildTarget, folder: &Path) {
    let folder = canonical(folder);
    let cwd = canonical(resolved.cwd.as_deref().unwrap_or(Path::new(".")));
    let program = Path::new(&resolved.program);
    if command.program == resolved.program && program.is_relative() && names_a_path(program) {
        let program = relative(&folder, &normalized(&cwd.join(program)));
        let program = program.display().to_string();
        command.program = match program.contains('/') {
            true => program,
            false => format!("./{program}"),
        };
    }
    if command.cwd == resolved.cwd {
        command.cwd = (cwd != folder).then(|| relative(&folder, &cwd));
    }
}

/// Returns false if a program is looked up on the PATH.
fn names_a_path(program: &Path) -> bool {
    program.as_os_str().to_string_lossy().contains('/')
}

/// Returns the path without symbolic links. Its last folders need not exist.
fn canonical(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let found = path.ancestors().find_map(|it| Some((it, it.canonicalize().ok()?)));
    let Some((existing, found)) = found else { return normalized(&path) };
    normalized(&found.join(path.strip_prefix(existing).unwrap_or(Path::new(""))))
}

/// Removes `.` and `..`.
fn normalized(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => drop(plain.pop()),
            other => plain.push(other),
        }
    }
    plain
}

/// Returns the way from a folder to a path; the path itself if they share only the root.
fn relative(folder: &Path, path: &Path) -> PathBuf {
    let shared = folder.components().zip(path.components()).take_while(|(a, b)| a == b).count();
    if shared <= 1 {
        return path.to_owned();
    }
    let up = folder.components().skip(shared).map(|_| Component::ParentDir);
    up.chain(path.components().skip(shared)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(folder: &str, cwd: &str, program: &str, expected: (&str, Option<&str>)) {
        let mut command = ChildTarget::new(program);
        command.cwd = Some(cwd.into());
        let resolved = command.clone();
        make_relative(&mut command, &resolved, Path::new(folder));
        let cwd = command.cwd.as_ref().map(|cwd| cwd.to_str().unwrap());
        assert_eq!((&*command.program, cwd), expected);
    }

    #[test]
    fn leads_from_the_suite_to_the_command() {
        check("/none/a/tests", "/none/a", "./server", ("../server", Some("..")));
        check("/none/a/tests", "/none/a", "bin/server", ("../bin/server", Some("..")));
        check("/none/a", "/none/a", "./server", ("./server", None));
        check("/none/a", "/none/a/b", "./server", ("b/server", Some("b")));
        check("/none/a", "/none/a/b", "../server", ("./server", Some("b")));
        check("/none/a/tests", "/none/a", "python", ("python", Some("..")));
        check("/none/a/tests", "/none/a", "/bin/sh", ("/bin/sh", Some("..")));
        check("/none/a", "/other/b", "./server", ("/other/b/server", Some("/other/b")));
    }

    #[test]
    fn keeps_a_path_with_a_variable() {
        let mut command = ChildTarget::new("${HOME}/server");
        let resolved = ChildTarget::new("/none/server");
        make_relative(&mut command, &resolved, Path::new("."));
        assert_eq!(command, ChildTarget::new("${HOME}/server"));
    }
}
