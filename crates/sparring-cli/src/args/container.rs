//! The flags of a command in a container.

use clap::Args;
use sparring_transport::{ChildTarget, ContainerTarget};

use crate::failure::Failure;

/// Which container, and how its engine is asked.
#[derive(Args)]
#[group(skip)]
pub(super) struct Container {
    /// Run the command in this container, by `docker exec -i` or `podman exec
    /// -i`, once it is ready
    #[arg(long, value_name = "NAME", conflicts_with_all = ["unix", "url", "server"])]
    #[arg(help_heading = "Container")]
    container: Option<String>,

    /// The engine and its own flags; without this, the first of docker and
    /// podman that has the container
    #[arg(long, value_name = "WORDS", requires = "container", allow_hyphen_values = true)]
    #[arg(help_heading = "Container")]
    container_engine: Option<String>,

    /// Pass these flags to the engine's `exec`, like '--user 1000'; may be
    /// repeated
    #[arg(long = "container-flag", value_name = "WORDS", allow_hyphen_values = true)]
    #[arg(requires = "container", help_heading = "Container")]
    container_flags: Vec<String>,
}

impl Container {
    /// The command in the container, where one is named.
    ///
    /// # Errors
    /// When a flag has a value that it cannot have; flags may hold secrets, and
    /// are not shown.
    pub(super) fn target(&self, command: &ChildTarget) -> Result<Option<ContainerTarget>, Failure> {
        let Some(name) = &self.container else { return Ok(None) };
        if name.is_empty() || name.starts_with('-') {
            return Err(usage("the name of a container is neither empty nor a flag"));
        }
        let mut target = ContainerTarget::new(name, command.clone());
        if let Some(engine) = &self.container_engine {
            target.engine = words("--container-engine", engine)?;
        }
        for flags in &self.container_flags {
            target.flags.extend(words("--container-flag", flags)?);
        }
        match target.flags.iter().any(|flag| takes_the_pipes(flag)) {
            true => Err(usage("with -t or -d there is no stdin and stdout to talk over")),
            false => Ok(Some(target)),
        }
    }
}

/// Splits as a shell would.
fn words(flag: &str, text: &str) -> Result<Vec<String>, Failure> {
    match shlex::split(text) {
        None => Err(usage(&format!("a quote in a value of {flag} has no end"))),
        Some(words) if words.first().is_none_or(String::is_empty) => {
            Err(usage(&format!("a value of {flag} is empty")))
        }
        Some(words) => Ok(words),
    }
}

/// Whether the flag asks for a terminal or for the background. Short ones may
/// stand together: `-it`.
fn takes_the_pipes(flag: &str) -> bool {
    let short = flag.strip_prefix('-').filter(|rest| !rest.is_empty());
    let together = short.filter(|rest| rest.chars().all(|c| "itd".contains(c)));
    together.is_some_and(|flags| flags.contains(['t', 'd']))
        || matches!(flag, "--tty" | "--tty=true" | "--detach" | "--detach=true")
}

fn usage(message: &str) -> Failure {
    Failure::Usage(message.to_owned())
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
        container: Container,
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
    fn what_would_take_stdin_and_stdout_away_is_refused() {
        for flag in ["-t", "-it", "-ti", "-d", "--tty", "--detach"] {
            let error = target(&["--container-flag", flag]).unwrap_err();
            assert_eq!(error, "with -t or -d there is no stdin and stdout to talk over");
        }
        for flag in ["-i", "--detach-keys=x", "-u"] {
            assert!(target(&["--container-flag", flag]).is_ok(), "{flag}");
        }
    }

    #[test]
    fn what_is_no_word_is_refused_without_being_shown() {
        let quote = target(&["--container-flag", "-e TOKEN='secret"]).unwrap_err();
        assert_eq!(quote, "a quote in a value of --container-flag has no end");
        let empty = target(&["--container-engine", " "]).unwrap_err();
        assert_eq!(empty, "a value of --container-engine is empty");
    }
}
