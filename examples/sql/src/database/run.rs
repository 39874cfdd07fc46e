//! Runs a client's statement: parses it, applies the rules, binds the parameters, and
//! reads the rows within the limits.

use std::collections::BTreeSet;
use std::sync::Arc;

use rusqlite::Statement as Prepared;
use rusqlite::types::Value as Sql;
use serde_json::{Map, Value};

use super::guard::Pass;
use super::{Engine, MOST_SQL, value};
use crate::error::Error;
use crate::statements::{Kind, Level, NotOne, Refusal, Rule, Statement};

/// A statement that a client wants to run.
#[derive(Debug, Clone)]
pub(crate) struct Wanted {
    pub(crate) sql: String,
    pub(crate) params: Params,
    pub(crate) max_rows: usize,
    pub(crate) tool: Tool,
}

/// The tool that was called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tool {
    Query,
    Execute,
}

/// Values for the parameters of a statement.
#[derive(Debug, Clone, Default)]
pub(crate) enum Params {
    #[default]
    None,
    Listed(Vec<Value>),
    Named(Map<String, Value>),
}

/// The result of a statement.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) kind: Option<Kind>,
    pub(crate) columns: Vec<Column>,
    pub(crate) rows: Vec<Value>,
    /// True if rows were left out.
    pub(crate) truncated: bool,
    pub(crate) rows_affected: u64,
    pub(crate) last_insert_rowid: Option<i64>,
    /// The tables that were written to.
    pub(crate) written: BTreeSet<String>,
    /// True if the statement may have changed the list of tables.
    pub(crate) schema_changed: bool,
}

#[derive(Debug)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) declared: Option<String>,
}

impl Engine {
    /// Runs a client's statement.
    pub(crate) fn run(&mut self, wanted: &Wanted) -> Result<Outcome, Error> {
        if wanted.sql.len() > MOST_SQL {
            return Err(Error::TooLong(wanted.sql.len(), MOST_SQL));
        }
        let statement = match Statement::read(&wanted.sql) {
            Ok(statement) if statement.kind() != Kind::Other => statement,
            Ok(_) => self.as_sqlite_reads(&wanted.sql, "SQLite has no such statement")?,
            Err(NotOne::Unreadable(why)) => self.as_sqlite_reads(&wanted.sql, &why)?,
            Err(not_one) => return Err(not_one.into()),
        };
        statement.check(&self.rules)?;
        wanted.tool.check(&statement)?;
        let near = match (statement.target(), self.rules.check(Kind::Select)) {
            (Some(target), Err(_)) => self.near(target)?,
            _ => BTreeSet::new(),
        };
        let rules = Arc::clone(&self.rules);
        self.guard.let_pass(Pass::Client { rules, statement: statement.clone(), near });
        self.clock.limit(self.limits.timeout);
        let outcome = self.run_read(&statement, wanted);
        let passed = self.guard.take();
        match outcome {
            Ok(outcome) => Ok(Outcome { written: passed.written, ..outcome }),
            Err(error) => Err(self.told(error, passed.refused)),
        }
    }

    fn run_read(&self, statement: &Statement, wanted: &Wanted) -> Result<Outcome, Error> {
        let before = self.connection.total_changes();
        let mut prepared = self.connection.prepare(&wanted.sql)?;
        if wanted.tool == Tool::Query && !prepared.readonly() && prepared.is_explain() == 0 {
            let what = statement.kind().name().to_uppercase();
            return Err(Refusal { what, rule: Rule::Hidden }.into());
        }
        bind(&mut prepared, &wanted.params)?;
        let mut outcome = Outcome { kind: Some(statement.kind()), ..Outcome::default() };
        outcome.columns = prepared
            .columns()
            .map(|column| Column {
                name: column.name().to_owned(),
                declared: column.decl_type().map(str::to_owned),
            })
            .collect();
        self.take_rows(&mut prepared, wanted, &mut outcome)?;
        drop(prepared);
        let changed = !statement.only_reads();
        if changed && statement.level() == Level::Write && self.connection.total_changes() > before
        {
            outcome.rows_affected = self.connection.changes();
            let inserts = statement.kinds().contains(&Kind::Insert);
            outcome.last_insert_rowid = inserts.then(|| self.connection.last_insert_rowid());
        }
        outcome.schema_changed = changed && statement.level() == Level::Schema;
        Ok(outcome)
    }

    /// Reads the rows up to the limits. A statement that changes something runs to its end,
    /// even if no more rows are taken.
    fn take_rows(
        &self,
        prepared: &mut Prepared<'_>,
        wanted: &Wanted,
        outcome: &mut Outcome,
    ) -> Result<(), Error> {
        let width = outcome.columns.len();
        let most = wanted.max_rows.min(self.limits.max_rows);
        let mut room = self.limits.max_bytes;
        let mut rows = prepared.raw_query();
        while let Some(row) = rows.next()? {
            if outcome.truncated || outcome.rows.len() == most {
                outcome.truncated = true;
                match wanted.tool {
                    Tool::Query => break,
                    Tool::Execute => continue,
                }
            }
            let mut cells = Vec::with_capacity(width);
            let mut size = 2;
            for index in 0..width {
                let (cell, bytes) = value::to_json(row.get_ref(index)?);
                size += bytes + 1;
                cells.push(cell);
            }
            match room.checked_sub(size) {
                Some(rest) => {
                    room = rest;
                    outcome.rows.push(cells.into());
                }
                None => outcome.truncated = true,
            }
        }
        Ok(())
    }

    /// Handles a statement that the parser cannot read. SQLite compiles it without running
    /// it. Only pragmas are accepted, because the parser knows few of them. Otherwise the
    /// error is SQLite's, or the parser's if SQLite can read the statement.
    fn as_sqlite_reads(&self, sql: &str, why: &str) -> Result<Statement, Error> {
        self.guard.let_pass(Pass::Nothing);
        self.clock.limit(self.limits.timeout);
        let prepared = self.connection.prepare(sql).map(drop);
        let passed = self.guard.take();
        match (passed.kind, prepared) {
            (Some(Kind::Pragma), _) => Ok(Statement::pragma(sql)?),
            (Some(kind), _) if kind.level() == Level::Beyond => {
                let what = kind.name().to_uppercase();
                Err(Refusal { what, rule: Rule::Never(kind) }.into())
            }
            (None, Err(error)) => Err(self.told(error.into(), None)),
            _ => Err(NotOne::Unreadable(why.to_owned()).into()),
        }
    }

    /// Replaces an error by its cause, if the cause is known.
    fn told(&self, error: Error, refused: Option<Refusal>) -> Error {
        use super::clock::Stopped;
        match (error, refused, self.clock.stopped()) {
            (Error::Sqlite(_), Some(refusal), _) => refusal.into(),
            (Error::Sqlite(error), None, Some(stopped)) if is_interrupt(&error) => match stopped {
                Stopped::Late => Error::Late(self.limits.timeout),
                Stopped::GivenUp => Error::GivenUp,
            },
            (Error::Sqlite(rusqlite::Error::MultipleStatement), ..) => NotOne::Several(2).into(),
            (Error::Sqlite(rusqlite::Error::SqlInputError { msg, offset, .. }), ..) => {
                Error::Sql { message: msg, offset: offset.max(0) }
            }
            (error, ..) => error,
        }
    }
}

impl Tool {
    fn check(self, statement: &Statement) -> Result<(), Refusal> {
        let (tool, why, other) = match self {
            Tool::Query if !statement.only_reads() => ("query", "only reads", "execute"),
            Tool::Execute if statement.only_reads() => ("execute", "changes something", "query"),
            _ => return Ok(()),
        };
        let what = statement.kind().name().to_uppercase();
        Err(Refusal { what, rule: Rule::WrongTool { tool, why, other } })
    }
}

fn is_interrupt(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(rusqlite::ErrorCode::OperationInterrupted)
}

fn bind(prepared: &mut Prepared<'_>, params: &Params) -> Result<(), Error> {
    let count = prepared.parameter_count();
    let values = match params {
        Params::None => Vec::new(),
        Params::Listed(values) => values.iter().map(read).collect::<Result<Vec<_>, _>>()?,
        Params::Named(values) => named(prepared, values)?,
    };
    if values.len() != count {
        let message =
            format!("the statement has {count} parameters, and params has {}", values.len());
        return Err(Error::Params(message));
    }
    for (index, value) in values.into_iter().enumerate() {
        prepared.raw_bind_parameter(index + 1, value)?;
    }
    Ok(())
}

fn named(prepared: &Prepared<'_>, values: &Map<String, Value>) -> Result<Vec<Sql>, Error> {
    let mut names = BTreeSet::new();
    let mut found = Vec::new();
    for index in 1..=prepared.parameter_count() {
        let name = prepared.parameter_name(index).unwrap_or("?");
        let bare = &name[1..];
        let value = values.get(bare);
        let value =
            value.ok_or_else(|| Error::Params(format!("params has no value for {name}")))?;
        names.insert(bare.to_owned());
        found.push(read(value)?);
    }
    match values.keys().find(|name| !names.contains(*name)) {
        Some(name) => {
            Err(Error::Params(format!("the statement has no parameter for `{name}` of params")))
        }
        None => Ok(found),
    }
}

fn read(value: &Value) -> Result<Sql, Error> {
    value::from_json(value).map_err(|why| Error::Params(format!("params: {why}")))
}
