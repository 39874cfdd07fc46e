//! Reads the schema of a database with the server's own statements.

use std::collections::BTreeSet;

use rusqlite::{OptionalExtension as _, Row};
use serde_json::{Value, json};

use super::Engine;
use super::run::{Outcome, Params, SqlTool, StatementRequest};
use crate::error::Error;

/// A table or a view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Table {
    pub(crate) name: String,
    /// `table`, `view` or `virtual`.
    pub(crate) kind: String,
    pub(crate) columns: i64,
}

/// The columns, indexes and foreign keys of a table or a view.
#[derive(Debug)]
pub(crate) struct Description {
    pub(crate) table: Table,
    pub(crate) columns: Value,
    pub(crate) indexes: Value,
    pub(crate) foreign_keys: Value,
    /// The statement that created it.
    pub(crate) sql: Option<String>,
}

/// Facts about a database as a whole.
#[derive(Debug)]
pub(crate) struct Facts {
    pub(crate) location: String,
    pub(crate) sqlite_version: &'static str,
    pub(crate) encoding: String,
    pub(crate) size_bytes: i64,
    pub(crate) tables: i64,
    pub(crate) views: i64,
}

/// Selects all tables except SQLite's own and the shadow tables of virtual ones.
const TABLES: &str = "SELECT DISTINCT name, type, \
     (SELECT count(*) FROM pragma_table_xinfo(list.name) WHERE hidden <> 1) \
     FROM pragma_table_list AS list WHERE type <> 'shadow' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'";

impl Engine {
    /// All tables and views, by their names.
    pub(crate) fn tables(&self) -> Result<Vec<Table>, Error> {
        let mut prepared = self.connection.prepare(&format!("{TABLES} ORDER BY name"))?;
        let tables = prepared.query_map([], table)?.collect::<rusqlite::Result<_>>()?;
        Ok(tables)
    }

    /// Returns true if the tables and views have changed since the last call.
    pub(crate) fn tables_changed(&mut self) -> Result<bool, Error> {
        let now: Vec<String> = self.tables()?.into_iter().map(|table| table.name).collect();
        let changed = self.known != now;
        self.known = now;
        Ok(changed)
    }

    /// The table or view with this name, in its original spelling.
    fn table(&self, name: &str) -> Result<Table, Error> {
        let sql = format!("{TABLES} AND name = ?1 COLLATE NOCASE");
        let found = self.connection.query_row(&sql, [name], table).optional()?;
        match found {
            Some(table) => Ok(table),
            None => {
                let existing = self.tables()?.into_iter().map(|table| table.name).collect();
                Err(Error::NoTable { name: name.to_owned(), existing })
            }
        }
    }

    /// Describes the table or view with this name.
    pub(crate) fn describe(&self, name: &str) -> Result<Description, Error> {
        let table = self.table(name)?;
        let sql = "SELECT sql FROM (SELECT * FROM sqlite_schema UNION ALL \
                   SELECT * FROM sqlite_temp_schema) WHERE name = ?1 AND type IN ('table', 'view')";
        let created = self.connection.query_row(sql, [&table.name], |row| row.get(0)).optional()?;
        Ok(Description {
            columns: self.list(COLUMNS, &table.name, column)?,
            indexes: self.list(INDEXES, &table.name, index)?,
            foreign_keys: self.list(FOREIGN_KEYS, &table.name, foreign_key)?,
            sql: created.flatten(),
            table,
        })
    }

    /// The tables that SQLite may have to read when rows of this one change: itself, and
    /// the tables at both ends of its foreign keys. The names are in lower case.
    pub(super) fn related_tables(&self, table: &str) -> Result<BTreeSet<String>, Error> {
        let mut prepared = self.connection.prepare(RELATED_TABLES)?;
        let names = prepared.query_map([table], |row| row.get(0))?;
        Ok(names.collect::<rusqlite::Result<_>>()?)
    }

    fn list(
        &self,
        sql: &str,
        table: &str,
        read: fn(&Row<'_>) -> rusqlite::Result<Value>,
    ) -> Result<Value, Error> {
        let mut prepared = self.connection.prepare(sql)?;
        let items = prepared.query_map([table], read)?.collect::<rusqlite::Result<Vec<_>>>()?;
        Ok(items.into())
    }

    /// The first rows of the table or view with this name, under the client's rules.
    pub(crate) fn first_rows(&mut self, name: &str, count: usize) -> Result<Outcome, Error> {
        let quoted = name.replace('"', "\"\"");
        self.run(&StatementRequest {
            sql: format!("SELECT * FROM \"{quoted}\" LIMIT {}", count + 1),
            params: Params::None,
            max_rows: count,
            tool: SqlTool::Query,
        })
    }

    /// Reads the facts about the database.
    pub(crate) fn facts(&self) -> Result<Facts, Error> {
        let number = |sql: &str| self.connection.query_row(sql, [], |row| row.get::<_, i64>(0));
        let views = number(&format!("SELECT count(*) FROM ({TABLES} AND type = 'view')"))?;
        Ok(Facts {
            location: self.location.clone(),
            sqlite_version: rusqlite::version(),
            encoding: self.connection.query_row("PRAGMA encoding", [], |row| row.get(0))?,
            size_bytes: number("PRAGMA page_count")? * number("PRAGMA page_size")?,
            tables: number(&format!("SELECT count(*) FROM ({TABLES})"))? - views,
            views,
        })
    }
}

const RELATED_TABLES: &str = "WITH RECURSIVE \
     keys (child, parent) AS (SELECT lower(s.name), lower(k.\"table\") \
        FROM sqlite_schema AS s JOIN pragma_foreign_key_list(s.name) AS k), \
     related (name) AS (SELECT lower(?1) UNION \
        SELECT iif(child = name, parent, child) FROM related JOIN keys ON name IN (child, parent)) \
     SELECT name FROM related";

const COLUMNS: &str = "SELECT name, type, \"notnull\", dflt_value, pk, hidden \
     FROM pragma_table_xinfo(?1) WHERE hidden <> 1";

const INDEXES: &str = "SELECT name, \"unique\", origin, partial, \
     (SELECT json_group_array(name) FROM pragma_index_info(il.name)) \
     FROM pragma_index_list(?1) AS il ORDER BY name";

const FOREIGN_KEYS: &str = "SELECT \"table\", json_group_array(\"from\"), \
     json_group_array(\"to\"), on_update, on_delete \
     FROM (SELECT * FROM pragma_foreign_key_list(?1) ORDER BY id, seq) GROUP BY id";

fn table(row: &Row<'_>) -> rusqlite::Result<Table> {
    Ok(Table { name: row.get(0)?, kind: row.get(1)?, columns: row.get(2)? })
}

fn column(row: &Row<'_>) -> rusqlite::Result<Value> {
    Ok(json!({
        "name": row.get::<_, String>(0)?,
        "type": row.get::<_, String>(1)?,
        "nullable": !row.get::<_, bool>(2)?,
        "default": row.get::<_, Option<String>>(3)?,
        "primary_key": row.get::<_, i64>(4)? > 0,
        "generated": row.get::<_, i64>(5)? > 1,
    }))
}

fn index(row: &Row<'_>) -> rusqlite::Result<Value> {
    Ok(json!({
        "name": row.get::<_, String>(0)?,
        "unique": row.get::<_, bool>(1)?,
        "partial": row.get::<_, bool>(3)?,
        "columns": array(row, 4)?,
    }))
}

fn foreign_key(row: &Row<'_>) -> rusqlite::Result<Value> {
    Ok(json!({
        "columns": array(row, 1)?,
        "table": row.get::<_, String>(0)?,
        "to": array(row, 2)?,
        "on_update": row.get::<_, String>(3)?,
        "on_delete": row.get::<_, String>(4)?,
    }))
}

/// Parses a JSON text that SQLite built.
fn array(row: &Row<'_>, index: usize) -> rusqlite::Result<Value> {
    let text: String = row.get(index)?;
    Ok(serde_json::from_str(&text).unwrap_or_default())
}
