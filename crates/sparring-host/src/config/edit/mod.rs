//! Changes a config file without changing anything else in it: comments, order
//! and formatting stay.
//!
//! The changed text is parsed again and compared with the expected contents
//! before it is written.

mod expected_content;
mod json;
mod yaml;

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;
use sparring_script::{Node, NodeKind, Problems, Source};
use sparring_transport::{FileAccess, replace_file};

use super::config_context::ConfigContext;
use super::entry::{EntryContext, read_server};
use super::locations::{ConfigLocation, Format};
use super::read::{digest, parse, parse_content, read_text};
use super::server_config::{Origin, Scope};
use super::trust::{Trust, TrustError};
use super::trust_preview::collect_variables;

/// Maximum wait for the lock of another process, and the interval of tries.
const LOCK_TIMEOUT: Duration = Duration::from_secs(5);
const LOCK_RETRY_INTERVAL: Duration = Duration::from_millis(10);

/// A change to a file.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// Adds a server.
    Add {
        /// Its name.
        name: String,
        /// Its entry: a map with the keys of `mcp.yaml`.
        entry: Value,
    },
    /// Removes a server.
    Remove {
        /// Its name.
        name: String,
    },
    /// Enables or disables a server.
    Enable {
        /// Its name.
        name: String,
        /// True to enable it, false to disable it.
        enabled: bool,
    },
}

/// Why a file was not changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EditError {
    /// The file cannot be read or written.
    #[error("cannot {what} {}: {why}", file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// The attempted action.
        what: &'static str,
        /// The reason.
        why: String,
    },
    /// The file is invalid already.
    #[error("{0}")]
    Invalid(Problems),
    /// The file already has a server of that name.
    #[error("{} already has a server named `{name}`", file.display())]
    Exists {
        /// The file.
        file: PathBuf,
        /// The name.
        name: String,
    },
    /// The file has no server of that name.
    #[error("{} has no server named `{name}`", file.display())]
    NoServer {
        /// The file.
        file: PathBuf,
        /// The name.
        name: String,
    },
    /// The file's format has no such key.
    #[error("the format of {} has no key `{key}`; use .spar/mcp.yaml or your own mcp.yaml", file.display())]
    NoKey {
        /// The file.
        file: PathBuf,
        /// The key.
        key: String,
    },
    /// The text cannot be changed without changing more.
    #[error("cannot change {} without changing more of it; edit the file yourself", file.display())]
    Unsupported {
        /// The file.
        file: PathBuf,
    },
    /// The trust store cannot be updated.
    #[error(transparent)]
    Trust(#[from] TrustError),
}

/// The result of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edited {
    /// The file was changed.
    Changed,
    /// The file already had these contents.
    Unchanged,
}

/// Changes a file. A trusted or new file is trusted afterwards too, because the
/// user makes the change.
///
/// # Errors
/// If the file cannot be changed; it stays unchanged.
pub fn edit(
    location: &ConfigLocation,
    change: &Change,
    config_context: &ConfigContext,
) -> Result<Edited, EditError> {
    let file = || location.file.clone();
    let _lock = lock_folder(&location.file).map_err(|error| EditError::File {
        file: file(),
        what: "write",
        why: error.to_string(),
    })?;
    let before = read_text(&location.file).map_err(|why| EditError::File {
        file: file(),
        what: "read",
        why,
    })?;
    let is_trusted = match (&config_context.trust, &before) {
        (Some(_), None) => true,
        (Some(store), Some(text)) => {
            Trust::read(store).is_ok_and(|trust| trust.covers(&location.file, &digest(text)))
        }
        (None, _) => false,
    };
    let text = before.clone().unwrap_or_default();
    let Some(changed) = apply_change(location, &text, change)? else {
        return Ok(Edited::Unchanged);
    };
    replace(location, &changed).map_err(|error| EditError::File {
        file: file(),
        what: "write",
        why: error.to_string(),
    })?;
    if let Some(store) = config_context.trust.as_deref().filter(|_| is_trusted)
        && location.scope == Scope::Project
    {
        Trust::add(store, &location.file, &changed)?;
    }
    Ok(Edited::Changed)
}

/// The text with the change; `None` if it already has these contents.
fn apply_change(
    location: &ConfigLocation,
    text: &str,
    change: &Change,
) -> Result<Option<String>, EditError> {
    let source = Source::new(location.file.display().to_string(), text);
    let node = parse(&source, location.format)
        .map_err(|problems| EditError::Invalid(super::redact::mask_unparsed(&problems)))?;
    let change = expected_content::to_format(change, &node, location)?;
    let expected = expected_content::apply(&node, &change, location)?;
    if expected == expected_content::to_json(&node, location) {
        return Ok(None);
    }
    let has_value = |text: &str| {
        let node = parse(&Source::new("", text), location.format);
        node.is_ok_and(|node| expected_content::to_json(&node, location) == expected)
    };
    let tried = match location.format {
        Format::Yaml => yaml::candidates(text, &node, &change),
        format => json::apply_change(text, &change, format).into_iter().collect(),
    };
    let found = tried.into_iter().find(|text| has_value(text));
    let found = found.ok_or_else(|| EditError::Unsupported { file: location.file.clone() })?;
    if let FormatChange::Add { name, .. } = &change {
        check_entry(location, &found, name)?;
    }
    Ok(Some(found))
}

/// Checks that an entry is valid for any values of its variables.
fn check_entry(location: &ConfigLocation, text: &str, name: &str) -> Result<(), EditError> {
    let mut content = parse_content(location, text).map_err(EditError::Invalid)?;
    let raw = content.entries.iter_mut().find(|raw| raw.name == name);
    let Some(raw) = raw else { return Ok(()) };
    // The file may be made later, and its path may contain variables.
    if let NodeKind::Map(entries) = &mut raw.node.kind {
        entries.retain(|entry| entry.key != "env_file");
    }
    let mut config_context = ConfigContext::empty();
    // This value is valid for every variable and input.
    config_context.ask = Arc::new(|_| Some("http://x".to_owned()));
    let mut names = Vec::new();
    collect_variables(&raw.node, &mut names);
    config_context.variables =
        names.into_iter().map(|name| (name, "http://x".to_owned())).collect();
    let origin = Origin { file: location.file.clone(), scope: location.scope, line: 1, column: 1 };
    let entry_context =
        EntryContext { location, inputs: &content.inputs, config_context: &config_context };
    read_server(raw, &origin, entry_context).map(drop).map_err(EditError::Invalid)
}

/// Locks the folder of a file against other processes of this program. The
/// folder is locked because it stays the same when the file is replaced, and no
/// lock file is left behind.
fn lock_folder(file: &Path) -> io::Result<Option<File>> {
    let folder = resolve_link(file);
    let folder = folder.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    if !cfg!(unix) {
        return Ok(None);
    }
    let folder = File::open(folder)?;
    let start = Instant::now();
    loop {
        match folder.try_lock() {
            Ok(()) => return Ok(Some(folder)),
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) if start.elapsed() > LOCK_TIMEOUT => {
                let why = format!("another process has locked its folder for {LOCK_TIMEOUT:?}");
                return Err(io::Error::other(why));
            }
            Err(TryLockError::WouldBlock) => std::thread::sleep(LOCK_RETRY_INTERVAL),
        }
    }
}

/// Replaces the file atomically and keeps its mode. A new file of the user gets
/// access for the user only.
fn replace(location: &ConfigLocation, text: &str) -> io::Result<()> {
    let access = match location.scope {
        Scope::User => FileAccess::PreserveOrPrivate,
        Scope::Project => FileAccess::Preserve,
    };
    replace_file(&location.file, text.as_bytes(), access)
}

/// Resolves a symbolic link, so that the link itself stays.
fn resolve_link(file: &Path) -> PathBuf {
    fs::canonicalize(file).unwrap_or_else(|_| file.to_owned())
}

/// A change in the keys of a file's format.
enum FormatChange {
    Add {
        name: String,
        entry: Value,
    },
    Remove {
        name: String,
    },
    /// Sets one key of an entry.
    Set {
        name: String,
        key: &'static str,
        value: bool,
    },
}

fn entry<'a>(node: &'a Node, name: &str, format: Format) -> Option<&'a sparring_script::MapEntry> {
    node.get(format.servers_key())?.entry(name)
}
