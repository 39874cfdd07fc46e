//! The forms that a report can have.

use sparring_report::Run;

/// A form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Json,
    Ndjson,
}

impl Kind {
    /// All there are.
    pub(crate) const ALL: [Kind; 2] = [Kind::Json, Kind::Ndjson];

    /// What it is called.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::Json => "json",
            Kind::Ndjson => "ndjson",
        }
    }

    /// The one of that name.
    pub(super) fn from_name(name: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// A run in this form.
    pub(super) fn text(self, run: &Run) -> String {
        match self {
            Kind::Json => sparring_report::json(run),
            Kind::Ndjson => sparring_report::ndjson(run),
        }
    }
}
