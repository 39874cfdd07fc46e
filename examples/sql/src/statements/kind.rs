//! What kinds of statements there are, and how much each may do.

use std::fmt;
use std::str::FromStr;

/// What a statement does. A statement may be of several kinds: one that replaces
/// rows deletes some, and one that explains another is of that one's kinds too.
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
    /// Something that SQLite does not have, or that is not known here.
    Other,
}

/// How far a statement reaches. What SQLite makes of it may not reach further.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// It changes nothing.
    Read,
    /// It changes rows.
    Write,
    /// It changes tables, indexes, views or triggers.
    Schema,
    /// It reaches what rules cannot speak of: other files, other calls.
    Beyond,
}

impl Kind {
    /// Those that rules can speak of.
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

    /// How far it reaches.
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

    /// Its name in rules; in statements the same in capitals.
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

/// A name that no rule can have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no kind of statement `{name}`; there are {}", names(&Kind::RULED))]
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

/// The names of some kinds, as a list to be read.
pub fn names<'a>(kinds: impl IntoIterator<Item = &'a Kind>) -> String {
    kinds.into_iter().map(|kind| kind.name()).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_read_by_its_name_and_an_unknown_one_is_told_with_all_there_are() {
        assert_eq!("DROP".parse(), Ok(Kind::Drop));
        let told = "attach".parse::<Kind>().unwrap_err().to_string();
        assert_eq!(
            told,
            "there is no kind of statement `attach`; there are select, explain, pragma, insert, \
             update, delete, create, alter, drop, analyze"
        );
    }
}
