//! Authorizes every action that SQLite is about to take for a statement.
//!
//! The rules are first applied to the result of a parser that is not SQLite's. If that
//! parser misread a statement, the guard detects it: no action may have a higher
//! [`Level`] than the parsed statement.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rusqlite::hooks::{AuthAction, AuthContext, Authorization};

use crate::statements::{Kind, Level, Refusal, Rule, Rules, Statement};

/// The state of a connection's authorizer.
#[derive(Debug, Clone, Default)]
pub(super) struct Guard(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    permission: Permission,
    refused: Option<Refusal>,
    written: BTreeSet<String>,
    kind: Option<Kind>,
}

/// The actions that are currently allowed.
#[derive(Debug, Clone, Default)]
pub(super) enum Permission {
    /// Everything: the server runs a statement itself.
    #[default]
    All,
    /// The actions that the rules allow and that this statement needs. If the rules deny
    /// `select`, the statement may still read the tables in `related_tables`.
    Client { rules: Arc<Rules>, statement: Statement, related_tables: BTreeSet<String> },
    /// Nothing: the caller only wants to see the first action of a statement.
    Nothing,
}

/// The result of a statement that ran with a [`Permission`].
#[derive(Debug, Default)]
pub(super) struct GuardReport {
    /// The refusal, if an action was denied.
    pub(super) refused: Option<Refusal>,
    /// The tables that the statement writes to.
    pub(super) written: BTreeSet<String>,
    /// The kind of SQLite's first action.
    pub(super) kind: Option<Kind>,
}

impl Guard {
    /// Applies this permission to all actions until [`Guard::take_report`].
    pub(super) fn set_permission(&self, permission: Permission) {
        *self.state() = State { permission, ..State::default() };
    }

    /// Returns the result, and allows everything again.
    pub(super) fn take_report(&self) -> GuardReport {
        let state = std::mem::take(&mut *self.state());
        GuardReport { refused: state.refused, written: state.written, kind: state.kind }
    }

    /// Allows or denies one action of SQLite.
    pub(super) fn authorize(&self, context: AuthContext<'_>) -> Authorization {
        let mut state = self.state();
        let verdict = match &state.permission {
            Permission::All => return Authorization::Allow,
            Permission::Client { rules, statement, related_tables } => {
                check(context, rules, statement, related_tables)
            }
            Permission::Nothing => Err(Rule::Hidden),
        };
        state.kind.get_or_insert(kind(context.action));
        match verdict {
            Ok(()) => {
                state.written.extend(written(context.action).map(str::to_owned));
                Authorization::Allow
            }
            Err(rule) => {
                // Later refusals follow from the first.
                state
                    .refused
                    .get_or_insert_with(|| Refusal { what: describe_action(context.action), rule });
                Authorization::Deny
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn check(
    context: AuthContext<'_>,
    rules: &Rules,
    statement: &Statement,
    related_tables: &BTreeSet<String>,
) -> Result<(), Rule> {
    let (action, level) = (context.action, statement.level());
    let kind = kind(action);
    match action {
        AuthAction::Function { function_name } => return rules.check_function(function_name),
        AuthAction::Pragma { pragma_name, pragma_value } => {
            return rules.check_pragma(pragma_name, pragma_value);
        }
        // A statement may read the rows that it changes, and a trigger may read any table.
        AuthAction::Read { table_name, .. } if level == Level::Write => {
            return match context.accessor.is_some()
                || related_tables.contains(&table_name.to_ascii_lowercase())
            {
                true => Ok(()),
                false => rules.check(Kind::Select),
            };
        }
        // SQLite reports this action even for a statement that reads no table.
        AuthAction::Select | AuthAction::Recursive if level == Level::Write => return Ok(()),
        _ => {}
    }
    if kind.level() > level {
        let never = !Kind::RULED.contains(&kind) && kind != Kind::Reindex;
        return Err(if never { Rule::Never(kind) } else { Rule::Hidden });
    }
    // A change of the schema also writes to SQLite's own tables, and to the tables that it
    // creates, fills or empties.
    let implied = level == Level::Schema && (kind.level() < level || kind == Kind::Reindex);
    if implied { Ok(()) } else { rules.check(kind) }
}

/// The kind of statement that an action belongs to.
fn kind(action: AuthAction<'_>) -> Kind {
    use AuthAction as A;
    match action {
        A::Select | A::Read { .. } | A::Recursive | A::Function { .. } => Kind::Select,
        A::Pragma { .. } => Kind::Pragma,
        A::Insert { .. } => Kind::Insert,
        A::Update { .. } => Kind::Update,
        A::Delete { .. } => Kind::Delete,
        A::CreateIndex { .. }
        | A::CreateTable { .. }
        | A::CreateTempIndex { .. }
        | A::CreateTempTable { .. }
        | A::CreateTempTrigger { .. }
        | A::CreateTempView { .. }
        | A::CreateTrigger { .. }
        | A::CreateView { .. }
        | A::CreateVtable { .. } => Kind::Create,
        A::DropIndex { .. }
        | A::DropTable { .. }
        | A::DropTempIndex { .. }
        | A::DropTempTable { .. }
        | A::DropTempTrigger { .. }
        | A::DropTempView { .. }
        | A::DropTrigger { .. }
        | A::DropView { .. }
        | A::DropVtable { .. } => Kind::Drop,
        A::AlterTable { .. } => Kind::Alter,
        A::Analyze { .. } => Kind::Analyze,
        A::Reindex { .. } => Kind::Reindex,
        A::Attach { .. } => Kind::Attach,
        A::Detach { .. } => Kind::Detach,
        A::Transaction { .. } | A::Savepoint { .. } => Kind::Transaction,
        _ => Kind::Other,
    }
}

/// The table that an action writes to.
fn written(action: AuthAction<'_>) -> Option<&str> {
    match action {
        AuthAction::Insert { table_name }
        | AuthAction::Update { table_name, .. }
        | AuthAction::Delete { table_name } => Some(table_name),
        _ => None,
    }
}

/// Describes a refused action.
fn describe_action(action: AuthAction<'_>) -> String {
    match action {
        AuthAction::Function { function_name } => format!("the function {function_name}"),
        AuthAction::Pragma { pragma_name, .. } => format!("PRAGMA {pragma_name}"),
        AuthAction::Read { table_name, .. } => format!("SELECT on {table_name}"),
        action => {
            let name = kind(action).name().to_uppercase();
            match written(action) {
                Some(table) => format!("{name} on {table}"),
                None => name,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;

    /// Compiles one statement while another was parsed, and returns the refusal.
    fn compile_as(sql: &str, parsed_as: &str) -> Result<(), Option<String>> {
        let guard = Guard::default();
        let mut connection = Connection::open_in_memory().unwrap();
        connection.execute_batch("create table a (x); create table b (y);").unwrap();
        let authorizer = guard.clone();
        let authorize = move |context: AuthContext<'_>| authorizer.authorize(context);
        connection.authorizer(Some(authorize)).unwrap();
        let rules = Arc::new(Rules::default());
        let statement = Statement::read(parsed_as).unwrap();
        guard.set_permission(Permission::Client {
            rules,
            statement,
            related_tables: BTreeSet::new(),
        });
        let compiled = connection.prepare(sql).map(drop);
        let refused = guard.take_report().refused.map(|refusal| refusal.to_string());
        compiled.map_err(|_| refused)
    }

    #[test]
    fn the_guard_denies_a_statement_that_the_parser_misread() {
        let hidden = |what: &str| {
            Err(Some(format!("{what} is refused: the parsed statement does not include it")))
        };
        assert_eq!(compile_as("delete from a", "select 1"), hidden("DELETE on a"));
        assert_eq!(compile_as("update a set x = 1", "pragma user_version"), hidden("UPDATE on a"));
        assert_eq!(compile_as("drop table a", "delete from a"), hidden("DROP"));
        assert_eq!(compile_as("create table c (z)", "select 1"), hidden("INSERT on sqlite_master"));
        let files = "ATTACH is refused: other database files are never opened or closed";
        assert_eq!(compile_as("attach 'x.db' as x", "drop table a"), Err(Some(files.to_owned())));
        for sql in ["select * from a", "select max(y) from b where exists (select x from a)"] {
            assert_eq!(compile_as(sql, "select 1"), Ok(()), "{sql}");
        }
    }

    #[test]
    fn the_guard_allows_all_actions_of_a_schema_change() {
        for sql in [
            "create table c as select x from a",
            "create unique index d on a (x)",
            "alter table a rename column x to z",
            "alter table b add column z default 1",
            "drop table b",
        ] {
            assert_eq!(compile_as(sql, sql), Ok(()), "{sql}");
        }
    }
}
