//! Podman with a separate data folder, and its containers.

use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};

use super::image;
use crate::command::{print_command, run, succeeds};

/// Runs a container without raising limits and without a network. Its main process
/// waits on a stdin that never ends.
const RUN_ARGUMENTS: &str = "run --detach --interactive --network none \
                   --ulimit nofile=1024:20000 --ulimit nproc=1000:1000";

/// Podman rejects a longer path as `--runroot`.
const MAX_RUNROOT_LENGTH: usize = 50;

pub(super) struct Podman {
    folder: PathBuf,
    words: Vec<String>,
}

impl Podman {
    /// Creates the images and starts a container of each.
    pub(super) fn start(root: &Path) -> Result<Podman> {
        ensure!(cfg!(target_os = "linux"), "the images need Linux programs");
        ensure!(succeeds("podman --version"), "`podman` does not work");
        let podman = Podman::new(root.join("target/containers"));
        // Removes the data of a killed run.
        podman.clear();
        fs::create_dir_all(&podman.folder).context("creating target/containers")?;
        for image in [image::bare(root)?, image::with_shell(root)?] {
            let tar = image.tar(&podman.folder)?;
            let name = format!("spar-{}", image.name);
            podman.run("import --quiet", &[&tar.display().to_string(), &name])?;
            podman.run(RUN_ARGUMENTS, &["--name", &name, &name, image::SERVER])?;
        }
        Ok(podman)
    }

    fn new(folder: PathBuf) -> Podman {
        let mut runroot = folder.join("run");
        if runroot.as_os_str().len() > MAX_RUNROOT_LENGTH {
            // The next run uses the same path, and removes the data that this one leaves.
            let mut hasher = DefaultHasher::new();
            folder.hash(&mut hasher);
            runroot = PathBuf::from(format!("/tmp/spar-{:016x}", hasher.finish()));
        }
        let path = |path: PathBuf| path.display().to_string();
        let mut words = ["podman", "--storage-driver=vfs", "--cgroup-manager=cgroupfs"]
            .map(str::to_owned)
            .to_vec();
        words.extend([format!("--root={}", path(folder.join("root")))]);
        words.extend([format!("--runroot={}", path(runroot))]);
        words.extend([format!("--tmpdir={}", path(folder.join("tmp")))]);
        if succeeds("runc --version") {
            words.push("--runtime=runc".to_owned());
        }
        Podman { folder, words }
    }

    /// Returns the command of podman, quoted for a shell.
    pub(super) fn command_line(&self) -> String {
        let words = self.words.iter().map(String::as_str);
        shlex::try_join(words).expect("paths have no NUL")
    }

    fn run(&self, line: &str, args: &[&str]) -> Result<()> {
        let mut command = self.command(line);
        command.args(args).stdin(Stdio::null()).stdout(Stdio::null());
        run(command)
    }

    fn command(&self, line: &str) -> Command {
        let mut command = Command::new(&self.words[0]);
        command.args(&self.words[1..]).args(line.split_whitespace());
        command
    }

    /// Kills the monitor processes that podman's service leaves behind. They keep an exit
    /// code for five minutes, and would then write to this folder.
    fn kill_monitors(&self) {
        let Ok(processes) = fs::read_dir("/proc") else { return };
        for process in processes.flatten() {
            let line = fs::read(process.path().join("cmdline")).unwrap_or_default();
            if is_monitor(&String::from_utf8_lossy(&line), &self.folder) {
                let _ = Command::new("kill").arg("-9").arg(process.file_name()).status();
            }
        }
    }

    /// Removes all containers, images and data.
    fn clear(&self) {
        if !self.folder.exists() {
            return;
        }
        for line in ["rm --all --force --time 0", "rmi --all --force"] {
            let mut command = self.command(line);
            command.stdin(Stdio::null()).stdout(Stdio::null());
            print_command(&command);
            if !command.status().is_ok_and(|status| status.success()) {
                eprintln!("`podman {line}` failed");
            }
        }
        self.kill_monitors();
        if let Err(error) = fs::remove_dir_all(&self.folder) {
            eprintln!("cannot remove {}: {error}", self.folder.display());
        }
        let runroot = self.words.iter().find_map(|word| word.strip_prefix("--runroot="));
        let elsewhere = runroot.map(Path::new).filter(|path| path.exists());
        if let Some(Err(error)) = elsewhere.map(fs::remove_dir_all) {
            eprintln!("cannot remove {}: {error}", runroot.unwrap_or_default());
        }
    }
}

/// Returns true if this is the command line of a monitor of a container in the folder.
fn is_monitor(line: &str, folder: &Path) -> bool {
    let mut words = line.split('\0').map(Path::new);
    words.next().is_some_and(|program| program.ends_with("conmon"))
        && words.any(|word| word.starts_with(folder))
}

impl Drop for Podman {
    fn drop(&mut self) {
        self.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runroot(folder: &str) -> String {
        let line = Podman::new(PathBuf::from(folder)).command_line();
        let word = shlex::split(&line).unwrap().into_iter().find(|word| word.contains("runroot"));
        word.unwrap().replace("--runroot=", "")
    }

    #[test]
    fn recognizes_only_monitors_of_the_folder() {
        let check = |line, expected| {
            assert_eq!(is_monitor(line, Path::new("/a/containers")), expected, "{line:?}");
        };
        check("/usr/bin/conmon\0-b\0/a/containers/root/x\0", true);
        check("/usr/bin/conmon\0-b\0/a/containers2/root/x\0", false);
        check("/usr/bin/cat\0/a/containers/conmon\0", false);
        check("", false);
    }

    #[test]
    fn a_runroot_that_is_too_long_is_replaced_by_a_short_one() {
        assert_eq!(runroot("/no where/target/containers"), "/no where/target/containers/run");
        let (long, other) = (format!("/{}", "a".repeat(60)), format!("/{}", "b".repeat(60)));
        assert!(
            runroot(&long).starts_with("/tmp/spar-") && runroot(&long).len() <= MAX_RUNROOT_LENGTH
        );
        assert_eq!(runroot(&long), runroot(&long));
        assert_ne!(runroot(&long), runroot(&other));
    }
}
