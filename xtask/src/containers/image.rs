//! Images made from programs of this machine and the libraries that they link to.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use crate::command::{command, run};

/// The path of our server in each image.
pub(super) const SERVER: &str = "/bin/server";

/// The files of an image.
pub(super) struct Image {
    pub(super) name: &'static str,
    /// Source and destination of each file.
    files: Vec<(PathBuf, PathBuf)>,
}

/// Source and destination of the example `instructions` and its files.
const INSTRUCTIONS: [(&str, &str); 2] = [
    ("target/debug/instructions-server", "/bin/instructions-server"),
    ("examples/instructions/knowledge", "/knowledge"),
];

/// Our servers, and a program that ignores its stdin; no shell and no `kill`.
pub(super) fn bare(root: &Path) -> Result<Image> {
    let server = root.join("target/debug/examples/stdio_server");
    let mut files = vec![(server, PathBuf::from(SERVER))];
    for (from, to) in INSTRUCTIONS {
        files.extend(list_files(&root.join(from), Path::new(to))?);
    }
    files.extend(["sleep", "env"].map(find_program).into_iter().collect::<Result<Vec<_>>>()?);
    Image { name: "bare", files }.with_libraries()
}

/// The same with a shell.
pub(super) fn with_shell(root: &Path) -> Result<Image> {
    let mut image = Image { name: "shell", ..bare(root)? };
    image.files.push(find_program("sh")?);
    image.with_libraries()
}

impl Image {
    fn with_libraries(mut self) -> Result<Image> {
        let mut libraries = BTreeSet::new();
        for (from, _) in &self.files {
            let output = Command::new("ldd").arg(from).output().context("starting ldd")?;
            libraries.extend(parse_libraries(&String::from_utf8_lossy(&output.stdout)));
        }
        self.files.extend(libraries.into_iter().map(|path| (path.clone(), path)));
        Ok(self)
    }

    /// Writes the image as an archive that an engine can import.
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

/// Lists a file, or all files below a folder, with their destinations.
fn list_files(from: &Path, to: &Path) -> Result<Vec<(PathBuf, PathBuf)>> {
    if !from.is_dir() {
        return Ok(vec![(from.to_owned(), to.to_owned())]);
    }
    let mut files = Vec::new();
    for entry in fs::read_dir(from).with_context(|| format!("reading {}", from.display()))? {
        let entry = entry?;
        files.extend(list_files(&entry.path(), &to.join(entry.file_name()))?);
    }
    Ok(files)
}

fn find_program(name: &str) -> Result<(PathBuf, PathBuf)> {
    let folders = ["/bin", "/usr/bin"].map(|folder| Path::new(folder).join(name));
    let found = folders.into_iter().find(|path| path.exists());
    let from = found.with_context(|| format!("no such program: `{name}` in /bin or /usr/bin"))?;
    ensure!(from.is_file(), "{} is not a file", from.display());
    Ok((from, Path::new("/bin").join(name)))
}

/// Parses the absolute paths in the output of `ldd`: `libc.so.6 => /lib/libc.so.6 (0x…)`.
fn parse_libraries(text: &str) -> Vec<PathBuf> {
    let words = text.split_whitespace().filter(|word| word.starts_with('/'));
    words.map(PathBuf::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_the_libraries_of_ldd() {
        let text = "\tlinux-vdso.so.1 (0x7f)\n\tlibc.so.6 => /lib/libc.so.6 (0x7f)\n\t/lib64/ld.so (0x7f)\n";
        assert_eq!(parse_libraries(text), [Path::new("/lib/libc.so.6"), Path::new("/lib64/ld.so")]);
        assert!(parse_libraries("\tnot a dynamic executable\n").is_empty());
    }

    #[test]
    fn files_below_a_folder_keep_their_relative_paths() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let (from, to) = INSTRUCTIONS[1];
        let files = list_files(&root.join(from), Path::new(to)).unwrap();
        let one = "learning/learning-loop.md";
        let expected = (root.join(from).join(one), Path::new(to).join(one));
        assert!(files.contains(&expected), "{files:?}");
        assert_eq!(list_files(&expected.0, &expected.1).unwrap(), [expected]);
    }
}
