//! The CI system that the program runs in: the reports that it gets without a flag, and
//! the folder for relative paths.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use sparring_report::{Build, Outcome, Run, SourceLocation, Test};

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

    /// Returns the project, the commit and the page of the run, as the variables of a CI system
    /// describe them.
    pub(crate) fn build(variables: &HashMap<String, String>) -> Option<Build> {
        let get = |name: &str| variables.get(name).filter(|value| !value.is_empty()).cloned();
        let (project, commit, branch, url) = if get("GITHUB_ACTIONS").is_some() {
            let url = || {
                let (server, run) = (get("GITHUB_SERVER_URL")?, get("GITHUB_RUN_ID")?);
                Some(format!("{server}/{}/actions/runs/{run}", get("GITHUB_REPOSITORY")?))
            };
            // Of a pull request, the other names are those of a merge commit.
            let branch = get("GITHUB_HEAD_REF").or_else(|| get("GITHUB_REF_NAME"));
            (get("GITHUB_REPOSITORY"), get("GITHUB_SHA"), branch, url())
        } else if get("GITLAB_CI").is_some() {
            let branch = get("CI_COMMIT_REF_NAME");
            (get("CI_PROJECT_PATH"), get("CI_COMMIT_SHA"), branch, get("CI_JOB_URL"))
        } else if get("CIRCLECI").is_some() {
            let branch = get("CIRCLE_BRANCH").or_else(|| get("CIRCLE_TAG"));
            let project = get("CIRCLE_PROJECT_REPONAME");
            (project, get("CIRCLE_SHA1"), branch, get("CIRCLE_BUILD_URL"))
        } else if get("BUILDKITE").is_some() {
            let project = get("BUILDKITE_PIPELINE_SLUG");
            let (commit, branch) = (get("BUILDKITE_COMMIT"), get("BUILDKITE_BRANCH"));
            (project, commit, branch, get("BUILDKITE_BUILD_URL"))
        } else if get("JENKINS_URL").is_some() {
            let branch = get("BRANCH_NAME").or_else(|| get("GIT_BRANCH"));
            (get("JOB_NAME"), get("GIT_COMMIT"), branch, get("BUILD_URL"))
        } else {
            return None;
        };
        Some(Build { project, commit, branch, url })
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

/// The failed and flaky tests and those with notes, with paths relative to `root` if they are below it.
fn with_relative_paths(root: Option<&Path>, run: &Run) -> Run {
    let root = root.map(absolute);
    let is_reported =
        |it: &&Test| it.outcome == Outcome::Failed || it.is_flaky() || !it.notes.is_empty();
    let reported = run.tests.iter().filter(is_reported);
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
        build: run.build.clone(),
        stopped: run.stopped,
        summary: run.summary,
        tests,
    }
}

/// All places of a test.
fn test_places(test: &mut Test) -> impl Iterator<Item = &mut SourceLocation> {
    let Test { place, failed_tries, notes, .. } = test;
    let failures = failed_tries.iter_mut().flat_map(|tried| &mut tried.failures);
    let places = failures.map(|failure| &mut failure.place);
    let places = places.chain(notes.iter_mut().map(|note| &mut note.place));
    std::iter::once(place).chain(places).filter(|place| place.has_file())
}

/// An absolute path, without links if it exists.
fn absolute(path: &Path) -> PathBuf {
    fs::canonicalize(path)
        .or_else(|_| std::path::absolute(path))
        .unwrap_or_else(|_| path.to_owned())
}
