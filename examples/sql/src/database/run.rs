//! Runs a client's statement: parses it, applies the rules, binds the parameters, and
//! reads the rows within the limits.

use std::collections::BTreeSet;
use std::sync::Arc;

use rusqlite::Statement as Prepared;
use rusqlite::types::Value as Sql;
use serde_json::{Map, Value};

use super::guard::Permission;
use super::{Engine, MAX_SQL_BYTES, value};
use crate::error::Error;
use crate::statements::{Kind, Level, NotOne, Refusal, Rule, Statement};

/// A statement that a client wants to run.
#[derive(Debug, Clone)]
pub(crate) struct StatementRequest {
    pub(crate) sql: String,
    pub(crate) params: Params,
    pub(crate) max_rows: usize,
    pub(crate) tool: SqlTool,
}

/// The tool that was called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SqlTool {
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
    pub(crate) fn run(&mut self, request: &StatementRequest) -> Result<Outcome, Error> {
        if request.sql.len() > MAX_SQL_BYTES {
            return Err(Error::TooLong(request.sql.len(), MAX_SQL_BYTES));
        }
        let statement = match Statement::read(&request.sql) {
            Ok(statement) if statement.kind() != Kind::Other => statement,
            Ok(_) => self.parse_with_sqlite(&request.sql, "SQLite has no such statement")?,
            Err(NotOne::Unreadable(why)) => self.parse_with_sqlite(&request.sql, &why)?,
            Err(not_one) => return Err(not_one.into()),
        };
        statement.check(&self.rules)?;
        request.tool.check(&statement)?;
        let related_tables = match (statement.target(), self.rules.check(Kind::Select)) {
            (Some(target), Err(_)) => self.related_tables(target)?,
            _ => BTreeSet::new(),
        };
        let rules = Arc::clone(&self.rules);
        self.guard.set_permission(Permission::Client {
            rules,
            statement: statement.clone(),
            related_tables,
        });
        self.clock.set_timeout(self.limits.timeout);
        let outcome = self.run_parsed(&statement, request);
        let report = self.guard.take_report();
        match outcome {
            Ok(outcome) => Ok(Outcome { written: report.written, ..outcome }),
            Err(error) => Err(self.root_cause(error, report.refused)),
        }
    }

    fn run_parsed(
        &self,
        statement: &Statement,
        request: &StatementRequest,
    ) -> Result<Outcome, Error> {
        let before = self.connection.total_changes();
        let mut prepared = self.connection.prepare(&request.sql)?;
        if request.tool == SqlTool::Query && !prepared.readonly() && prepared.is_explain() == 0 {
            let what = statement.kind().name().to_uppercase();
            return Err(Refusal { what, rule: Rule::Hidden }.into());
        }
        bind(&mut prepared, &request.params)?;
        let mut outcome = Outcome { kind: Some(statement.kind()), ..Outcome::default() };
        outcome.columns = prepared
            .columns()
            .map(|column| Column {
                name: column.name().to_owned(),
                declared: column.decl_type().map(str::to_owned),
            })
            .collect();
        self.take_rows(&mut prepared, request, &mut outcome)?;
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
        request: &StatementRequest,
        outcome: &mut Outcome,
    ) -> Result<(), Error> {
        let width = outcome.columns.len();
        let max_rows = request.max_rows.min(self.limits.max_rows);
        let mut bytes_left = self.limits.max_bytes;
        let mut rows = prepared.raw_query();
        while let Some(row) = rows.next()? {
            if outcome.truncated || outcome.rows.len() == max_rows {
                outcome.truncated = true;
                match request.tool {
                    SqlTool::Query => break,
                    SqlTool::Execute => continue,
                }
            }
            let mut cells = Vec::with_capacity(width);
            let mut size = 2;
            for index in 0..width {
                let (cell, bytes) = value::to_json(row.get_ref(index)?);
                size += bytes + 1;
                cells.push(cell);
            }
            match bytes_left.checked_sub(size) {
                Some(rest) => {
                    bytes_left = rest;
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
    fn parse_with_sqlite(&self, sql: &str, why: &str) -> Result<Statement, Error> {
        self.guard.set_permission(Permission::Nothing);
        self.clock.set_timeout(self.limits.timeout);
        let prepared = self.connection.prepare(sql).map(drop);
        let report = self.guard.take_report();
        match (report.kind, prepared) {
            (Some(Kind::Pragma), _) => Ok(Statement::pragma(sql)?),
            (Some(kind), _) if kind.level() == Level::Beyond => {
                let what = kind.name().to_uppercase();
                Err(Refusal { what, rule: Rule::Never(kind) }.into())
            }
            (None, Err(error)) => Err(self.root_cause(error.into(), None)),
            _ => Err(NotOne::Unreadable(why.to_owned()).into()),
        }
    }

    /// Replaces an error by its cause, if the cause is known.
    fn root_cause(&self, error: Error, refused: Option<Refusal>) -> Error {
        use super::clock::StopReason;
        match (error, refused, self.clock.stop_reason()) {
            (Error::Sqlite(_), Some(refusal), _) => refusal.into(),
            (Error::Sqlite(error), None, Some(stop_reason)) if is_interrupt(&error) => {
                match stop_reason {
                    StopReason::TimedOut => Error::TimedOut(self.limits.timeout),
                    StopReason::Cancelled => Error::Cancelled,
                }
            }
            (Error::Sqlite(rusqlite::Error::MultipleStatement), ..) => NotOne::Several(2).into(),
            (Error::Sqlite(rusqlite::Error::SqlInputError { msg, offset, .. }), ..) => {
                Error::Sql { message: msg, offset: offset.max(0) }
            }
            (error, ..) => error,
        }
    }
}

impl SqlTool {
    fn check(self, statement: &Statement) -> Result<(), Refusal> {
        let (tool, why, other) = match self {
            SqlTool::Query if !statement.only_reads() => ("query", "only reads", "execute"),
            SqlTool::Execute if statement.only_reads() => ("execute", "changes something", "query"),
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
