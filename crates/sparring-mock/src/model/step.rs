//! What happens besides an answer.

use std::time::Duration;

use sparring_script::Tree;
use sparring_wire::types::LogLevel;

use super::Kind;

/// One thing that happens.
#[derive(Debug)]
pub(crate) enum Step {
    Progress {
        progress: f64,
        total: Option<f64>,
        message: Option<Tree>,
    },
    Log {
        level: LogLevel,
        logger: Option<String>,
        data: Tree,
    },
    Notify {
        method: String,
        params: Option<Tree>,
    },
    Delay(Duration),
    /// Puts an entry into its list, or takes it out.
    List {
        kind: Kind,
        id: String,
        shown: bool,
    },
    /// Ends the connection; the client comes back for the rest.
    BreakOff,
}

/// What happens by itself.
#[derive(Debug)]
pub(crate) struct Timer {
    pub(crate) after: Duration,
    pub(crate) again: bool,
    pub(crate) steps: Vec<Step>,
}
