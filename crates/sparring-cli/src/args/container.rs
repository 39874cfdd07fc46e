//! The flags of a command in a container.

use clap::Args;
use sparring_transport::{ChildTarget, ContainerTarget};

use crate::command_error::CommandError;

/// The container and its engine.
#[derive(Args)]
#[group(skip)]
pub(super) struct ContainerFlags {
    /// Run the command in this container with `docker exec -i` or `podman exec -i`, once
    /// the container is ready
    #[arg(long, value_name = "NAME", conflicts_with_all = ["unix", "url", "server"])]
    #[arg(help_heading = "Container")]
    container: Option<String>,

    /// The engine and its flags [default: the first of docker and podman that has the
    /// container]
    #[arg(long, value_name = "WORDS", requires = "container", allow_hyphen_values = true)]
    #[arg(help_heading = "Container")]
    container_engine: Option<String>,

    /// Pass these flags to the engine's `exec`, for example '--user 1000'; may be
    /// repeated
    #[arg(long = "container-flag", value_name = "WORDS", allow_hyphen_values = true)]
    #[arg(requires = "container", help_heading = "Container")]
    container_flags: Vec<String>,
}

impl ContainerFlags {
    /// Returns the command in the container, or nothing if no container is named.
    ///
    /// # Errors
    /// When a flag has an invalid value. Flags may hold secrets, so the error does not
    /// show them.
    pub(super) fn target(
        &self,
        command: &ChildTarget,
    ) -> Result<Option<ContainerTarget>, CommandError> {
        let Some(name) = &self.container else { return Ok(None) };
        if name.is_empty() || name.starts_with('-') {
            return Err(usage_error(
                "--container: a container name must not be empty or begin with `-`",
            ));
        }
        let mut target = ContainerTarget::new(name, command.clone());
        if let Some(engine) = &self.container_engine {
            target.engine = split_words("--container-engine", engine)?;
        }
        for flags in &self.container_flags {
            target.flags.extend(split_words("--container-flag", flags)?);
        }
        match target.flags.iter().any(|flag| detaches_stdio(flag)) {
            true => Err(usage_error(
                "--container-flag: -t and -d take away the stdin and stdout that the server needs",
            )),
            false => Ok(Some(target)),
        }
    }
}

/// Splits text into words as a shell does.
fn split_words(flag: &str, text: &str) -> Result<Vec<String>, CommandError> {
    match shlex::split(text) {
        None => Err(usage_error(&format!("{flag}: unclosed quote"))),
        Some(words) if words.first().is_none_or(String::is_empty) => {
            Err(usage_error(&format!("{flag}: empty value")))
        }
        Some(words) => Ok(words),
    }
}

/// Returns true if the flag asks for a terminal or for the background. Short flags may be
/// combined: `-it`.
fn detaches_stdio(flag: &str) -> bool {
    let short = flag.strip_prefix('-').filter(|rest| !rest.is_empty());
    let together = short.filter(|rest| rest.chars().all(|c| "itd".contains(c)));
    together.is_some_and(|flags| flags.contains(['t', 'd']))
        || matches!(flag, "--tty" | "--tty=true" | "--detach" | "--detach=true")
}

fn usage_error(message: &str) -> CommandError {
    CommandError::Usage(message.to_owned())
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[arg(long)]
        unix: bool,
        #[arg(long)]
        url: bool,
        #[arg(long)]
        server: bool,
        #[command(flatten)]
        container: ContainerFlags,
    }

    fn target(flags: &[&str]) -> Result<ContainerTarget, String> {
        let line = Line::try_parse_from([&["spar", "--container", "web"], flags].concat()).unwrap();
        let target = line.container.target(&ChildTarget::new("server"));
        target.map(Option::unwrap).map_err(|failure| failure.to_string())
    }

    #[test]
    fn engine_and_flags_are_split_as_a_shell_would() {
        let target = target(&[
            "--container-engine",
            "podman --root '/a b'",
            "--container-flag",
            "--user 1000",
            "--container-flag=-e",
            "--container-flag=NAME='a b'",
        ]);
        let target = target.unwrap();
        assert_eq!(target.engine, ["podman", "--root", "/a b"]);
        assert_eq!(target.flags, ["--user", "1000", "-e", "NAME=a b"]);
    }

    #[test]
    fn refuses_flags_that_take_stdin_and_stdout_away() {
        for flag in ["-t", "-it", "-ti", "-d", "--tty", "--detach"] {
            let error = target(&["--container-flag", flag]).unwrap_err();
            assert_eq!(
                error,
                "--container-flag: -t and -d take away the stdin and stdout that the server needs"
            );
        }
        for flag in ["-i", "--detach-keys=x", "-u"] {
            assert!(target(&["--container-flag", flag]).is_ok(), "{flag}");
        }
    }

    #[test]
    fn refuses_invalid_values_without_showing_them() {
        let quote = target(&["--container-flag", "-e TOKEN='secret"]).unwrap_err();
        assert_eq!(quote, "--container-flag: unclosed quote");
        let empty = target(&["--container-engine", " "]).unwrap_err();
        assert_eq!(empty, "--container-engine: empty value");
    }
}
