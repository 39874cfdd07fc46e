//! The server's log on stderr. Stdout belongs to the protocol.

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;

/// The severity of a line, the lowest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Level {
    Debug,
    Info,
    Warning,
    Error,
}

/// The error for an unknown level.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown level `{0}`; expected DEBUG, INFO, WARNING or ERROR")]
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

/// The settings of the log.
#[derive(Debug, Clone, Copy)]
pub struct Log {
    /// The lowest level that is written; without one, nothing is.
    pub level: Option<Level>,
    /// True if a line begins with the time, which differs between runs.
    pub timed: bool,
}

impl Log {
    /// Writes nothing.
    pub const SILENT: Log = Log { level: None, timed: false };

    /// Writes a line, if its level is high enough.
    pub fn write(self, level: Level, what: impl fmt::Display) {
        if self.level.is_none_or(|lowest| level < lowest) {
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
    fn parses_levels_in_any_case_and_lists_them_for_an_unknown_one() {
        assert_eq!("debug".parse(), Ok(Level::Debug));
        assert_eq!("Warn".parse(), Ok(Level::Warning));
        assert!(Level::Info < Level::Error);
        assert_eq!(
            "loud".parse::<Level>().unwrap_err().to_string(),
            "unknown level `loud`; expected DEBUG, INFO, WARNING or ERROR"
        );
    }
}
