//! The CI system that the program runs in: the reports that it gets without a flag, and
//! the folder for relative paths.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use sparring_report::{Outcome, Run, SourceLocation, Test};

/// The CI system, as its environment variables describe it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ci {
    /// True if it is GitHub, which reads annotations from the output.
    pub(super) is_github: bool,
    /// The file that GitHub shows on the page of a run.
    summary: Option<PathBuf>,
    /// The folders that paths are relative to.
    github: Option<PathBuf>,
    gitlab: Option<PathBuf>,
}

impl Ci {
    /// Reads the environment variables.
    pub(crate) fn from_variables(variables: &HashMap<String, String>) -> Ci {
        let path = |name: &str| variables.get(name).filter(|it| !it.is_empty()).map(PathBuf::from);
        let is_github = variables.get("GITHUB_ACTIONS").is_some_and(|it| it == "true");
        Ci {
            is_github,
            summary: path("GITHUB_STEP_SUMMARY").filter(|_| is_github),
            github: path("GITHUB_WORKSPACE"),
            gitlab: path("CI_PROJECT_DIR"),
        }
    }

    /// Appends text to the page of a run on GitHub. Does nothing elsewhere.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(super) fn append_summary(&self, text: &str) -> Result<(), String> {
        let Some(path) = &self.summary else { return Ok(()) };
        let add = || -> io::Result<()> {
            File::options().append(true).create(true).open(path)?.write_all(text.as_bytes())
        };
        add().map_err(|error| format!("cannot add to {}: {error}", path.display()))
    }

    /// The run for GitHub, with paths relative to its workspace.
    pub(super) fn with_github_paths(&self, run: &Run) -> Run {
        with_relative_paths(self.github.as_deref(), run)
    }

    /// The run for GitLab, with paths relative to its project.
    pub(super) fn with_gitlab_paths(&self, run: &Run) -> Run {
        with_relative_paths(self.gitlab.as_deref(), run)
    }
}

/// The failed and flaky tests, with paths relative to `root` if they are below it.
fn with_relative_paths(root: Option<&Path>, run: &Run) -> Run {
    let root = root.map(absolute);
    let reported = run.tests.iter().filter(|it| it.outcome == Outcome::Failed || it.is_flaky());
    let mut tests: Vec<Test> = reported.cloned().collect();
    let mut known: HashMap<String, String> = HashMap::new();
    for SourceLocation { file, .. } in tests.iter_mut().flat_map(test_places) {
        let seen = known.entry(file.clone()).or_insert_with_key(|file| {
            let path = absolute(Path::new(file));
            let inside = root.as_ref().and_then(|root| path.strip_prefix(root).ok());
            inside.map_or_else(|| file.clone(), |path| path.display().to_string())
        });
        file.clone_from(seen);
    }
    Run {
        version: run.version,
        spar: run.spar.clone(),
        began: run.began.clone(),
        took_ms: run.took_ms,
        shard: run.shard.clone(),
        stopped: run.stopped,
        summary: run.summary,
        tests,
    }
}

/// All places of a test.
fn test_places(test: &mut Test) -> impl Iterator<Item = &mut SourceLocation> {
    let Test { place, failed_tries, .. } = test;
    let failures = failed_tries.iter_mut().flat_map(|tried| &mut tried.failures);
    std::iter::once(place).chain(failures.map(|failure| &mut failure.place))
}

/// An absolute path, without links if it exists.
fn absolute(path: &Path) -> PathBuf {
    fs::canonicalize(path)
        .or_else(|_| std::path::absolute(path))
        .unwrap_or_else(|_| path.to_owned())
}
