//! What the server says on stderr. Stdout belongs to the protocol.

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;

/// How severe a line is, least first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Level {
    Debug,
    Info,
    Warning,
    Error,
}

/// A name that no level has.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no level `{0}`; there are DEBUG, INFO, WARNING and ERROR")]
pub struct UnknownLevel(String);

impl FromStr for Level {
    type Err = UnknownLevel;

    fn from_str(name: &str) -> Result<Self, UnknownLevel> {
        match name.to_ascii_uppercase().as_str() {
            "DEBUG" => Ok(Level::Debug),
            "INFO" => Ok(Level::Info),
            "WARNING" | "WARN" => Ok(Level::Warning),
            "ERROR" => Ok(Level::Error),
            _ => Err(UnknownLevel(name.to_owned())),
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Level::Debug => "DEBUG",
            Level::Info => "INFO",
            Level::Warning => "WARNING",
            Level::Error => "ERROR",
        })
    }
}

/// Where lines go, and which.
#[derive(Debug, Clone, Copy)]
pub struct Log {
    /// The least severe that is said; with none nothing is.
    pub level: Option<Level>,
    /// Whether a line begins with the time, which differs from run to run.
    pub timed: bool,
}

impl Log {
    /// Says nothing.
    pub const SILENT: Log = Log { level: None, timed: false };

    /// Says something, if it is severe enough.
    pub fn say(self, level: Level, what: impl fmt::Display) {
        if self.level.is_none_or(|least| level < least) {
            return;
        }
        match self.timed {
            true => eprintln!("{:.3} {level} {what}", Timestamp::now()),
            false => eprintln!("{level} {what}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_named_in_any_case_and_an_unknown_one_lists_them() {
        assert_eq!("debug".parse(), Ok(Level::Debug));
        assert_eq!("Warn".parse(), Ok(Level::Warning));
        assert!(Level::Info < Level::Error);
        assert_eq!(
            "loud".parse::<Level>().unwrap_err().to_string(),
            "there is no level `loud`; there are DEBUG, INFO, WARNING and ERROR"
        );
    }
}
