//! Explains an engine's `exec` that failed before the command began. The exit code alone is not
//! enough, since a command may exit with the same code, so the engine's message is checked too.

use super::engine::summarize_stderr;

/// A command, and the container in which it was to run.
pub(super) struct ExecRequest<'a> {
    pub(super) engine: &'a str,
    pub(super) container: &'a str,
    pub(super) program: &'a str,
    pub(super) cwd: Option<String>,
}

impl ExecRequest<'_> {
    /// Returns the reason why the command did not begin, or `None` if it may have begun.
    pub(super) fn explain_failure(&self, code: Option<i32>, stderr: &str) -> Option<String> {
        let (name, program) = (self.container, self.program);
        // Both engines name the OCI runtime in its messages.
        let runtime = stderr.lines().find(|line| line.contains("OCI "));
        match (code?, runtime) {
            (126 | 127, Some(line)) if line.contains("chdir") => {
                let cwd = self.cwd.as_deref().unwrap_or("(default)");
                Some(format!("no such directory in container {name}: {cwd}"))
            }
            (127, Some(_)) => Some(format!("command not found in container {name}: {program}")),
            (126, Some(line)) if line.contains("not found") || line.contains("no such file") => {
                Some(format!("command not found in container {name}: {program}"))
            }
            (126, Some(_)) => Some(format!("not executable in container {name}: {program}")),
            (1 | 125..=127 | 255, _) if is_engine_error(stderr) => {
                Some(format!("{} refused: {}", self.engine, summarize_stderr(stderr)))
            }
            _ => None,
        }
    }
}

/// Returns true if a text is a message that only an engine writes.
fn is_engine_error(stderr: &str) -> bool {
    let first = stderr.trim_start();
    let words = ["unable to find user", "unknown flag: ", "unknown shorthand flag: "];
    let begins = ["Error response from daemon: ", "Cannot connect to "];
    words.iter().any(|words| first.strip_prefix("Error: ").unwrap_or(first).starts_with(words))
        || begins.iter().any(|words| first.starts_with(words))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(code: i32, stderr: &str, expected: Option<&str>) {
        let request = ExecRequest {
            engine: "podman",
            container: "web",
            program: "server",
            cwd: Some("/srv".to_owned()),
        };
        assert_eq!(
            request.explain_failure(Some(code), stderr).as_deref(),
            expected,
            "{code} {stderr}"
        );
    }

    #[test]
    fn reports_a_missing_command_for_every_engine_and_runtime() {
        let expected = Some("command not found in container web: server");
        for stderr in [
            "Error: runc: exec failed: unable to start container process: exec: \"server\": executable file not found in $PATH: OCI runtime attempted to invoke a command that was not found",
            "Error: crun: executable file `server` not found in $PATH: No such file or directory: OCI runtime attempted to invoke a command that was not found",
            "OCI runtime exec failed: exec failed: unable to start container process: exec: \"server\": executable file not found in $PATH: unknown",
        ] {
            check(127, stderr, expected);
        }
        // Docker before version 23.
        let old = "OCI runtime exec failed: exec failed: exec: \"server\": executable file not found in $PATH: unknown";
        check(126, old, expected);
    }

    #[test]
    fn ignores_the_exit_code_without_an_engine_message() {
        check(127, "sh: 1: server: not found", None);
        check(126, "", None);
        check(1, "Error: no configuration", None);
        check(255, "", None);
    }

    #[test]
    fn reports_a_missing_folder_user_and_flag() {
        let folder = "Error: runc: exec failed: unable to start container process: chdir to cwd (\"/srv\") set in config.json failed: no such file or directory: OCI runtime attempted to invoke a command that was not found";
        check(127, folder, Some("no such directory in container web: /srv"));
        let permission = "Error: runc: exec failed: unable to start container process: exec: \"server\": permission denied: OCI permission denied";
        check(126, permission, Some("not executable in container web: server"));
        check(
            255,
            "Error: unable to find user bob: no matching entries in passwd file",
            Some("podman refused: unable to find user bob: no matching entries in passwd file"),
        );
        check(125, "unknown flag: --bogus\n", Some("podman refused: unknown flag: --bogus"));
    }
}
