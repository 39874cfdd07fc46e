//! Changes to a config file that leave everything else in it as it was:
//! comments, order, and how things are written.
//!
//! The text is changed and then read again: what does not say exactly what it
//! should is not written.

mod expected;
mod json;
mod write;
mod yaml;

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;
use sparring_script::{Node, Problems, Source};

use super::entry::{Around, server};
use super::offer::holes;
use super::places::{Format, Place};
use super::read::{content, parse, text};
use super::server::{Origin, Scope};
use super::surroundings::Surroundings;
use super::trust::{Trust, TrustError};

/// A change to a file.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// Another server.
    Add {
        /// Its name.
        name: String,
        /// Its entry, a map with the keys of `mcp.yaml`.
        entry: Value,
    },
    /// A server less.
    Remove {
        /// Its name.
        name: String,
    },
    /// A server that may be connected to, or may not.
    Enable {
        /// Its name.
        name: String,
        /// Whether it may.
        enabled: bool,
    },
}

/// Why a file was not changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EditError {
    /// It cannot be read or written.
    #[error("{} cannot be {what}: {why}", file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// What was to be done with it.
        what: &'static str,
        /// What came of that.
        why: String,
    },
    /// It is wrong already.
    #[error("{0}")]
    Wrong(Problems),
    /// There is a server of that name already.
    #[error("{} has a server `{name}` already", file.display())]
    There {
        /// The file.
        file: PathBuf,
        /// The name.
        name: String,
    },
    /// There is no server of that name.
    #[error("{} has no server `{name}`", file.display())]
    NotThere {
        /// The file.
        file: PathBuf,
        /// The name.
        name: String,
    },
    /// The format has no such key.
    #[error("{} cannot say `{key}`; .spar/mcp.yaml and your own mcp.yaml can", file.display())]
    NoKey {
        /// The file.
        file: PathBuf,
        /// The key.
        key: String,
    },
    /// The text is written in a way that cannot be changed here.
    #[error("{} is written in a way that spar cannot change without changing more; edit it yourself", file.display())]
    TooHard {
        /// The file.
        file: PathBuf,
    },
    /// It cannot be kept that the user trusts the file as it is now.
    #[error(transparent)]
    Trust(#[from] TrustError),
}

/// What came of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edited {
    /// It was made.
    Changed,
    /// It says so already.
    AsItWas,
}

/// Makes a change. A file that the user trusts, or that this makes, is trusted
/// afterwards too: it is the user who changes it.
///
/// # Errors
/// When the file is as it was.
pub fn edit(
    place: &Place,
    change: &Change,
    surroundings: &Surroundings,
) -> Result<Edited, EditError> {
    let file = || place.file.clone();
    let _lock = write::lock(&place.file).map_err(|error| EditError::File {
        file: file(),
        what: "written",
        why: error.to_string(),
    })?;
    let before =
        text(&place.file).map_err(|why| EditError::File { file: file(), what: "read", why })?;
    let is_trusted = match (&surroundings.trust, &before) {
        (Some(_), None) => true,
        (Some(store), Some(text)) => {
            Trust::read(store).is_ok_and(|trust| trust.covers(&place.file, text))
        }
        (None, _) => false,
    };
    let text = before.clone().unwrap_or_default();
    let Some(changed) = changed(place, &text, change)? else { return Ok(Edited::AsItWas) };
    write::replace(place, &changed).map_err(|error| EditError::File {
        file: file(),
        what: "written",
        why: error.to_string(),
    })?;
    if let Some(store) = surroundings.trust.as_deref().filter(|_| is_trusted)
        && place.scope == Scope::Project
    {
        Trust::add(store, &place.file, &changed)?;
    }
    Ok(Edited::Changed)
}

/// The text with the change in it; nothing where it says so already.
fn changed(place: &Place, text: &str, change: &Change) -> Result<Option<String>, EditError> {
    let source = Source::new(place.file.display().to_string(), text);
    let node = parse(&source, place.format)
        .map_err(|problems| EditError::Wrong(super::hidden::of_unreadable(&problems)))?;
    let change = expected::in_format(change, &node, place)?;
    let expected = expected::after(&node, &change, place)?;
    if expected == expected::plain(&node, place) {
        return Ok(None);
    }
    let says = |text: &str| {
        let node = parse(&Source::new("", text), place.format);
        node.is_ok_and(|node| expected::plain(&node, place) == expected)
    };
    let tried = match place.format {
        Format::Yaml => yaml::tries(text, &node, &change),
        format => json::changed(text, &change, format).into_iter().collect(),
    };
    let found = tried.into_iter().find(|text| says(text));
    let found = found.ok_or_else(|| EditError::TooHard { file: place.file.clone() })?;
    if let Keyed::Add { name, .. } = &change {
        check(place, &found, name)?;
    }
    Ok(Some(found))
}

/// Whether an entry can be used, whatever its variables are.
fn check(place: &Place, text: &str, name: &str) -> Result<(), EditError> {
    let content = content(place, text).map_err(EditError::Wrong)?;
    let Some(raw) = content.entries.iter().find(|raw| raw.name == name) else { return Ok(()) };
    let mut surroundings = Surroundings::none();
    // One that can stand for all that is asked for.
    surroundings.ask = Arc::new(|_| Some("http://x".to_owned()));
    let mut names = Vec::new();
    holes(&raw.node, &mut names);
    surroundings.variables = names.into_iter().map(|name| (name, "http://x".to_owned())).collect();
    let origin = Origin { file: place.file.clone(), scope: place.scope, line: 1, column: 1 };
    let around = Around { place, inputs: &content.inputs, surroundings: &surroundings };
    server(raw, &origin, around).map(drop).map_err(EditError::Wrong)
}

/// A change in the keys of a file's format.
enum Keyed {
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

fn entry<'a>(node: &'a Node, name: &str, format: Format) -> Option<&'a sparring_script::Entry> {
    node.get(format.servers())?.entry(name)
}
