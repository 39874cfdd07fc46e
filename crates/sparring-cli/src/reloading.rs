//! A mock that follows its script: whenever the script or a file that it names
//! has changed, it is read anew and served instead. One that is wrong is told,
//! and the one before stays.

use std::path::{Path, PathBuf};

use sparring_host::files::Files;
use sparring_mock::{LoadError, MockServer, Reading, Settings};
use tokio::task::spawn_blocking;

use crate::failure::Failure;
use crate::output::Printer;

/// A script that is followed.
pub(crate) struct Reloading {
    script: PathBuf,
    settings: Settings,
    files: Files,
}

impl Reloading {
    /// Reads a script, and watches it from now on.
    ///
    /// # Errors
    /// When it cannot be read, or is wrong.
    pub(crate) async fn begin(
        script: &Path,
        settings: Settings,
    ) -> Result<(Reloading, MockServer), Failure> {
        let files = Files::none();
        let mut reloading = Reloading { script: script.to_owned(), settings, files };
        let mock = reloading.read().await?;
        Ok((reloading, mock))
    }

    /// Has the mock serve what the script says, however often that changes.
    pub(crate) async fn follow(mut self, mock: &MockServer, printer: &Printer) -> ! {
        let script = self.script.display().to_string();
        loop {
            self.files.changed().await;
            match self.read().await {
                Ok(new) => {
                    let summary = new.summary();
                    let fixed = mock.reload(new);
                    printer.note(&format!("{script} was read again: serving {summary}")).await;
                    for key in fixed {
                        let note = format!("`{key}` stays as it was until the mock starts anew");
                        printer.note(&note).await;
                    }
                }
                Err(failure) => {
                    printer.trouble(&failure).await;
                    printer.note("the script from before is still served").await;
                }
            }
        }
    }

    /// Reads the script as it is now. What it names and was not watched before
    /// may have changed meanwhile, so then it is read once more.
    async fn read(&mut self) -> Result<MockServer, Failure> {
        loop {
            let (script, settings) = (self.script.clone(), self.settings.clone());
            // Others are answered meanwhile.
            let reading = spawn_blocking(move || MockServer::read(script, &settings)).await;
            let Reading { mock, files } =
                reading.map_err(|error| Failure::File(error.to_string()))?;
            if !self.files.set(&files) {
                return mock.map_err(not_loaded);
            }
        }
    }
}

/// Why there is no mock, as the end of the program.
pub(crate) fn not_loaded(error: LoadError) -> Failure {
    match error {
        LoadError::Script(problems) => Failure::Script(vec![problems]),
        error => Failure::File(error.to_string()),
    }
}
