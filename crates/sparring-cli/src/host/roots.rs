//! The folders that servers may work in, which clients answer `roots/list` with.

use std::path::{Path, PathBuf};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};
use sparring_host::config::Config;
use sparring_wire::RawJson;

use crate::command_error::CommandError;
use crate::environment::Environment;
use crate::output::Printer;

/// The characters that a path in a URL contains as they are (RFC 3986, 3.3).
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'/')
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'@')
    .remove(b'+');

/// The folders; none if no roots are declared.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Roots(Vec<PathBuf>);

impl Roots {
    /// Returns the folders of `--root`, or those of the config files. A missing folder of a
    /// file is a note.
    ///
    /// # Errors
    /// When a folder of `--root` does not exist.
    pub(super) async fn find(
        flags: &[PathBuf],
        config: &Config,
        environment: &Environment,
        printer: &Printer,
    ) -> Result<Roots, CommandError> {
        let Roots(mut found) = Roots::from_folders(flags, &environment.current_dir)
            .map_err(|why| CommandError::Usage(format!("--root: {why}")))?;
        for folder in config.roots.iter().filter(|_| flags.is_empty()) {
            match folder.canonicalize().ok().filter(|it| it.is_dir()) {
                Some(folder) => found.push(folder),
                None => {
                    let note = format!("root ignored: no such folder: {}", folder.display());
                    printer.note(&note).await;
                }
            }
        }
        found.dedup();
        Ok(Roots(found))
    }

    /// Returns these folders. Relative paths begin at the current directory.
    ///
    /// # Errors
    /// When a folder does not exist; the error is the reason.
    pub(crate) fn from_folders(folders: &[PathBuf], current_dir: &Path) -> Result<Roots, String> {
        let mut found = Vec::new();
        for folder in folders {
            let folder = current_dir.join(folder);
            match folder.canonicalize().ok().filter(|it| it.is_dir()) {
                Some(folder) => found.push(folder),
                None => return Err(format!("no such folder: {}", folder.display())),
            }
        }
        Ok(Roots(found))
    }

    /// The result of `roots/list`; nothing if no roots are declared.
    pub(crate) fn result(&self) -> Option<RawJson> {
        self.value().map(RawJson::from)
    }

    /// The same as a value.
    pub(crate) fn value(&self) -> Option<Value> {
        let root = |folder: &PathBuf| {
            let name = folder.file_name().map(|name| name.to_string_lossy().into_owned());
            json!({"uri": file_url(folder), "name": name.unwrap_or_else(|| "/".to_owned())})
        };
        let roots: Vec<Value> = self.0.iter().map(root).collect();
        (!roots.is_empty()).then(|| json!({"roots": roots}))
    }
}

fn file_url(folder: &Path) -> String {
    let path = folder.display().to_string().replace('\\', "/");
    let slash = if path.starts_with('/') { "" } else { "/" };
    format!("file://{slash}{}", utf8_percent_encode(&path, ENCODED))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_becomes_a_file_url() {
        let roots = Roots(vec![PathBuf::from("/a b/ü-1")]);
        let expected = json!({"roots": [{"uri": "file:///a%20b/%C3%BC-1", "name": "ü-1"}]});
        assert_eq!(roots.value(), Some(expected));
        assert_eq!(Roots::default().value(), None);
    }
}
