//! The container engine's program: `docker` or `podman`, with its flags.

use super::error::ContainerError;
use super::state::ContainerState;
use crate::child::Job;
use crate::target::ChildTarget;

/// The maximum number of output bytes that are kept.
const MAX_OUTPUT: usize = 1024 * 1024;

/// The engines to look for, in this order.
pub(super) const ENGINES: [&str; 2] = ["docker", "podman"];

/// A container engine: its program and the flags that precede every subcommand.
#[derive(Debug, Clone)]
pub struct ContainerEngine {
    words: Vec<String>,
}

/// The result of running a container engine.
#[derive(Debug, Clone)]
pub struct EngineOutput {
    /// True if the exit status was 0.
    pub success: bool,
    /// The engine's stdout.
    pub stdout: String,
    stderr: String,
}

impl EngineOutput {
    /// Returns the last lines of stderr, in one line.
    pub fn stderr_summary(&self) -> String {
        let lines: Vec<&str> = self.stderr.lines().filter(|line| !line.trim().is_empty()).collect();
        summarize_stderr(&lines[lines.len().saturating_sub(3)..].join("\n"))
    }
}

impl ContainerEngine {
    /// Returns the engine with this program and these flags, or the first of docker and podman
    /// that works if `words` is empty.
    ///
    /// # Errors
    /// When no engine works; the error gives the reason.
    pub async fn find(words: Vec<String>) -> Result<ContainerEngine, ContainerError> {
        let mut errors = Vec::new();
        for engine in ContainerEngine::candidates(words) {
            match engine.run(["ps", "--quiet"]).await {
                Ok(ran) if ran.success => return Ok(engine),
                Ok(ran) => {
                    let (engine, output) = (engine.name().to_owned(), ran.stderr_summary());
                    errors.push(ContainerError::NotWorking { engine, output });
                }
                Err(error) => errors.push(error),
            }
        }
        Err(ContainerError::from_all(errors, &ENGINES))
    }

    /// Returns the given engine, or all known engines if none is given.
    pub(super) fn candidates(words: Vec<String>) -> Vec<ContainerEngine> {
        match ContainerEngine::new(words) {
            Some(engine) => vec![engine],
            None => ENGINES.map(|name| ContainerEngine { words: vec![name.to_owned()] }).into(),
        }
    }

    /// Returns the program and its flags.
    pub fn command(&self) -> &[String] {
        &self.words
    }

    /// Returns `None` if `words` is empty.
    pub(super) fn new(words: Vec<String>) -> Option<ContainerEngine> {
        (!words.is_empty()).then_some(ContainerEngine { words })
    }

    /// Returns the name for messages.
    pub(super) fn name(&self) -> &str {
        let program = self.words.first().map_or("", |word| word);
        program.rsplit('/').next().unwrap_or(program)
    }

    /// Returns the program, its flags and these words.
    pub(super) fn command_with<S: Into<String>>(
        &self,
        words: impl IntoIterator<Item = S>,
    ) -> Vec<String> {
        let mut all = self.words.clone();
        all.extend(words.into_iter().map(Into::into));
        all
    }

    /// Asks the engine for the state of a container.
    pub(super) async fn container_state(
        &self,
        name: &str,
    ) -> Result<ContainerState, ContainerError> {
        let format = "{{json .State}}";
        let ran = self.run(["inspect", "--type=container", "--format", format, name]).await?;
        let output = summarize_stderr(&ran.stderr);
        if ran.success {
            let refused = || self.state_error(name, "its output is not JSON".to_owned());
            return ContainerState::parse(name, ran.stdout.as_bytes()).ok_or_else(refused);
        }
        // The wording differs between engines and versions.
        if output.to_lowercase().contains("no such container") {
            let (engine, name) = (self.name().to_owned(), name.to_owned());
            return Err(ContainerError::NoContainer { engine, name });
        }
        Err(self.state_error(name, output))
    }

    /// Runs the engine to its end. Dropping the future kills it and everything that it started.
    ///
    /// # Errors
    /// When the engine cannot be started.
    pub async fn run<S: Into<String>>(
        &self,
        words: impl IntoIterator<Item = S>,
    ) -> Result<EngineOutput, ContainerError> {
        let words = self.command_with(words);
        let mut target = ChildTarget::new(&words[0]).args(&words[1..]);
        // The engine's processes serve containers.
        target.may_leave_processes = true;
        let mut job = Job::start(&target, Vec::new(), MAX_OUTPUT)?;
        let end = job.wait().await;
        let (stdout, stderr) = (job.stdout().text(), job.stderr().text());
        Ok(EngineOutput { success: end.status == Some(0), stdout, stderr })
    }

    fn state_error(&self, name: &str, output: String) -> ContainerError {
        ContainerError::StateUnknown {
            engine: self.name().to_owned(),
            name: name.to_owned(),
            output,
        }
    }
}

/// Reduces an engine's stderr to one line, without its `Error:` prefix.
pub(super) fn summarize_stderr(stderr: &str) -> String {
    let lines = stderr.lines().map(str::trim).filter(|line| !line.is_empty());
    let lines: Vec<&str> =
        lines.map(|line| line.strip_prefix("Error: ").unwrap_or(line)).take(3).collect();
    match lines.is_empty() {
        true => "no output".to_owned(),
        false => lines.join("; "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summarizes_stderr_in_one_line() {
        let podman = "Error: unknown flag: --bogus\nSee 'podman exec --help'\n";
        assert_eq!(summarize_stderr(podman), "unknown flag: --bogus; See 'podman exec --help'");
        assert_eq!(summarize_stderr(" \n"), "no output");
    }

    #[test]
    fn an_engine_is_called_by_the_name_of_its_program() {
        let engine =
            ContainerEngine::new(vec!["/usr/bin/podman".to_owned(), "--remote".to_owned()]);
        assert_eq!(engine.unwrap().name(), "podman");
        assert!(ContainerEngine::new(Vec::new()).is_none());
    }
}
