//! Creates mocks from script files, from text, and without a script.

use std::path::{Path, PathBuf};

use sparring_script::{Problems, Source};
use sparring_transport::{MAX_SCRIPT_BYTES, read_text_file};

use crate::load::{Settings, load};
use crate::server::MockServer;

/// The result of loading a script file.
#[derive(Debug)]
#[must_use = "it contains the mock or the error"]
pub struct LoadedMock {
    /// The mock, or the problems of the script.
    pub mock: Result<MockServer, LoadError>,
    /// The script and the files that it names, even if they could not be read.
    pub files: Vec<PathBuf>,
}

/// A script could not be loaded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The file could not be read.
    #[error("cannot read {}: {error}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        error: std::io::Error,
    },
    /// The script has problems.
    #[error("{0}")]
    Script(#[from] Problems),
}

impl MockServer {
    /// Loads a script from a file.
    ///
    /// # Errors
    /// If the file cannot be read or the script is wrong, with all problems at once.
    pub fn from_file(path: impl AsRef<Path>, settings: &Settings) -> Result<Self, LoadError> {
        MockServer::read(path, settings).mock
    }

    /// Loads a script from a file, and returns all files that were read, so that the caller can
    /// watch them for changes.
    pub fn read(path: impl AsRef<Path>, settings: &Settings) -> LoadedMock {
        let path = path.as_ref();
        let mut files = vec![path.to_owned()];
        let text = match read_text_file(path, MAX_SCRIPT_BYTES) {
            Ok(text) => text,
            Err(error) => {
                let error = LoadError::Read { path: path.to_owned(), error };
                return LoadedMock { mock: Err(error), files };
            }
        };
        let source = Source::new(path.display().to_string(), text);
        let folder = path.parent().unwrap_or(Path::new(""));
        let loaded = load(&source, folder, settings);
        files.extend(loaded.files);
        LoadedMock {
            mock: loaded.model.map(MockServer::from_model).map_err(LoadError::Script),
            files,
        }
    }

    /// Loads a script from text. Relative paths start from `folder`.
    ///
    /// # Errors
    /// If the script is wrong, with all problems at once.
    pub fn from_yaml(text: &str, folder: impl AsRef<Path>) -> Result<Self, Problems> {
        MockServer::from_yaml_with(text, folder, &Settings::default())
    }

    /// Loads a script from text with settings.
    ///
    /// # Errors
    /// If the script is wrong, with all problems at once.
    pub fn from_yaml_with(
        text: &str,
        folder: impl AsRef<Path>,
        settings: &Settings,
    ) -> Result<Self, Problems> {
        MockServer::load(&Source::new("mock.yaml", text), folder.as_ref(), settings)
    }

    /// Creates a mock without a script: it has only the tool `get_data`, and each test case
    /// contains its responses.
    ///
    /// # Errors
    /// If the settings are wrong.
    pub fn for_interactions(settings: &Settings) -> Result<Self, Problems> {
        let settings = Settings { interactions: true, ..settings.clone() };
        let source = Source::new("no script", "server: {name: interactions}");
        MockServer::load(&source, Path::new(""), &settings)
    }

    pub(crate) fn load(
        source: &Source,
        folder: &Path,
        settings: &Settings,
    ) -> Result<Self, Problems> {
        load(source, folder, settings).model.map(MockServer::from_model)
    }
}
