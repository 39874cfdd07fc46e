//! Images made of programs that are on this machine, each with the libraries
//! that it is linked to, and of nothing else.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use crate::command::{command, run};

/// Where our own server is in each image.
pub(super) const SERVER: &str = "/bin/server";

/// An image to be.
pub(super) struct Image {
    pub(super) name: &'static str,
    /// Where each file comes from, and where it goes.
    files: Vec<(PathBuf, PathBuf)>,
}

/// Where the program of the example `instructions` and its files are.
const INSTRUCTIONS: [(&str, &str); 2] = [
    ("target/debug/instructions-server", "/bin/instructions-server"),
    ("examples/instructions/knowledge", "/knowledge"),
];

/// Our servers, and what ignores its stdin; no shell, no `kill`.
pub(super) fn bare(root: &Path) -> Result<Image> {
    let server = root.join("target/debug/examples/stdio_server");
    let mut files = vec![(server, PathBuf::from(SERVER))];
    for (from, to) in INSTRUCTIONS {
        files.extend(below(&root.join(from), Path::new(to))?);
    }
    files.extend(["sleep", "env"].map(program).into_iter().collect::<Result<Vec<_>>>()?);
    Image { name: "bare", files }.with_libraries()
}

/// The same, and a shell.
pub(super) fn with_shell(root: &Path) -> Result<Image> {
    let mut image = Image { name: "shell", ..bare(root)? };
    image.files.push(program("sh")?);
    image.with_libraries()
}

impl Image {
    fn with_libraries(mut self) -> Result<Image> {
        let mut libraries = BTreeSet::new();
        for (from, _) in &self.files {
            let output = Command::new("ldd").arg(from).output().context("starting ldd")?;
            libraries.extend(paths(&String::from_utf8_lossy(&output.stdout)));
        }
        self.files.extend(libraries.into_iter().map(|path| (path.clone(), path)));
        Ok(self)
    }

    /// Writes it as a file that an engine can import.
    pub(super) fn tar(&self, below: &Path) -> Result<PathBuf> {
        let folder = below.join(self.name);
        for (from, to) in &self.files {
            let to = folder.join(to.strip_prefix("/").unwrap_or(to));
            fs::create_dir_all(to.parent().unwrap_or(&folder))?;
            fs::copy(from, &to).with_context(|| format!("copying {}", from.display()))?;
        }
        fs::create_dir_all(folder.join("tmp"))?;
        let tar = below.join(format!("{}.tar", self.name));
        let mut pack = command(below, "tar --create --file");
        pack.arg(&tar).arg("--directory").arg(&folder).arg(".");
        run(pack)?;
        Ok(tar)
    }
}

/// A file, or all files below a folder, with where they go.
fn below(from: &Path, to: &Path) -> Result<Vec<(PathBuf, PathBuf)>> {
    if !from.is_dir() {
        return Ok(vec![(from.to_owned(), to.to_owned())]);
    }
    let mut files = Vec::new();
    for entry in fs::read_dir(from).with_context(|| format!("reading {}", from.display()))? {
        let entry = entry?;
        files.extend(below(&entry.path(), &to.join(entry.file_name()))?);
    }
    Ok(files)
}

fn program(name: &str) -> Result<(PathBuf, PathBuf)> {
    let folders = ["/bin", "/usr/bin"].map(|folder| Path::new(folder).join(name));
    let found = folders.into_iter().find(|path| path.exists());
    let from = found.with_context(|| format!("`{name}` is neither in /bin nor in /usr/bin"))?;
    ensure!(from.is_file(), "{} is no file", from.display());
    Ok((from, Path::new("/bin").join(name)))
}

/// The absolute paths in what `ldd` prints: `libc.so.6 => /lib/libc.so.6 (0x…)`.
fn paths(text: &str) -> Vec<PathBuf> {
    let words = text.split_whitespace().filter(|word| word.starts_with('/'));
    words.map(PathBuf::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_read_from_what_ldd_prints() {
        let text = "\tlinux-vdso.so.1 (0x7f)\n\tlibc.so.6 => /lib/libc.so.6 (0x7f)\n\t/lib64/ld.so (0x7f)\n";
        assert_eq!(paths(text), [Path::new("/lib/libc.so.6"), Path::new("/lib64/ld.so")]);
        assert!(paths("\tnot a dynamic executable\n").is_empty());
    }

    #[test]
    fn all_files_below_a_folder_keep_their_places() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let (from, to) = INSTRUCTIONS[1];
        let files = below(&root.join(from), Path::new(to)).unwrap();
        let one = "learning/learning-loop.md";
        let expected = (root.join(from).join(one), Path::new(to).join(one));
        assert!(files.contains(&expected), "{files:?}");
        assert_eq!(below(&expected.0, &expected.1).unwrap(), [expected]);
    }
}
