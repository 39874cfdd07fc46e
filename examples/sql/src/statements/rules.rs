//! The rules for statements, and the refusals that name them.

use std::collections::BTreeSet;

use super::kind::{Kind, names};

/// The rules for statements. A denied kind stays denied even if it is in the allow list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rules {
    /// If present, only these kinds may run.
    pub allow: Option<BTreeSet<Kind>>,
    /// These kinds may not run.
    pub deny: BTreeSet<Kind>,
    /// Only statements that change nothing may run.
    pub read_only: bool,
}

/// Pragmas that only read the schema. They take no argument, or the name of a table or an index.
const READING_PRAGMAS: [&str; 13] = [
    "collation_list",
    "compile_options",
    "foreign_key_check",
    "foreign_key_list",
    "function_list",
    "index_info",
    "index_list",
    "index_xinfo",
    "integrity_check",
    "quick_check",
    "table_info",
    "table_list",
    "table_xinfo",
];

/// Pragmas that only read if they have no argument.
const READING_PRAGMAS_WITHOUT_ARGUMENT: [&str; 6] = [
    "application_id",
    "encoding",
    "freelist_count",
    "page_count",
    "schema_version",
    "user_version",
];

/// Functions that reach outside of the database.
const EXTERNAL_FUNCTIONS: [&str; 2] = ["load_extension", "fts3_tokenizer"];

impl Rules {
    /// Checks a statement of this kind.
    ///
    /// # Errors
    /// The rule that denies it.
    pub fn check(&self, kind: Kind) -> Result<(), Rule> {
        if !Kind::RULED.contains(&kind) {
            return Err(Rule::Never(kind));
        }
        if self.deny.contains(&kind) {
            return Err(Rule::Denied(kind));
        }
        if let Some(allow) = self.allow.as_ref().filter(|allow| !allow.contains(&kind)) {
            return Err(Rule::NotAllowed(allow.clone()));
        }
        match self.read_only && kind.level() > super::Level::Read {
            true => Err(Rule::ReadOnly),
            false => Ok(()),
        }
    }

    /// Checks a pragma.
    ///
    /// # Errors
    /// The rule that denies it.
    pub fn check_pragma(&self, name: &str, value: Option<&str>) -> Result<(), Rule> {
        self.check(Kind::Pragma)?;
        let is = |known: &&str| known.eq_ignore_ascii_case(name);
        let reads = READING_PRAGMAS.iter().any(&is)
            || value.is_none() && READING_PRAGMAS_WITHOUT_ARGUMENT.iter().any(is);
        if reads { Ok(()) } else { Err(Rule::Setting) }
    }

    /// Checks a function call.
    ///
    /// # Errors
    /// The rule that denies it.
    pub fn check_function(&self, name: &str) -> Result<(), Rule> {
        match EXTERNAL_FUNCTIONS.iter().any(|it| it.eq_ignore_ascii_case(name)) {
            true => Err(Rule::Outside),
            false => Ok(()),
        }
    }

    /// All kinds that may run.
    pub fn allowed(&self) -> Vec<Kind> {
        Kind::RULED.into_iter().filter(|kind| self.check(*kind).is_ok()).collect()
    }
}

/// A rule that a statement breaks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Rule {
    /// The deny list contains the kind.
    #[error("the deny list has {0}")]
    Denied(Kind),
    /// The allow list does not contain the kind.
    #[error("the allow list has only {}", names(.0))]
    NotAllowed(BTreeSet<Kind>),
    /// The statement would change a read-only database.
    #[error("the database is served read-only")]
    ReadOnly,
    /// No rule can allow this kind.
    #[error("{}", never(*.0))]
    Never(Kind),
    /// The pragma sets something.
    #[error("only pragmas that read the schema are allowed")]
    Setting,
    /// The function reaches outside of the database.
    #[error("it reaches outside of the database")]
    Outside,
    /// The statement belongs to the other tool.
    #[error("the tool `{tool}` {why}; use `{other}`")]
    WrongTool {
        /// The tool that was called.
        tool: &'static str,
        /// The purpose of that tool.
        why: &'static str,
        /// The tool to call instead.
        other: &'static str,
    },
    /// SQLite's action exceeds the parsed statement.
    #[error("the parsed statement does not include it")]
    Hidden,
}

fn never(kind: Kind) -> &'static str {
    match kind {
        Kind::Attach | Kind::Detach => "other database files are never opened or closed",
        Kind::Transaction => {
            "each call is a transaction of its own, since clients share the database"
        }
        Kind::Vacuum => "it writes a whole database, and can write one anywhere",
        _ => "no rule can allow it",
    }
}

/// A refused statement, with the rule that denies it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what} is refused: {rule}")]
pub struct Refusal {
    /// The refused part of the statement, such as `DELETE on orders`.
    pub what: String,
    /// The rule that denies it.
    pub rule: Rule,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(kinds: &[Kind]) -> BTreeSet<Kind> {
        kinds.iter().copied().collect()
    }

    #[test]
    fn without_lists_every_ruled_kind_is_allowed() {
        let rules = Rules::default();
        assert_eq!(rules.allowed(), Kind::RULED);
        for kind in [Kind::Attach, Kind::Detach, Kind::Transaction, Kind::Vacuum, Kind::Other] {
            assert_eq!(rules.check(kind), Err(Rule::Never(kind)));
        }
    }

    #[test]
    fn the_deny_list_overrides_the_allow_list() {
        let allow = Some(kinds(&[Kind::Select, Kind::Drop]));
        let rules = Rules { allow, deny: kinds(&[Kind::Drop]), ..Rules::default() };
        assert_eq!(rules.allowed(), [Kind::Select]);
        assert_eq!(rules.check(Kind::Drop).unwrap_err().to_string(), "the deny list has drop");
        let error = rules.check(Kind::Insert).unwrap_err().to_string();
        assert_eq!(error, "the allow list has only select, drop");
    }

    #[test]
    fn read_only_allows_only_kinds_that_read() {
        let rules = Rules { read_only: true, ..Rules::default() };
        assert_eq!(rules.allowed(), [Kind::Select, Kind::Explain, Kind::Pragma]);
    }

    #[test]
    fn a_pragma_may_read_but_not_set() {
        let rules = Rules::default();
        for (name, value, good) in [
            ("table_info", Some("orders"), true),
            ("TABLE_XINFO", Some("orders"), true),
            ("user_version", None, true),
            ("user_version", Some("7"), false),
            ("writable_schema", Some("ON"), false),
            ("query_only", None, false),
            ("database_list", None, false),
        ] {
            assert_eq!(rules.check_pragma(name, value).is_ok(), good, "{name} {value:?}");
        }
        let none = Rules { deny: kinds(&[Kind::Pragma]), ..Rules::default() };
        assert_eq!(none.check_pragma("table_info", None), Err(Rule::Denied(Kind::Pragma)));
    }
}
