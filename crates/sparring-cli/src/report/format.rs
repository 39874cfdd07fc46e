//! The formats of a report.

use std::path::PathBuf;
use std::str::FromStr;

use sparring_report::Run;
use sparring_script::did_you_mean;

use super::ci::Ci;
use crate::output::clean_json;

/// A report format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReportFormat {
    Junit,
    Json,
    Ndjson,
    Tap,
    Markdown,
    Html,
    Github,
    Gitlab,
    Sarif,
    Agent,
}

impl ReportFormat {
    pub(super) const ALL: [ReportFormat; 10] = [
        ReportFormat::Junit,
        ReportFormat::Json,
        ReportFormat::Ndjson,
        ReportFormat::Tap,
        ReportFormat::Markdown,
        ReportFormat::Html,
        ReportFormat::Github,
        ReportFormat::Gitlab,
        ReportFormat::Sarif,
        ReportFormat::Agent,
    ];

    /// The name on the command line.
    pub(super) fn name(self) -> &'static str {
        match self {
            ReportFormat::Junit => "junit",
            ReportFormat::Json => "json",
            ReportFormat::Ndjson => "ndjson",
            ReportFormat::Tap => "tap",
            ReportFormat::Markdown => "markdown",
            ReportFormat::Html => "html",
            ReportFormat::Github => "github",
            ReportFormat::Gitlab => "gitlab",
            ReportFormat::Sarif => "sarif",
            ReportFormat::Agent => "agent",
        }
    }

    pub(super) fn from_name(name: &str) -> Option<ReportFormat> {
        ReportFormat::ALL.into_iter().find(|format| format.name() == name)
    }

    /// Renders a run. Formats for a CI system use its paths.
    pub(super) fn render(self, run: &Run, ci: &Ci) -> String {
        let text = self.render_uncleaned(run, ci);
        match self {
            ReportFormat::Json
            | ReportFormat::Ndjson
            | ReportFormat::Gitlab
            | ReportFormat::Sarif => clean_json(&text),
            _ => text,
        }
    }

    fn render_uncleaned(self, run: &Run, ci: &Ci) -> String {
        match self {
            ReportFormat::Junit => sparring_report::render_junit(run),
            ReportFormat::Json => sparring_report::render_json(run),
            ReportFormat::Ndjson => sparring_report::render_ndjson(run),
            ReportFormat::Tap => sparring_report::render_tap(run),
            ReportFormat::Markdown => sparring_report::render_markdown(run),
            ReportFormat::Html => sparring_report::render_html(run),
            ReportFormat::Github => sparring_report::render_github(&ci.with_github_paths(run)),
            ReportFormat::Gitlab => sparring_report::render_gitlab(&ci.with_gitlab_paths(run)),
            ReportFormat::Sarif => sparring_report::render_sarif(&ci.with_github_paths(run)),
            ReportFormat::Agent => sparring_report::render_agent(run),
        }
    }
}

/// The file of an HTML report without a path.
const HTML_FILE: &str = "spar-report.html";

/// The value of `--report`. Without a path the report goes to stdout, except HTML, which goes
/// to a file. With `-` any report goes to stdout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ReportRequest {
    pub(super) format: ReportFormat,
    pub(super) path: Option<PathBuf>,
    /// True if the user did not name the file.
    pub(super) is_default_path: bool,
}

impl FromStr for ReportRequest {
    type Err = String;

    fn from_str(text: &str) -> Result<ReportRequest, String> {
        let (name, path) = match text.split_once('=') {
            Some((_, "")) => return Err("missing file name after =".to_owned()),
            Some((name, path)) => (name, Some(path)),
            None => (text, None),
        };
        let Some(format) = ReportFormat::from_name(name) else {
            let names = ReportFormat::ALL.map(ReportFormat::name);
            let meant = did_you_mean(name, names);
            let meant = meant.unwrap_or_else(|| format!("expected one of {}", names.join(", ")));
            return Err(format!("unknown report format `{name}`; {meant}"));
        };
        let is_default_path = path.is_none() && format == ReportFormat::Html;
        let path = if is_default_path { Some(HTML_FILE) } else { path };
        let path = path.filter(|path| *path != "-").map(PathBuf::from);
        Ok(ReportRequest { format, path, is_default_path })
    }
}
