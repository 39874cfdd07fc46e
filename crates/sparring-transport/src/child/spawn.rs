//! Starts child processes: builds the command, passes the environment variables on, takes the
//! pipes and explains a failed start.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::PathBuf;
use std::process::Stdio;

use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};

use super::process_group::{self, GroupMark, ProcessGroup};
use crate::target::ChildTarget;

/// The reason why a child could not be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChildError {
    /// The program does not exist.
    #[error("command not found: {program}")]
    NotFound {
        /// The program.
        program: String,
    },
    /// The program exists and cannot be executed.
    #[error("not executable: {program}")]
    NotExecutable {
        /// The program.
        program: String,
    },
    /// The working directory does not exist.
    #[error("no such working directory for {program}: {}", cwd.display())]
    NoDirectory {
        /// The program.
        program: String,
        /// The directory.
        cwd: PathBuf,
    },
    /// The system refused for another reason.
    #[error("cannot start {program}: {error}")]
    Refused {
        /// The program.
        program: String,
        /// The system's error.
        error: io::Error,
    },
}

/// A child that has just been started, with its pipes.
pub(super) struct SpawnedChild {
    // The first field, so that it drops first: while the leader is not reaped, its id is not
    // reused.
    pub(super) group: ProcessGroup,
    pub(super) child: Child,
    pub(super) stdin: ChildStdin,
    pub(super) stdout: ChildStdout,
    pub(super) stderr: ChildStderr,
}

impl SpawnedChild {
    pub(super) fn start(target: &ChildTarget) -> Result<SpawnedChild, ChildError> {
        let refused = |error| ChildError::Refused { program: target.program.clone(), error };
        // Checked before the start, since no task could own the child without a runtime.
        let runtime = tokio::runtime::Handle::try_current();
        runtime.map_err(|error| refused(io::Error::other(error)))?;
        let (mut command, mark) = build_command(target);
        let mut child = command.spawn().map_err(|error| spawn_error(target, error))?;
        let group = ProcessGroup::from_child(&child, mark).map_err(refused)?;
        let gone = || refused(io::Error::other("the child has no pipes"));
        let stdin = child.stdin.take().ok_or_else(gone)?;
        let stdout = child.stdout.take().ok_or_else(gone)?;
        let stderr = child.stderr.take().ok_or_else(gone)?;
        Ok(SpawnedChild { group, child, stdin, stdout, stderr })
    }
}

fn build_command(target: &ChildTarget) -> (Command, GroupMark) {
    let mut command = Command::new(&target.program);
    if let Some(names) = &target.inherit {
        command.env_clear().envs(filter_variables(names, std::env::vars_os()));
    }
    command
        .args(&target.args)
        .envs(&target.env)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    if let Some(cwd) = &target.cwd {
        command.current_dir(cwd);
    }
    let mark = process_group::start_in_own_group(&mut command, target.may_leave_processes);
    (command, mark)
}

/// Distinguishes a missing directory from a missing program; the system reports the same
/// error for both.
fn spawn_error(target: &ChildTarget, error: io::Error) -> ChildError {
    let program = target.program.clone();
    match (error.kind(), &target.cwd) {
        (io::ErrorKind::NotFound | io::ErrorKind::NotADirectory, Some(cwd)) if !cwd.is_dir() => {
            ChildError::NoDirectory { program, cwd: cwd.clone() }
        }
        (io::ErrorKind::NotFound, _) => ChildError::NotFound { program },
        (io::ErrorKind::PermissionDenied, _) => ChildError::NotExecutable { program },
        _ => ChildError::Refused { program, error },
    }
}

/// Returns the variables with these names; a `*` at the end of a name matches any rest.
pub(super) fn filter_variables(
    names: &[String],
    variables: impl Iterator<Item = (OsString, OsString)>,
) -> impl Iterator<Item = (OsString, OsString)> {
    variables.filter(move |(variable, _)| names.iter().any(|name| matches_name(variable, name)))
}

fn matches_name(variable: &OsStr, name: &str) -> bool {
    let Some(variable) = variable.to_str() else { return false };
    match name.strip_suffix('*') {
        Some(start) => {
            variable.get(..start.len()).is_some_and(|beginning| is_same_name(beginning, start))
        }
        None => is_same_name(variable, name),
    }
}

/// Windows ignores the case: `Path` is `PATH`.
fn is_same_name(one: &str, other: &str) -> bool {
    match cfg!(windows) {
        true => one.eq_ignore_ascii_case(other),
        false => one == other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_only_the_named_variables_on() {
        let ours = ["PATH=/bin", "LC_ALL=C", "LCX=1", "TOKEN=hunter2", "PATHS=x", "L=1"];
        let pairs = ours.iter().filter_map(|pair| pair.split_once('='));
        let pairs = pairs.map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let names = ["PATH", "LC_*", "HOME"].map(str::to_owned);
        let passed: Vec<_> = filter_variables(&names, pairs).map(|(name, _)| name).collect();
        assert_eq!(passed, ["PATH", "LC_ALL"]);
    }
}
