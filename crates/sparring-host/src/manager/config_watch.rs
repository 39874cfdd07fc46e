//! Watches the configuration files of a manager. When one changes, all are read
//! again and applied. If they cannot be read, an event is sent and the old
//! configuration stays in force.

use std::path::PathBuf;
use std::sync::{Arc, Weak};

use tokio::task::spawn_blocking;

use super::event::Event;
use super::task::OwnedTask;
use super::{Inner, Manager};
use crate::config::ServerConfig;
use crate::file_watcher::FileWatcher;

/// A configuration as it was read.
pub struct LoadedConfig {
    /// The servers, or the problems of the files as text for a person.
    pub servers: Result<Vec<ServerConfig>, String>,
    /// The files of the configuration, including those that do not exist: each
    /// one that appears, changes or disappears causes a reload.
    pub files: Vec<PathBuf>,
}

/// Watches the files of a manager until it is dropped.
#[must_use = "files are followed only while this is held"]
pub struct ConfigWatch(#[expect(dead_code, reason = "its drop stops the task")] OwnedTask);

impl Manager {
    /// Watches files until the returned value is dropped or the manager is
    /// gone. `read` reads them on a blocking thread. It is also called once at
    /// the start, and its result is applied.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub fn watch_config(
        &self,
        read: impl Fn() -> LoadedConfig + Send + Sync + 'static,
    ) -> ConfigWatch {
        let manager = Arc::downgrade(&self.0);
        ConfigWatch(OwnedTask::spawn(watch_files(manager, Arc::new(read))))
    }
}

async fn watch_files<R>(manager: Weak<Inner>, read: Arc<R>)
where
    R: Fn() -> LoadedConfig + Send + Sync + 'static,
{
    let mut files = FileWatcher::default();
    loop {
        let servers = read_all(&read, &mut files).await;
        let Some(manager) = manager.upgrade().map(Manager) else { return };
        match servers {
            Ok(servers) => {
                if manager.start_reload(servers).await.is_err() {
                    return;
                }
            }
            Err(problem) => {
                let problem = problem.into();
                manager.0.context.events.send(Event::ReloadFailed { problem });
            }
        }
        drop(manager);
        files.changed().await;
    }
}

/// Reads the files. New ones may have changed before they were watched, so all
/// are read again after new ones were added.
async fn read_all<R>(read: &Arc<R>, files: &mut FileWatcher) -> Result<Vec<ServerConfig>, String>
where
    R: Fn() -> LoadedConfig + Send + Sync + 'static,
{
    loop {
        let read = Arc::clone(read);
        let reading = spawn_blocking(move || read()).await;
        let LoadedConfig { servers, files: named } =
            reading.map_err(|error| format!("cannot read the configuration: {error}"))?;
        if !files.watch(&named) {
            return servers;
        }
    }
}
