//! Reloads a mock's script when the script or a file that it names changes. After a
//! reload with problems the mock keeps the script from before.

use std::path::{Path, PathBuf};

use sparring_host::file_watcher::FileWatcher;
use sparring_mock::{LoadError, LoadedMock, MockServer, Settings};
use tokio::task::spawn_blocking;

use crate::command_error::CommandError;
use crate::output::Printer;

/// A script that is watched.
pub(crate) struct ScriptReloader {
    script: PathBuf,
    settings: Settings,
    files: FileWatcher,
}

impl ScriptReloader {
    /// Reads a script and watches it from now on.
    ///
    /// # Errors
    /// When it cannot be read or has problems.
    pub(crate) async fn start(
        script: &Path,
        settings: Settings,
    ) -> Result<(ScriptReloader, MockServer), CommandError> {
        let files = FileWatcher::default();
        let mut reloader = ScriptReloader { script: script.to_owned(), settings, files };
        let mock = reloader.read().await?;
        Ok((reloader, mock))
    }

    /// Reloads the mock after every change.
    pub(crate) async fn run(mut self, mock: &MockServer, printer: &Printer) -> ! {
        let script = self.script.display().to_string();
        loop {
            self.files.changed().await;
            match self.read().await {
                Ok(new) => {
                    let summary = new.summary();
                    let fixed = mock.reload(new);
                    printer.note(&format!("reloaded {script}: serving {summary}")).await;
                    for key in fixed {
                        let note = format!("`{key}` changes only when the mock restarts");
                        printer.note(&note).await;
                    }
                }
                Err(failure) => {
                    printer.print_error(&failure).await;
                    printer.note("still serving the previous script").await;
                }
            }
        }
    }

    /// Reads the script. Reads it again if it names files that were not watched yet,
    /// since they may have changed meanwhile.
    async fn read(&mut self) -> Result<MockServer, CommandError> {
        loop {
            let (script, settings) = (self.script.clone(), self.settings.clone());
            // On a thread, so that requests are answered meanwhile.
            let reading = spawn_blocking(move || MockServer::read(script, &settings)).await;
            let LoadedMock { mock, files } =
                reading.map_err(|error| CommandError::File(error.to_string()))?;
            if !self.files.watch(&files) {
                return mock.map_err(load_error);
            }
        }
    }
}

/// Returns the failure for a script that cannot be loaded.
pub(crate) fn load_error(error: LoadError) -> CommandError {
    match error {
        LoadError::Script(problems) => CommandError::Script(vec![problems]),
        error => CommandError::File(error.to_string()),
    }
}
