//! The forms that a report can have.

use sparring_report::Run;

use super::ci::Ci;

/// A form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Junit,
    Json,
    Ndjson,
    Tap,
    Markdown,
    Html,
    Github,
    Gitlab,
    Agent,
}

impl Kind {
    /// All there are.
    pub(super) const ALL: [Kind; 9] = [
        Kind::Junit,
        Kind::Json,
        Kind::Ndjson,
        Kind::Tap,
        Kind::Markdown,
        Kind::Html,
        Kind::Github,
        Kind::Gitlab,
        Kind::Agent,
    ];

    /// What it is called.
    pub(super) fn name(self) -> &'static str {
        match self {
            Kind::Junit => "junit",
            Kind::Json => "json",
            Kind::Ndjson => "ndjson",
            Kind::Tap => "tap",
            Kind::Markdown => "markdown",
            Kind::Html => "html",
            Kind::Github => "github",
            Kind::Gitlab => "gitlab",
            Kind::Agent => "agent",
        }
    }

    /// The one of that name.
    pub(super) fn from_name(name: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// A run in this form. Those that a CI system reads name files as it does.
    pub(super) fn text(self, run: &Run, ci: &Ci) -> String {
        match self {
            Kind::Junit => sparring_report::junit(run),
            Kind::Json => sparring_report::json(run),
            Kind::Ndjson => sparring_report::ndjson(run),
            Kind::Tap => sparring_report::tap(run),
            Kind::Markdown => sparring_report::markdown(run),
            Kind::Html => sparring_report::html(run),
            Kind::Github => sparring_report::github(&ci.as_github_sees(run)),
            Kind::Gitlab => sparring_report::gitlab(&ci.as_gitlab_sees(run)),
            Kind::Agent => sparring_report::agent(run),
        }
    }
}
