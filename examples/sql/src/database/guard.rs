//! The last word about a statement: SQLite says what it is about to do with it,
//! and is told whether it may.
//!
//! The parser that the rules are first applied to is not SQLite's own. What it
//! read wrongly comes to light here, since nothing that SQLite does may reach
//! further than what was read.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rusqlite::hooks::{AuthAction, AuthContext, Authorization};

use crate::statements::{Kind, Level, Refusal, Rule, Rules, Statement};

/// What stands behind a connection's authorizer.
#[derive(Debug, Clone, Default)]
pub(super) struct Guard(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    pass: Pass,
    refused: Option<Refusal>,
    written: BTreeSet<String>,
    kind: Option<Kind>,
}

/// What may be done for now.
#[derive(Debug, Clone, Default)]
pub(super) enum Pass {
    /// Everything: the statement is our own.
    #[default]
    Own,
    /// What the rules let a client do, and no more than this statement. Where it
    /// may not query, it still may look into these tables.
    Client { rules: Arc<Rules>, statement: Statement, near: BTreeSet<String> },
    /// Nothing; it is only to be seen what would be done.
    Nothing,
}

/// What came of a statement for which there was a pass.
#[derive(Debug, Default)]
pub(super) struct Passed {
    /// Why SQLite was not let do it, if so.
    pub(super) refused: Option<Refusal>,
    /// The tables that it writes to.
    pub(super) written: BTreeSet<String>,
    /// What SQLite was about to do first.
    pub(super) kind: Option<Kind>,
}

impl Guard {
    /// Lets this be done from now on, until what came of it is taken.
    pub(super) fn let_pass(&self, pass: Pass) {
        *self.state() = State { pass, ..State::default() };
    }

    /// What came of it; our own statements pass again.
    pub(super) fn take(&self) -> Passed {
        let state = std::mem::take(&mut *self.state());
        Passed { refused: state.refused, written: state.written, kind: state.kind }
    }

    /// Whether SQLite may do this.
    pub(super) fn judge(&self, context: AuthContext<'_>) -> Authorization {
        let mut state = self.state();
        let judged = match &state.pass {
            Pass::Own => return Authorization::Allow,
            Pass::Client { rules, statement, near } => check(context, rules, statement, near),
            Pass::Nothing => Err(Rule::Hidden),
        };
        state.kind.get_or_insert(kind(context.action));
        match judged {
            Ok(()) => {
                state.written.extend(written(context.action).map(str::to_owned));
                Authorization::Allow
            }
            Err(rule) => {
                // The first is what the others follow from.
                state.refused.get_or_insert_with(|| Refusal { what: told(context.action), rule });
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
    near: &BTreeSet<String>,
) -> Result<(), Rule> {
    let (action, level) = (context.action, statement.level());
    let kind = kind(action);
    match action {
        AuthAction::Function { function_name } => return rules.check_function(function_name),
        AuthAction::Pragma { pragma_name, pragma_value } => {
            return rules.check_pragma(pragma_name, pragma_value);
        }
        // To look at what is changed is no query, and a trigger's are its author's.
        AuthAction::Read { table_name, .. } if level == Level::Write => {
            return match context.accessor.is_some()
                || near.contains(&table_name.to_ascii_lowercase())
            {
                true => Ok(()),
                false => rules.check(Kind::Select),
            };
        }
        // Where nothing is read this is only how SQLite does it.
        AuthAction::Select | AuthAction::Recursive if level == Level::Write => return Ok(()),
        _ => {}
    }
    if kind.level() > level {
        let never = !Kind::RULED.contains(&kind) && kind != Kind::Reindex;
        return Err(if never { Rule::Never(kind) } else { Rule::Hidden });
    }
    // A change of the schema is written into SQLite's own tables, and into those
    // that are made, filled or emptied by it.
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

/// What is told of an action that is refused.
fn told(action: AuthAction<'_>) -> String {
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

    /// What SQLite is told when it compiles one statement while another was read.
    fn compile(sql: &str, read_as: &str) -> Result<(), Option<String>> {
        let guard = Guard::default();
        let mut connection = Connection::open_in_memory().unwrap();
        connection.execute_batch("create table a (x); create table b (y);").unwrap();
        let judge = guard.clone();
        let judge = move |context: AuthContext<'_>| judge.judge(context);
        connection.authorizer(Some(judge)).unwrap();
        let rules = Arc::new(Rules::default());
        let statement = Statement::read(read_as).unwrap();
        guard.let_pass(Pass::Client { rules, statement, near: BTreeSet::new() });
        let compiled = connection.prepare(sql).map(drop);
        let refused = guard.take().refused.map(|refusal| refusal.to_string());
        compiled.map_err(|_| refused)
    }

    #[test]
    fn sqlite_has_the_last_word_about_a_statement_that_was_read_wrongly() {
        let hidden = |what: &str| {
            Err(Some(format!("{what} is refused: it is not what the statement was read as")))
        };
        assert_eq!(compile("delete from a", "select 1"), hidden("DELETE on a"));
        assert_eq!(compile("update a set x = 1", "pragma user_version"), hidden("UPDATE on a"));
        assert_eq!(compile("drop table a", "delete from a"), hidden("DROP"));
        assert_eq!(compile("create table c (z)", "select 1"), hidden("INSERT on sqlite_master"));
        let files = "ATTACH is refused: other database files are never opened or closed";
        assert_eq!(compile("attach 'x.db' as x", "drop table a"), Err(Some(files.to_owned())));
        for sql in ["select * from a", "select max(y) from b where exists (select x from a)"] {
            assert_eq!(compile(sql, "select 1"), Ok(()), "{sql}");
        }
    }

    #[test]
    fn a_change_of_the_schema_may_do_what_it_needs() {
        for sql in [
            "create table c as select x from a",
            "create unique index d on a (x)",
            "alter table a rename column x to z",
            "alter table b add column z default 1",
            "drop table b",
        ] {
            assert_eq!(compile(sql, sql), Ok(()), "{sql}");
        }
    }
}
