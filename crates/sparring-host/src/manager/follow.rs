//! A manager that follows its files: whenever one of them has changed, all are
//! read again and put in force. What cannot be read is told, and what runs
//! stays.

use std::path::PathBuf;
use std::sync::{Arc, Weak};

use tokio::task::spawn_blocking;

use super::event::Event;
use super::task::Task;
use super::{Inner, Manager};
use crate::config::ServerConfig;
use crate::files::Files;

/// What a configuration was when it was read.
pub struct Reading {
    /// The servers, or all that is wrong with the files as a person reads it.
    pub servers: Result<Vec<ServerConfig>, String>,
    /// The files that it is made of, those that are not there included: each
    /// that appears, changes or goes away is a reason to read again.
    pub files: Vec<PathBuf>,
}

/// A manager that follows its files. Dropped, it does so no longer.
#[must_use = "files are followed only while this is held"]
pub struct Following(#[expect(dead_code, reason = "it is held for its drop")] Task);

impl Manager {
    /// Follows files, until what is returned is dropped or the manager is gone.
    /// `read` reads them again, beside everything else that runs; it is called
    /// once at first, and what it gives is put in force too.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub fn follow(&self, read: impl Fn() -> Reading + Send + Sync + 'static) -> Following {
        let manager = Arc::downgrade(&self.0);
        Following(Task::spawn(follow(manager, Arc::new(read))))
    }
}

async fn follow<R>(manager: Weak<Inner>, read: Arc<R>)
where
    R: Fn() -> Reading + Send + Sync + 'static,
{
    let mut files = Files::none();
    loop {
        let servers = read_all(&read, &mut files).await;
        let Some(manager) = manager.upgrade().map(Manager) else { return };
        match servers {
            Ok(servers) => {
                if manager.begin_reload(servers).await.is_err() {
                    return;
                }
            }
            Err(problem) => {
                let problem = problem.into();
                manager.0.shop.announcer.tell(Event::NotReloaded { problem });
            }
        }
        drop(manager);
        files.changed().await;
    }
}

/// Reads the files as they are now. Those that were not watched before may have
/// changed meanwhile, so then all are read once more.
async fn read_all<R>(read: &Arc<R>, files: &mut Files) -> Result<Vec<ServerConfig>, String>
where
    R: Fn() -> Reading + Send + Sync + 'static,
{
    loop {
        let read = Arc::clone(read);
        let reading = spawn_blocking(move || read()).await;
        let Reading { servers, files: named } =
            reading.map_err(|error| format!("the configuration could not be read: {error}"))?;
        if !files.set(&named) {
            return servers;
        }
    }
}
