//! From a script to a mock: out of a file, out of a text, or out of nothing.

use std::path::{Path, PathBuf};

use sparring_script::{Problems, Source};

use crate::load::{Settings, load};
use crate::server::MockServer;

/// What came of reading a script from a file.
#[derive(Debug)]
#[must_use = "it has the mock, or why there is none"]
pub struct Reading {
    /// The mock, or what is wrong.
    pub mock: Result<MockServer, LoadError>,
    /// The script and the files that it names, also where they could not be
    /// read.
    pub files: Vec<PathBuf>,
}

/// Why a script is no server.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// It could not be read.
    #[error("cannot read {}: {error}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        error: std::io::Error,
    },
    /// It is wrong.
    #[error("{0}")]
    Script(#[from] Problems),
}

impl MockServer {
    /// Reads a script from a file.
    ///
    /// # Errors
    /// When it cannot be read, or is wrong; all that is wrong is told at once.
    pub fn from_file(path: impl AsRef<Path>, settings: &Settings) -> Result<Self, LoadError> {
        MockServer::read(path, settings).mock
    }

    /// Reads a script from a file, and says which files that took: all that
    /// another reading may find changed.
    pub fn read(path: impl AsRef<Path>, settings: &Settings) -> Reading {
        let path = path.as_ref();
        let mut files = vec![path.to_owned()];
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) => {
                let error = LoadError::Read { path: path.to_owned(), error };
                return Reading { mock: Err(error), files };
            }
        };
        let source = Source::new(path.display().to_string(), text);
        let folder = path.parent().unwrap_or(Path::new(""));
        let loaded = load(&source, folder, settings);
        files.extend(loaded.files);
        Reading { mock: loaded.model.map(MockServer::of).map_err(LoadError::Script), files }
    }

    /// Reads a script; files that it names are looked for from `folder` on.
    ///
    /// # Errors
    /// When it is wrong; all that is wrong is told at once.
    pub fn from_yaml(text: &str, folder: impl AsRef<Path>) -> Result<Self, Problems> {
        MockServer::from_yaml_with(text, folder, &Settings::default())
    }

    /// The same, with what is said beside the script.
    ///
    /// # Errors
    /// When it is wrong; all that is wrong is told at once.
    pub fn from_yaml_with(
        text: &str,
        folder: impl AsRef<Path>,
        settings: &Settings,
    ) -> Result<Self, Problems> {
        MockServer::load(&Source::new("mock.yaml", text), folder.as_ref(), settings)
    }

    /// A mock without a script: it has the tool `get_data`, and its cases
    /// bring their responses along.
    ///
    /// # Errors
    /// When the settings are wrong.
    pub fn of_interactions(settings: &Settings) -> Result<Self, Problems> {
        let settings = Settings { interactions: true, ..settings.clone() };
        let source = Source::new("no script", "server: {name: interactions}");
        MockServer::load(&source, Path::new(""), &settings)
    }

    pub(crate) fn load(
        source: &Source,
        folder: &Path,
        settings: &Settings,
    ) -> Result<Self, Problems> {
        load(source, folder, settings).model.map(MockServer::of)
    }
}
