//! What an engine means when its `exec` ends before the command began: by its
//! exit code, and by words of its own beside it, since a command may exit with
//! the same code.

use super::engine::said;

/// Where a command was to run.
pub(super) struct Wanted<'a> {
    pub(super) engine: &'a str,
    pub(super) container: &'a str,
    pub(super) program: &'a str,
    pub(super) cwd: Option<String>,
}

impl Wanted<'_> {
    /// Why the command did not begin; nothing where it may have.
    pub(super) fn refusal(&self, code: Option<i32>, stderr: &str) -> Option<String> {
        let (name, program) = (self.container, self.program);
        // The runtime below both engines is named so in their messages.
        let runtime = stderr.lines().find(|line| line.contains("OCI "));
        match (code?, runtime) {
            (126 | 127, Some(line)) if line.contains("chdir") => {
                let cwd = self.cwd.as_deref().unwrap_or("its own");
                Some(format!("no such directory in container {name}: {cwd}"))
            }
            (127, Some(_)) => Some(format!("command not found in container {name}: {program}")),
            (126, Some(line)) if line.contains("not found") || line.contains("no such file") => {
                Some(format!("command not found in container {name}: {program}"))
            }
            (126, Some(_)) => Some(format!("not executable in container {name}: {program}")),
            (1 | 125..=127 | 255, _) if is_the_engines(stderr) => {
                Some(format!("{} refuses: {}", self.engine, said(stderr)))
            }
            _ => None,
        }
    }
}

/// Whether an engine says so, and nobody else would.
fn is_the_engines(stderr: &str) -> bool {
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
        let wanted = Wanted {
            engine: "podman",
            container: "web",
            program: "server",
            cwd: Some("/srv".to_owned()),
        };
        assert_eq!(wanted.refusal(Some(code), stderr).as_deref(), expected, "{code} {stderr}");
    }

    #[test]
    fn a_command_that_is_not_there_is_told_for_every_engine_and_runtime() {
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
    fn the_code_alone_says_nothing_since_a_command_may_exit_with_it() {
        check(127, "sh: 1: server: not found", None);
        check(126, "", None);
        check(1, "Error: no configuration", None);
        check(255, "", None);
    }

    #[test]
    fn a_folder_a_user_and_a_flag_that_are_not_there_are_told() {
        let folder = "Error: runc: exec failed: unable to start container process: chdir to cwd (\"/srv\") set in config.json failed: no such file or directory: OCI runtime attempted to invoke a command that was not found";
        check(127, folder, Some("no such directory in container web: /srv"));
        let permission = "Error: runc: exec failed: unable to start container process: exec: \"server\": permission denied: OCI permission denied";
        check(126, permission, Some("not executable in container web: server"));
        check(
            255,
            "Error: unable to find user bob: no matching entries in passwd file",
            Some("podman refuses: unable to find user bob: no matching entries in passwd file"),
        );
        check(125, "unknown flag: --bogus\n", Some("podman refuses: unknown flag: --bogus"));
    }
}
