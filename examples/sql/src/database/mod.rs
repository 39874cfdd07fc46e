//! The database: a connection on its own thread, which runs one job after the other.
//!
//! Dropping the future of a job stops its statement, and the thread takes the next job.

mod clock;
mod guard;
mod run;
mod schema;
mod value;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags};
use tokio::sync::{mpsc, oneshot};

use self::clock::{CancelFlag, Clock, STEPS_BETWEEN_CHECKS};
use self::guard::Guard;
use crate::error::{Error, OpenError};
use crate::settings::{Limits, Location, Settings};
use crate::statements::Rules;

pub(crate) use run::{Outcome, Params, SqlTool, StatementRequest};
pub(crate) use schema::{Description, Table};
pub(crate) use value::{integer, schema as value_schema};

/// Maximum bytes of a statement. In the worst case its syntax tree is as deep as the
/// text is long, and the tree must fit on the thread's stack.
const MAX_SQL_BYTES: usize = 100_000;

/// The stack size of the thread. The system commits only the pages that are used.
const STACK_BYTES: usize = 256 * 1024 * 1024;

/// Maximum bytes of one value or row.
const MAX_VALUE_BYTES: i32 = 16 * 1024 * 1024;

/// Maximum jobs in the queue.
const MAX_QUEUED_JOBS: usize = 1_000;

/// A handle that sends jobs to the database thread.
#[derive(Debug)]
pub(crate) struct Database {
    jobs: Option<mpsc::Sender<Job>>,
    closing: CancelFlag,
    thread: Option<JoinHandle<()>>,
}

struct Job {
    cancelled: CancelFlag,
    work: Box<dyn FnOnce(&mut Engine) + Send>,
}

/// The state of the database thread.
pub(crate) struct Engine {
    pub(super) connection: Connection,
    location: String,
    guard: Guard,
    clock: Clock,
    rules: Arc<Rules>,
    limits: Limits,
    /// The tables and views at the last check for changes.
    known: Vec<String>,
}

impl Database {
    /// Opens the database that the settings name.
    pub(crate) fn open(settings: &Settings) -> Result<Self, OpenError> {
        let mut engine = Engine::open(settings)?;
        let (jobs, mut queue) = mpsc::channel::<Job>(MAX_QUEUED_JOBS);
        let closing = CancelFlag::default();
        let closed = Arc::clone(&closing);
        let work = move || {
            while let Some(job) = queue.blocking_recv() {
                if !job.cancelled.load(Ordering::Relaxed) && !closed.load(Ordering::Relaxed) {
                    engine.clock.start(vec![job.cancelled, Arc::clone(&closed)]);
                    (job.work)(&mut engine);
                }
            }
        };
        let thread =
            std::thread::Builder::new().name("database".to_owned()).stack_size(STACK_BYTES);
        let thread = thread.spawn(work).map_err(OpenError::Thread)?;
        Ok(Database { jobs: Some(jobs), closing, thread: Some(thread) })
    }

    /// Runs a job on the thread. Dropping the future stops the job.
    pub(crate) async fn with<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Engine) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let (reply, answer) = oneshot::channel();
        let cancel_on_drop = CancelOnDrop(Arc::new(AtomicBool::new(false)));
        let job = Job {
            cancelled: Arc::clone(&cancel_on_drop.0),
            // The caller may have dropped the receiver.
            work: Box::new(move |engine| drop(reply.send(work(engine)))),
        };
        let jobs = self.jobs.as_ref().ok_or(Error::Closed)?;
        jobs.send(job).await.map_err(|_| Error::Closed)?;
        answer.await.unwrap_or(Err(Error::Closed))
    }
}

/// Cancels a job when it is dropped.
struct CancelOnDrop(CancelFlag);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Stops the running statement and closes the connection.
impl Drop for Database {
    fn drop(&mut self) {
        self.closing.store(true, Ordering::Relaxed);
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            // Joining fails only after a panic, which the panic hook has already printed.
            let _ = thread.join();
        }
    }
}

impl Engine {
    fn open(settings: &Settings) -> Result<Self, OpenError> {
        let location = settings.database.to_string();
        let named = |error| OpenError::Database { location: location.clone(), error };
        let read_only = settings.rules.read_only;
        let in_file = matches!(settings.database, Location::File(_));
        if let Some(script) = settings.init.as_ref().filter(|_| read_only && in_file) {
            return Err(OpenError::InitReadOnly(format!("{location} ({})", script.display())));
        }
        let mut connection = connect(&settings.database, read_only).map_err(named)?;
        if let Some(path) = settings.init.clone() {
            let script = std::fs::read_to_string(&path)
                .map_err(|error| OpenError::Script { path: path.clone(), error })?;
            connection.execute_batch(&script).map_err(|error| OpenError::Init { path, error })?;
        }
        let (guard, clock) = (Guard::default(), Clock::default());
        install_hooks(&mut connection, &guard, &clock, read_only).map_err(named)?;
        let limits = settings.limits;
        let rules = Arc::new(settings.rules.clone());
        let known = Vec::new();
        let mut engine =
            Engine { connection, location: location.clone(), guard, clock, rules, limits, known };
        engine.tables_changed().map_err(|error| OpenError::Tables { location, error })?;
        Ok(engine)
    }
}

fn connect(location: &Location, read_only: bool) -> rusqlite::Result<Connection> {
    // Only one thread uses the connection, so SQLite needs no mutex.
    let threads = OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let writing = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
    match location {
        Location::Memory => Connection::open_in_memory_with_flags(writing | threads),
        Location::File(path) if read_only => {
            Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY | threads)
        }
        Location::File(path) => Connection::open_with_flags(path, writing | threads),
    }
}

/// Installs guard and clock. SQLite opens a file with the first statement, so this runs
/// one to find errors.
fn install_hooks(
    connection: &mut Connection,
    guard: &Guard,
    clock: &Clock,
    read_only: bool,
) -> rusqlite::Result<()> {
    connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
    connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES)?;
    connection.set_limit(Limit::SQLITE_LIMIT_WORKER_THREADS, 0)?;
    connection.pragma_update(None, "trusted_schema", false)?;
    if read_only {
        connection.pragma_update(None, "query_only", true)?;
    }
    let (guard, clock) = (guard.clone(), clock.clone());
    connection.progress_handler(STEPS_BETWEEN_CHECKS, Some(move || clock.must_stop()))?;
    connection
        .authorizer(Some(move |context: rusqlite::hooks::AuthContext<'_>| guard.authorize(context)))
}
