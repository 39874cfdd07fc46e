//! Targets as plain data: the programs and URLs to connect to, with their settings.

use std::collections::BTreeMap;
use std::path::PathBuf;
#[cfg(feature = "containers")]
use std::time::Duration;

use sparring_peer::Link;
use sparring_peer::link::LineLinkOptions;

#[cfg(feature = "http")]
use crate::child::HttpProcessError;
use crate::child::{ChildError, ChildLink, Stderr};
#[cfg(feature = "containers")]
use crate::container::{self, Container, ContainerError};
#[cfg(feature = "http")]
use crate::http::{HttpError, HttpLink, HttpTarget};
use crate::secrets::Secrets;
#[cfg(unix)]
use crate::socket::connect_unix_with;

/// A peer under test, and the means to reach it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Target {
    /// A child process, over its stdin and stdout.
    Child(ChildTarget),
    /// A command in a running container, over its stdin and stdout.
    #[cfg(feature = "containers")]
    Container(ContainerTarget),
    /// A Unix socket.
    #[cfg(unix)]
    Unix(UnixTarget),
    /// A server over HTTP.
    #[cfg(feature = "http")]
    Http(HttpTarget),
}

/// A child process to start.
#[derive(Clone, PartialEq, Eq)]
pub struct ChildTarget {
    /// The program, by name or path.
    pub program: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Its working directory (default: ours).
    pub cwd: Option<PathBuf>,
    /// The names of our environment variables that it inherits (default: all); a `*` at the end
    /// of a name matches any rest.
    pub inherit: Option<Vec<String>>,
    /// Environment variables to add or replace.
    pub env: BTreeMap<String, String>,
    /// The longest line that is read from it, in bytes.
    pub max_line: usize,
    /// If true, processes that leave its process group, such as daemons, need not end with it.
    pub may_leave_processes: bool,
}

/// A command to run in a container with the engine's `exec`.
#[cfg(feature = "containers")]
#[derive(Clone, PartialEq, Eq)]
pub struct ContainerTarget {
    /// The container, by name or id.
    pub name: String,
    /// The command; its working directory and environment are those in the container. Values of
    /// environment variables appear on the engine's command line.
    pub command: ChildTarget,
    /// The engine's program and its flags (default: the first of docker and podman that has the
    /// container).
    pub engine: Vec<String>,
    /// More flags for the engine's `exec`.
    pub flags: Vec<String>,
    /// The maximum wait for the container to become ready.
    pub ready_timeout: Duration,
}

/// A Unix socket to connect to.
#[cfg(unix)]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnixTarget {
    /// The path of the socket.
    pub path: PathBuf,
    /// The longest line that is read from it, in bytes.
    pub max_line: usize,
}

/// A link to a target, with its stderr and container.
pub struct OpenedTarget {
    /// The link.
    pub link: Box<dyn Link>,
    /// The stderr of a child, or of a command in a container.
    pub stderr: Option<Stderr>,
    /// The container, if the target is in one.
    #[cfg(feature = "containers")]
    pub container: Option<Container>,
}

/// The reason why a target could not be reached.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// A child could not be started.
    #[error(transparent)]
    Child(#[from] ChildError),
    /// A program that serves over HTTP could not be started.
    #[cfg(feature = "http")]
    #[error(transparent)]
    HttpProcess(#[from] HttpProcessError),
    /// A container could not be entered.
    #[cfg(feature = "containers")]
    #[error(transparent)]
    Container(#[from] ContainerError),
    /// A socket could not be connected to.
    #[error("cannot connect to {0}")]
    Socket(std::io::Error),
    /// An HTTP target is invalid.
    #[cfg(feature = "http")]
    #[error(transparent)]
    Http(#[from] HttpError),
}

impl Target {
    /// Starts the target or connects to it.
    ///
    /// # Errors
    /// When the target cannot be reached; the error names it and the reason.
    pub async fn open(&self) -> Result<OpenedTarget, OpenError> {
        match self {
            Target::Child(target) => {
                let link = ChildLink::spawn(target)?;
                let stderr = Some(link.stderr());
                Ok(OpenedTarget { stderr, ..OpenedTarget::from_link(link) })
            }
            #[cfg(feature = "containers")]
            Target::Container(target) => {
                let (link, container) = container::open(target).await?;
                let stderr = Some(link.stderr());
                Ok(OpenedTarget {
                    stderr,
                    container: Some(container),
                    ..OpenedTarget::from_link(link)
                })
            }
            #[cfg(unix)]
            Target::Unix(UnixTarget { path, max_line }) => {
                let options = LineLinkOptions { max_line_bytes: *max_line };
                let link = connect_unix_with(path, options).await.map_err(OpenError::Socket)?;
                Ok(OpenedTarget::from_link(link))
            }
            #[cfg(feature = "http")]
            Target::Http(target) => Ok(OpenedTarget::from_link(HttpLink::new(target)?)),
        }
    }
}

impl Target {
    /// Adds the target's secrets to a set, and lets it add those that it learns later, such
    /// as tokens.
    #[must_use]
    pub fn with_secrets(mut self, secrets: &Secrets) -> Target {
        let add_command = |command: &ChildTarget| {
            command.env.iter().for_each(|(name, value)| secrets.add_setting(name, value));
            secrets.add_arguments(command.args.iter().map(String::as_str));
        };
        match &mut self {
            Target::Child(command) => add_command(command),
            #[cfg(feature = "containers")]
            Target::Container(target) => {
                add_command(&target.command);
                secrets.add_arguments(target.flags.iter().map(String::as_str));
            }
            #[cfg(unix)]
            Target::Unix(_) => {}
            #[cfg(feature = "http")]
            Target::Http(target) => {
                target.secrets = secrets.clone();
                target.add_secrets();
            }
        }
        self
    }
}

impl OpenedTarget {
    /// Creates an opened target of a link without a process.
    pub fn from_link(link: impl Link) -> Self {
        OpenedTarget {
            link: Box::new(link),
            stderr: None,
            #[cfg(feature = "containers")]
            container: None,
        }
    }
}

#[cfg(unix)]
impl UnixTarget {
    /// Creates a target for the socket at this path.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        UnixTarget { path: path.into(), max_line: LineLinkOptions::default().max_line_bytes }
    }
}

impl ChildTarget {
    /// Creates a target for a program without arguments, in our directory and environment.
    pub fn new(program: impl Into<String>) -> Self {
        ChildTarget {
            program: program.into(),
            args: Vec::new(),
            cwd: None,
            inherit: None,
            env: BTreeMap::new(),
            max_line: LineLinkOptions::default().max_line_bytes,
            may_leave_processes: false,
        }
    }

    /// Adds these arguments.
    #[must_use]
    pub fn args<S: Into<String>>(mut self, args: impl IntoIterator<Item = S>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Adds one argument.
    #[must_use]
    pub fn arg(self, arg: impl Into<String>) -> Self {
        self.args([arg])
    }

    /// Sets the working directory.
    #[must_use]
    pub fn cwd(mut self, cwd: impl Into<PathBuf>) -> Self {
        self.cwd = Some(cwd.into());
        self
    }

    /// Adds an environment variable.
    #[must_use]
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.env.insert(name.into(), value.into());
        self
    }

    /// Renders the command line as a user would type it.
    pub fn command_line(&self) -> String {
        let words = std::iter::once(&self.program).chain(&self.args);
        let quoted =
            words.map(|word| match word.contains(|c: char| c.is_whitespace() || c == '"') {
                true => format!("{word:?}"),
                false => word.clone(),
            });
        quoted.collect::<Vec<_>>().join(" ")
    }
}

#[cfg(feature = "containers")]
impl ContainerTarget {
    /// Creates a target for a command in this container; uses the first engine that has it.
    pub fn new(name: impl Into<String>, command: ChildTarget) -> Self {
        ContainerTarget {
            name: name.into(),
            command,
            engine: Vec::new(),
            flags: Vec::new(),
            ready_timeout: Duration::from_secs(30),
        }
    }
}

/// Flags may set environment variables too, so only the part before a `=` is shown.
#[cfg(feature = "containers")]
impl std::fmt::Debug for ContainerTarget {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let flags = self.flags.iter().map(|flag| flag.split('=').next().unwrap_or_default());
        f.debug_struct("ContainerTarget")
            .field("name", &self.name)
            .field("command", &self.command)
            .field("engine", &self.engine)
            .field("flags", &flags.collect::<Vec<_>>())
            .field("ready_within", &self.ready_timeout)
            .finish()
    }
}

/// Values of environment variables may be secrets, so only the names are shown.
impl std::fmt::Debug for ChildTarget {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ChildTarget")
            .field("program", &self.program)
            .field("args", &self.args)
            .field("cwd", &self.cwd)
            .field("inherit", &self.inherit)
            .field("env", &self.env.keys())
            .field("max_line", &self.max_line)
            .field("may_leave_processes", &self.may_leave_processes)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn never_shows_values_of_environment_variables() {
        let mut target = ChildTarget::new("server");
        target.env.insert("TOKEN".to_owned(), "hunter2".to_owned());
        let mut container = ContainerTarget::new("web", target.clone());
        container.flags = ["-e", "KEY=hunter2"].map(str::to_owned).to_vec();
        for target in [Target::Child(target), Target::Container(container)] {
            let shown = format!("{target:?}");
            assert!(shown.contains("TOKEN") && !shown.contains("hunter2"), "{shown}");
        }
    }

    #[test]
    fn a_command_line_quotes_words_that_need_it() {
        let target = ChildTarget::new("sh").args(["-c", "exit 3"]);
        assert_eq!(target.command_line(), "sh -c \"exit 3\"");
    }
}
