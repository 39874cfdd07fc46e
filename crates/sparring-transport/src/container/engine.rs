//! The engine's program: `docker` or `podman`, with its own flags.

use super::error::ContainerError;
use super::state::State;
use crate::child::Job;
use crate::target::ChildTarget;

/// The most that is kept of what it says.
const LONGEST: usize = 1024 * 1024;

/// The engines that are looked for, in this order.
pub(super) const ENGINES: [&str; 2] = ["docker", "podman"];

/// The program of a container engine, and the flags that stand before every verb
/// of it.
#[derive(Debug, Clone)]
pub struct Engine {
    words: Vec<String>,
}

/// What came of running a container engine.
#[derive(Debug, Clone)]
pub struct Ran {
    /// Whether it exited with 0.
    pub well: bool,
    /// What it wrote to its stdout.
    pub stdout: String,
    stderr: String,
}

impl Ran {
    /// The end of what it wrote to its stderr, in one line.
    pub fn end_of_stderr(&self) -> String {
        let lines: Vec<&str> = self.stderr.lines().filter(|line| !line.trim().is_empty()).collect();
        said(&lines[lines.len().saturating_sub(3)..].join("\n"))
    }
}

impl Engine {
    /// The engine with this program and these flags; without a word, the first of
    /// docker and podman that works.
    ///
    /// # Errors
    /// When none of them works; the error says why.
    pub async fn find(words: Vec<String>) -> Result<Engine, ContainerError> {
        let mut errors = Vec::new();
        for engine in Engine::candidates(words) {
            match engine.run(["ps", "--quiet"]).await {
                Ok(ran) if ran.well => return Ok(engine),
                Ok(ran) => {
                    let (engine, said) = (engine.name().to_owned(), ran.end_of_stderr());
                    errors.push(ContainerError::NotWorking { engine, said });
                }
                Err(error) => errors.push(error),
            }
        }
        Err(ContainerError::of_all(errors, &ENGINES))
    }

    /// The one that is named, or all there may be.
    pub(super) fn candidates(words: Vec<String>) -> Vec<Engine> {
        match Engine::new(words) {
            Some(engine) => vec![engine],
            None => ENGINES.map(|name| Engine { words: vec![name.to_owned()] }).into(),
        }
    }

    /// The program and its flags.
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// None without a word.
    pub(super) fn new(words: Vec<String>) -> Option<Engine> {
        (!words.is_empty()).then_some(Engine { words })
    }

    /// What it is called in messages.
    pub(super) fn name(&self) -> &str {
        let program = self.words.first().map_or("", |word| word);
        program.rsplit('/').next().unwrap_or(program)
    }

    /// The program, its flags, and these words.
    pub(super) fn with<S: Into<String>>(&self, words: impl IntoIterator<Item = S>) -> Vec<String> {
        let mut all = self.words.clone();
        all.extend(words.into_iter().map(Into::into));
        all
    }

    /// How a container is.
    pub(super) async fn state(&self, name: &str) -> Result<State, ContainerError> {
        let format = "{{json .State}}";
        let ran = self.run(["inspect", "--type=container", "--format", format, name]).await?;
        let said = said(&ran.stderr);
        if ran.well {
            let refused = || self.refused(name, "what it says is no JSON".to_owned());
            return State::read(name, ran.stdout.as_bytes()).ok_or_else(refused);
        }
        // Docker and podman spell it differently, and each has changed its mind.
        if said.to_lowercase().contains("no such container") {
            let (engine, name) = (self.name().to_owned(), name.to_owned());
            return Err(ContainerError::NoContainer { engine, name });
        }
        Err(self.refused(name, said))
    }

    /// Runs it to its end. Dropped meanwhile, it is killed with all that it has
    /// started.
    ///
    /// # Errors
    /// When it cannot be started.
    pub async fn run<S: Into<String>>(
        &self,
        words: impl IntoIterator<Item = S>,
    ) -> Result<Ran, ContainerError> {
        let words = self.with(words);
        let target = ChildTarget::new(&words[0]).args(&words[1..]);
        let mut job = Job::start(&target, Vec::new(), LONGEST)?;
        let end = job.wait().await;
        let (stdout, stderr) = (job.stdout().text(), job.stderr().text());
        Ok(Ran { well: end.status == Some(0), stdout, stderr })
    }

    fn refused(&self, name: &str, said: String) -> ContainerError {
        ContainerError::Refused { engine: self.name().to_owned(), name: name.to_owned(), said }
    }
}

/// What an engine said to its stderr, in one line and without its own `Error:`.
pub(super) fn said(stderr: &str) -> String {
    let lines = stderr.lines().map(str::trim).filter(|line| !line.is_empty());
    let lines: Vec<&str> =
        lines.map(|line| line.strip_prefix("Error: ").unwrap_or(line)).take(3).collect();
    match lines.is_empty() {
        true => "it says nothing".to_owned(),
        false => lines.join("; "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_engine_says_becomes_one_line() {
        let podman = "Error: unknown flag: --bogus\nSee 'podman exec --help'\n";
        assert_eq!(said(podman), "unknown flag: --bogus; See 'podman exec --help'");
        assert_eq!(said(" \n"), "it says nothing");
    }

    #[test]
    fn an_engine_is_called_by_the_name_of_its_program() {
        let engine = Engine::new(vec!["/usr/bin/podman".to_owned(), "--remote".to_owned()]);
        assert_eq!(engine.unwrap().name(), "podman");
        assert!(Engine::new(Vec::new()).is_none());
    }
}
