//! Which kinds of statements may run, and what somebody is told whose statement
//! may not.

use std::collections::BTreeSet;

use super::kind::{Kind, names};

/// Which statements may run. What is denied is denied, whatever is allowed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rules {
    /// Only these, where there is a list.
    pub allow: Option<BTreeSet<Kind>>,
    /// None of these.
    pub deny: BTreeSet<Kind>,
    /// Only those that change nothing.
    pub read_only: bool,
}

/// Pragmas that only tell something, and take the name of a table or an index or
/// nothing at all.
const TELLING: [&str; 13] = [
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

/// Pragmas that tell something when they are given nothing.
const TELLING_ALONE: [&str; 6] = [
    "application_id",
    "encoding",
    "freelist_count",
    "page_count",
    "schema_version",
    "user_version",
];

/// Functions that reach outside of the database.
const OUTSIDE: [&str; 2] = ["load_extension", "fts3_tokenizer"];

impl Rules {
    /// Whether a statement of this kind may run.
    ///
    /// # Errors
    /// Says which rule is against it.
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

    /// Whether a pragma may run.
    ///
    /// # Errors
    /// Says which rule is against it.
    pub fn check_pragma(&self, name: &str, value: Option<&str>) -> Result<(), Rule> {
        self.check(Kind::Pragma)?;
        let is = |known: &&str| known.eq_ignore_ascii_case(name);
        let tells = TELLING.iter().any(&is) || value.is_none() && TELLING_ALONE.iter().any(is);
        if tells { Ok(()) } else { Err(Rule::Setting) }
    }

    /// Whether a function may be called.
    ///
    /// # Errors
    /// Says which rule is against it.
    pub fn check_function(&self, name: &str) -> Result<(), Rule> {
        match OUTSIDE.iter().any(|it| it.eq_ignore_ascii_case(name)) {
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
    /// The deny list names it.
    #[error("the deny list has {0}")]
    Denied(Kind),
    /// The allow list does not name it.
    #[error("the allow list has only {}", names(.0))]
    NotAllowed(BTreeSet<Kind>),
    /// It would change something.
    #[error("the database is served read-only")]
    ReadOnly,
    /// No rule can allow it.
    #[error("{}", never(*.0))]
    Never(Kind),
    /// It is a pragma that sets something.
    #[error("only pragmas that tell about the schema are run")]
    Setting,
    /// It is a function that reaches outside.
    #[error("it reaches outside of the database")]
    Outside,
    /// The tool is not made for it.
    #[error("the tool `{tool}` {why}; use `{other}`")]
    WrongTool {
        /// The tool that was called.
        tool: &'static str,
        /// What that one is for.
        why: &'static str,
        /// The one to call.
        other: &'static str,
    },
    /// The parser saw less than SQLite.
    #[error("it is not what the statement was read as")]
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

/// A statement that is not run, and why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what} is refused: {rule}")]
pub struct Refusal {
    /// What of the statement it is about, as `DELETE on orders`.
    pub what: String,
    /// What is against it.
    pub rule: Rule,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(kinds: &[Kind]) -> BTreeSet<Kind> {
        kinds.iter().copied().collect()
    }

    #[test]
    fn without_lists_everything_runs_that_rules_can_speak_of() {
        let rules = Rules::default();
        assert_eq!(rules.allowed(), Kind::RULED);
        for kind in [Kind::Attach, Kind::Detach, Kind::Transaction, Kind::Vacuum, Kind::Other] {
            assert_eq!(rules.check(kind), Err(Rule::Never(kind)));
        }
    }

    #[test]
    fn what_is_denied_is_denied_whatever_is_allowed() {
        let allow = Some(kinds(&[Kind::Select, Kind::Drop]));
        let rules = Rules { allow, deny: kinds(&[Kind::Drop]), ..Rules::default() };
        assert_eq!(rules.allowed(), [Kind::Select]);
        assert_eq!(rules.check(Kind::Drop).unwrap_err().to_string(), "the deny list has drop");
        let told = rules.check(Kind::Insert).unwrap_err().to_string();
        assert_eq!(told, "the allow list has only select, drop");
    }

    #[test]
    fn read_only_leaves_what_changes_nothing() {
        let rules = Rules { read_only: true, ..Rules::default() };
        assert_eq!(rules.allowed(), [Kind::Select, Kind::Explain, Kind::Pragma]);
    }

    #[test]
    fn a_pragma_may_tell_but_not_set() {
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
