//! Parses the text of one statement.

use std::collections::BTreeSet;

use sqlparser::ast::{
    Delete, FromTable, Insert, ObjectName, OnConflictAction, OnInsert, Query, SetExpr,
    SqliteOnConflict, Statement as Parsed, TableFactor, TableObject, TableWithJoins, Update,
};
use sqlparser::dialect::SQLiteDialect;
use sqlparser::parser::Parser;
use sqlparser::tokenizer::{Token, Tokenizer};

use super::kind::{Kind, Level};
use super::rules::{Refusal, Rules};

/// The facts about a statement before it runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// The kind that its first word names.
    first: Kind,
    kinds: BTreeSet<Kind>,
    target: Option<String>,
}

/// The reason why a text is not exactly one statement.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotOne {
    /// The text is empty.
    #[error("the text has no statement")]
    None,
    /// The text has several statements.
    #[error("the text has {0} statements; a call runs one")]
    Several(usize),
    /// The parser cannot read the text.
    #[error("the rules cannot be applied to a statement that cannot be parsed: {0}")]
    Unreadable(String),
}

impl Statement {
    /// Parses a text that must be one statement.
    ///
    /// # Errors
    /// If the text is empty, has several statements, or cannot be parsed.
    pub fn read(sql: &str) -> Result<Self, NotOne> {
        let parsed = Parser::parse_sql(&SQLiteDialect {}, sql)
            .map_err(|error| NotOne::Unreadable(error.to_string()))?;
        match &parsed[..] {
            [] => Err(NotOne::None),
            [one] => {
                let mut facts = StatementFacts::default();
                let first = facts.statement(one);
                Ok(Statement { first, kinds: facts.kinds, target: facts.target })
            }
            more => Err(NotOne::Several(more.len())),
        }
    }

    /// Accepts a text that begins with a pragma, because the parser knows few of them. It
    /// must be the only statement.
    ///
    /// # Errors
    /// If another statement follows.
    pub fn pragma(sql: &str) -> Result<Self, NotOne> {
        let tokens = Tokenizer::new(&SQLiteDialect {}, sql).tokenize();
        let tokens = tokens.map_err(|error| NotOne::Unreadable(error.to_string()))?;
        let statements = tokens.split(|token| *token == Token::SemiColon);
        let says = |tokens: &&[Token]| tokens.iter().any(|it| !matches!(it, Token::Whitespace(_)));
        match statements.filter(says).count() {
            1 => {
                let kinds = BTreeSet::from([Kind::Pragma]);
                Ok(Statement { first: Kind::Pragma, kinds, target: None })
            }
            count => Err(NotOne::Several(count)),
        }
    }

    /// The kind that its first word names.
    pub fn kind(&self) -> Kind {
        self.first
    }

    /// All kinds of the statement.
    pub fn kinds(&self) -> &BTreeSet<Kind> {
        &self.kinds
    }

    /// The table whose rows it changes.
    pub fn target(&self) -> Option<&str> {
        self.target.as_deref()
    }

    /// Returns true if it explains another statement, which then does not run.
    pub fn explains(&self) -> bool {
        self.first == Kind::Explain
    }

    /// Returns true if it changes nothing.
    pub fn only_reads(&self) -> bool {
        self.explains() || self.level() == Level::Read
    }

    /// The level of the statement, including an explained one.
    pub fn level(&self) -> Level {
        self.kinds.iter().map(|kind| kind.level()).max().unwrap_or(Level::Beyond)
    }

    /// Checks the statement against the rules.
    ///
    /// # Errors
    /// The kind that the rules deny, and the rule.
    pub fn check(&self, rules: &Rules) -> Result<(), Refusal> {
        // The first kind comes first, because the author of the statement knows it.
        let all = std::iter::once(&self.first).chain(&self.kinds);
        all.into_iter().try_for_each(|kind| {
            let named = |rule| Refusal { what: self.named(*kind), rule };
            rules.check(*kind).map_err(named)
        })
    }

    fn named(&self, kind: Kind) -> String {
        let name = kind.name().to_uppercase();
        match kind == self.first {
            true => name,
            false => format!("{name} in {}", self.first.name().to_uppercase()),
        }
    }
}

/// The facts collected from a statement and its parts.
#[derive(Default)]
struct StatementFacts {
    kinds: BTreeSet<Kind>,
    target: Option<String>,
}

impl StatementFacts {
    /// Collects the facts of a statement, and returns its first kind.
    fn statement(&mut self, statement: &Parsed) -> Kind {
        let kind = match statement {
            Parsed::Query(query) => return self.query(query),
            Parsed::Insert(insert) => self.insert(insert),
            Parsed::Update(update) => self.update(update),
            Parsed::Delete(delete) => self.delete(delete),
            Parsed::CreateTable(table) => {
                self.add_if(Kind::Select, table.query.is_some());
                Kind::Create
            }
            Parsed::CreateView(_)
            | Parsed::CreateIndex(_)
            | Parsed::CreateVirtualTable { .. }
            | Parsed::CreateTrigger(_) => Kind::Create,
            Parsed::AlterTable(_) => Kind::Alter,
            Parsed::Drop { .. } | Parsed::DropTrigger(_) => Kind::Drop,
            Parsed::Explain { statement, .. } => {
                self.statement(statement);
                Kind::Explain
            }
            Parsed::Pragma { .. } => Kind::Pragma,
            Parsed::Analyze(_) => Kind::Analyze,
            Parsed::AttachDatabase { .. } => Kind::Attach,
            Parsed::StartTransaction { .. }
            | Parsed::Commit { .. }
            | Parsed::Rollback { .. }
            | Parsed::Savepoint { .. }
            | Parsed::ReleaseSavepoint { .. } => Kind::Transaction,
            Parsed::Vacuum(_) => Kind::Vacuum,
            _ => Kind::Other,
        };
        self.kinds.insert(kind);
        kind
    }

    fn add_if(&mut self, kind: Kind, condition: bool) {
        self.kinds.extend(condition.then_some(kind));
    }

    fn insert(&mut self, insert: &Insert) -> Kind {
        // `REPLACE` deletes the conflicting rows.
        let replaces = insert.replace_into || insert.or == Some(SqliteOnConflict::Replace);
        self.add_if(Kind::Delete, replaces);
        if let Some(OnInsert::OnConflict(conflict)) = &insert.on {
            self.add_if(Kind::Update, matches!(conflict.action, OnConflictAction::DoUpdate(_)));
        }
        self.add_if(Kind::Select, insert.returning.is_some());
        if let Some(source) = &insert.source
            && !(source.with.is_none() && matches!(*source.body, SetExpr::Values(_)))
        {
            self.query(source);
        }
        if let TableObject::TableName(name) = &insert.table {
            self.target = last(name);
        }
        Kind::Insert
    }

    fn update(&mut self, update: &Update) -> Kind {
        self.add_if(Kind::Delete, update.or == Some(SqliteOnConflict::Replace));
        self.add_if(Kind::Select, update.returning.is_some());
        self.target = table(&update.table);
        Kind::Update
    }

    fn delete(&mut self, delete: &Delete) -> Kind {
        self.add_if(Kind::Select, delete.returning.is_some());
        let (FromTable::WithFromKeyword(from) | FromTable::WithoutKeyword(from)) = &delete.from;
        self.target = from.first().and_then(table);
        Kind::Delete
    }

    /// The body of a query may be another statement if it begins with `WITH`.
    fn query(&mut self, query: &Query) -> Kind {
        for table in query.with.iter().flat_map(|with| &with.cte_tables) {
            self.query(&table.query);
        }
        self.body(&query.body)
    }

    fn body(&mut self, body: &SetExpr) -> Kind {
        match body {
            SetExpr::Insert(statement)
            | SetExpr::Update(statement)
            | SetExpr::Delete(statement)
            | SetExpr::Merge(statement) => self.statement(statement),
            SetExpr::Query(query) => self.query(query),
            SetExpr::SetOperation { left, right, .. } => {
                self.body(right);
                self.body(left)
            }
            SetExpr::Select(_) | SetExpr::Values(_) | SetExpr::Table(_) => {
                self.kinds.insert(Kind::Select);
                Kind::Select
            }
        }
    }
}

fn table(table: &TableWithJoins) -> Option<String> {
    match &table.relation {
        TableFactor::Table { name, .. } => last(name),
        _ => None,
    }
}

/// A table's name without its schema.
fn last(name: &ObjectName) -> Option<String> {
    let part = name.0.last().and_then(|part| part.as_ident());
    part.map(|ident| ident.value.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(sql: &str, first: Kind, kinds: &[Kind]) {
        let statement = Statement::read(sql).expect(sql);
        assert_eq!(statement.kind(), first, "{sql}");
        assert_eq!(*statement.kinds(), kinds.iter().copied().collect(), "{sql}");
    }

    #[test]
    fn the_parser_finds_the_kind_by_syntax_not_by_words() {
        use Kind::*;
        check("select 'drop table t'", Select, &[Select]);
        check("select 1 -- ; drop table t", Select, &[Select]);
        check("/* select */ DrOp /* */ table \"select\"", Drop, &[Drop]);
        check("with d as (select 1) delete from t", Delete, &[Select, Delete]);
        check("with i as (select 1) insert into t select * from i", Insert, &[Select, Insert]);
        check("select 1 union select 2", Select, &[Select]);
        check("values (1), (2)", Select, &[Select]);
        check("create table t as select 1", Create, &[Select, Create]);
        check("begin immediate", Transaction, &[Transaction]);
        check("attach 'x.db' as x", Attach, &[Attach]);
    }

    #[test]
    fn a_statement_has_all_kinds_that_it_needs() {
        use Kind::*;
        check("insert into t values (1), (2)", Insert, &[Insert]);
        check("insert into t values (1) returning a", Insert, &[Select, Insert]);
        check("replace into t values (1)", Insert, &[Insert, Delete]);
        check("insert or replace into t values (1)", Insert, &[Insert, Delete]);
        let upsert = "insert into t values (1) on conflict (a) do update set a = 2";
        check(upsert, Insert, &[Insert, Update]);
        check("update or replace t set a = 1", Update, &[Update, Delete]);
        check("delete from t returning *", Delete, &[Select, Delete]);
        check("explain delete from t", Explain, &[Explain, Delete]);
        check("explain query plan select 1", Explain, &[Select, Explain]);
    }

    #[test]
    fn rejects_a_text_that_is_not_one_statement() {
        assert_eq!(Statement::read(" -- nothing"), Err(NotOne::None));
        assert_eq!(Statement::read("select 1; drop table t"), Err(NotOne::Several(2)));
        assert!(Statement::read("select ';'; ").is_ok());
        assert!(matches!(Statement::read("selec 1"), Err(NotOne::Unreadable(_))));
    }

    #[test]
    fn explain_has_the_kinds_of_its_statement_but_only_reads() {
        let statement = Statement::read("explain delete from t").unwrap();
        assert!(statement.only_reads());
        let rules = Rules { deny: BTreeSet::from([Kind::Delete]), ..Rules::default() };
        let refused = statement.check(&rules).unwrap_err().to_string();
        assert_eq!(refused, "DELETE in EXPLAIN is refused: the deny list has delete");
    }

    #[test]
    fn the_parser_finds_the_written_table() {
        for sql in [
            "insert into main.\"My Table\" values (1)",
            "update [My Table] set a = 1",
            "with x as (select 1) delete from `My Table`",
        ] {
            assert_eq!(Statement::read(sql).unwrap().target(), Some("My Table"), "{sql}");
        }
    }
}
