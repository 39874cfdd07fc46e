//! What the CI system is that the program runs in: what it gets without being
//! asked for, and from where it counts the paths of files.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use sparring_report::{Outcome, Place, Run, Test};

/// What the variables of the environment say.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ci {
    /// Whether it is GitHub, which reads annotations out of what is printed.
    pub(super) is_github: bool,
    /// The file that GitHub shows on the page of a run.
    summary: Option<PathBuf>,
    /// The folders from which paths are counted.
    github: Option<PathBuf>,
    gitlab: Option<PathBuf>,
}

impl Ci {
    /// Reads them.
    pub(crate) fn of(variables: &HashMap<String, String>) -> Ci {
        let path = |name: &str| variables.get(name).filter(|it| !it.is_empty()).map(PathBuf::from);
        let is_github = variables.get("GITHUB_ACTIONS").is_some_and(|it| it == "true");
        Ci {
            is_github,
            summary: path("GITHUB_STEP_SUMMARY").filter(|_| is_github),
            github: path("GITHUB_WORKSPACE"),
            gitlab: path("CI_PROJECT_DIR"),
        }
    }

    /// Adds to the page of a run on GitHub, where it is one.
    ///
    /// # Errors
    /// When that cannot be written.
    pub(super) fn summarize(&self, text: &str) -> Result<(), String> {
        let Some(path) = &self.summary else { return Ok(()) };
        let add = || -> io::Result<()> {
            File::options().append(true).create(true).open(path)?.write_all(text.as_bytes())
        };
        add().map_err(|error| format!("cannot add to {}: {error}", path.display()))
    }

    /// What GitHub is told of a run, with the paths that it knows.
    pub(super) fn as_github_sees(&self, run: &Run) -> Run {
        seen_from(self.github.as_deref(), run)
    }

    /// The same for GitLab.
    pub(super) fn as_gitlab_sees(&self, run: &Run) -> Run {
        seen_from(self.gitlab.as_deref(), run)
    }
}

/// The tests that are told of, with paths from this folder on where they lie in
/// it.
fn seen_from(root: Option<&Path>, run: &Run) -> Run {
    let root = root.map(absolute);
    let told = run.tests.iter().filter(|it| it.outcome == Outcome::Failed || it.is_flaky());
    let mut tests: Vec<Test> = told.cloned().collect();
    let mut known: HashMap<String, String> = HashMap::new();
    for Place { file, .. } in tests.iter_mut().flat_map(places) {
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

/// All places that a test has.
fn places(test: &mut Test) -> impl Iterator<Item = &mut Place> {
    let Test { place, failed_tries, .. } = test;
    let failures = failed_tries.iter_mut().flat_map(|tried| &mut tried.failures);
    std::iter::once(place).chain(failures.map(|failure| &mut failure.place))
}

/// A path from the root on, without links where it is there.
fn absolute(path: &Path) -> PathBuf {
    fs::canonicalize(path)
        .or_else(|_| std::path::absolute(path))
        .unwrap_or_else(|_| path.to_owned())
}
