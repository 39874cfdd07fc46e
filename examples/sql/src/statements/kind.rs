//! The kinds of statements, and the level of each.

use std::fmt;
use std::str::FromStr;

/// A kind of statement. A statement may have several: one that replaces rows also
/// deletes, and an `EXPLAIN` also has the kinds of the explained statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the names are SQL's own")]
pub enum Kind {
    Select,
    Explain,
    Pragma,
    Insert,
    Update,
    Delete,
    Create,
    Alter,
    Drop,
    Analyze,
    Reindex,
    Attach,
    Detach,
    Transaction,
    Vacuum,
    /// A statement that SQLite does not have, or that the parser does not know.
    Other,
}

/// The reach of a statement. SQLite's actions may not exceed it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// It changes nothing.
    Read,
    /// It changes rows.
    Write,
    /// It changes tables, indexes, views or triggers.
    Schema,
    /// It reaches outside of the rules: other files, or other calls.
    Beyond,
}

impl Kind {
    /// The kinds that rules can allow or deny.
    pub const RULED: [Kind; 10] = [
        Kind::Select,
        Kind::Explain,
        Kind::Pragma,
        Kind::Insert,
        Kind::Update,
        Kind::Delete,
        Kind::Create,
        Kind::Alter,
        Kind::Drop,
        Kind::Analyze,
    ];

    /// The level of this kind.
    pub fn level(self) -> Level {
        match self {
            Kind::Select | Kind::Explain | Kind::Pragma => Level::Read,
            Kind::Insert | Kind::Update | Kind::Delete => Level::Write,
            Kind::Create | Kind::Alter | Kind::Drop | Kind::Analyze | Kind::Reindex => {
                Level::Schema
            }
            Kind::Attach | Kind::Detach | Kind::Transaction | Kind::Vacuum | Kind::Other => {
                Level::Beyond
            }
        }
    }

    /// Its name in rules; statements have the same name in capitals.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Select => "select",
            Kind::Explain => "explain",
            Kind::Pragma => "pragma",
            Kind::Insert => "insert",
            Kind::Update => "update",
            Kind::Delete => "delete",
            Kind::Create => "create",
            Kind::Alter => "alter",
            Kind::Drop => "drop",
            Kind::Analyze => "analyze",
            Kind::Reindex => "reindex",
            Kind::Attach => "attach",
            Kind::Detach => "detach",
            Kind::Transaction => "transaction",
            Kind::Vacuum => "vacuum",
            Kind::Other => "other",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that is not a kind in rules.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown kind of statement `{name}`; expected {}", names(&Kind::RULED))]
pub struct UnknownKind {
    name: String,
}

impl FromStr for Kind {
    type Err = UnknownKind;

    fn from_str(name: &str) -> Result<Self, UnknownKind> {
        let known = Kind::RULED.into_iter().find(|kind| kind.name().eq_ignore_ascii_case(name));
        known.ok_or_else(|| UnknownKind { name: name.to_owned() })
    }
}

/// Lists the names of some kinds.
pub fn names<'a>(kinds: impl IntoIterator<Item = &'a Kind>) -> String {
    kinds.into_iter().map(|kind| kind.name()).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_a_kind_by_name_and_lists_all_kinds_for_an_unknown_one() {
        assert_eq!("DROP".parse(), Ok(Kind::Drop));
        let error = "attach".parse::<Kind>().unwrap_err().to_string();
        assert_eq!(
            error,
            "unknown kind of statement `attach`; expected select, explain, pragma, insert, \
             update, delete, create, alter, drop, analyze"
        );
    }
}
