//! Grants: tools that a person allowed permanently, stored in a file of the
//! user.
//!
//! A grant is for one tool of one server with the fingerprint it had then.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sparring_transport::PrivateFile;

use super::fingerprint::Fingerprint;

/// All grants.
#[derive(Debug, Default)]
pub struct Grants {
    /// `None` if grants last for this run only.
    file: Option<PrivateFile>,
    grants: Mutex<GrantTimes>,
}

/// A tool that is allowed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Grant {
    /// The server's name in its configuration file.
    pub server: String,
    /// The tool's name at the server.
    pub tool: String,
    /// The server's [`Fingerprint`].
    pub target: String,
}

/// Each grant with its time.
type GrantTimes = BTreeMap<Grant, String>;

/// The contents of the file.
#[derive(Serialize, Deserialize)]
struct GrantsFile {
    grants: Vec<GrantRecord>,
}

#[derive(Serialize, Deserialize)]
struct GrantRecord {
    server: String,
    tool: String,
    target: String,
    since: String,
}

impl Grant {
    /// A grant for a tool of a server.
    pub fn new(server: &str, tool: &str, target: &Fingerprint) -> Self {
        let (server, tool) = (server.to_owned(), tool.to_owned());
        Grant { server, tool, target: target.as_str().to_owned() }
    }
}

impl Grants {
    /// Reads `grants.json` in that folder. Also returns a note if the file
    /// cannot be used: a damaged file is moved aside, and none of its grants
    /// count.
    pub fn open(folder: &Path) -> (Grants, Option<String>) {
        let file = PrivateFile::new(folder.join("grants.json"));
        let (grants, note) = match read(&file) {
            Ok(found) => found,
            Err(error) => (GrantTimes::new(), Some(unusable_note(&file, &error))),
        };
        (Grants { file: Some(file), grants: Mutex::new(grants) }, note)
    }

    /// Returns true if a tool is granted.
    pub fn has(&self, grant: &Grant) -> bool {
        self.grants.lock().unwrap_or_else(PoisonError::into_inner).contains_key(grant)
    }

    /// All grants.
    pub fn all(&self) -> Vec<Grant> {
        self.grants.lock().unwrap_or_else(PoisonError::into_inner).keys().cloned().collect()
    }

    /// Grants a tool, permanently if there is a file. If the file cannot be
    /// written, the grant is valid for this run.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub async fn add(&self, grant: Grant) -> io::Result<()> {
        let now = Timestamp::now().to_string();
        let add = |grants: &mut GrantTimes| {
            grants.entry(grant.clone()).or_insert_with(|| now.clone());
        };
        self.update(add).await
    }

    /// All grants with the times at which they were given.
    pub fn with_times(&self) -> Vec<(Grant, String)> {
        let grants = self.grants.lock().unwrap_or_else(PoisonError::into_inner);
        grants.iter().map(|(grant, since)| (grant.clone(), since.clone())).collect()
    }

    /// Revokes every grant of a tool, or of all tools of a server.
    ///
    /// # Errors
    /// If the file cannot be written; the tool stays granted in other runs.
    pub async fn revoke(&self, server: &str, tool: Option<&str>) -> io::Result<()> {
        let is_other =
            |grant: &Grant| grant.server != server || tool.is_some_and(|tool| grant.tool != tool);
        self.update(|grants| grants.retain(|grant, _| is_other(grant))).await
    }

    /// Other processes may have changed the file, so it is read again. A file
    /// that was damaged meanwhile is moved aside and replaced with the grants
    /// known here.
    async fn update(&self, change: impl Fn(&mut GrantTimes)) -> io::Result<()> {
        let changed = {
            let mut grants = self.grants.lock().unwrap_or_else(PoisonError::into_inner);
            change(&mut grants);
            grants.clone()
        };
        let Some(file) = &self.file else { return Ok(()) };
        let lock = file.lock().await.map_err(|error| with_path(file, &error))?;
        let mut grants = match read(file).map_err(|error| with_path(file, &error))? {
            (grants, None) => grants,
            (_, Some(_)) => changed,
        };
        change(&mut grants);
        file.write(&render(&grants)?).map_err(|error| with_path(file, &error))?;
        *self.grants.lock().unwrap_or_else(PoisonError::into_inner) = grants;
        drop(lock);
        Ok(())
    }
}

/// Reads the file. A damaged file is moved aside, with a note.
fn read(file: &PrivateFile) -> io::Result<(GrantTimes, Option<String>)> {
    let text = match file.read() {
        Err(error) if error.kind() == io::ErrorKind::InvalidData => Err(error.to_string()),
        text => Ok(text?),
    };
    let parsed = text.and_then(|text| match text.is_empty() {
        true => Ok(GrantsFile { grants: Vec::new() }),
        false => serde_json::from_str(&text).map_err(|error| error.to_string()),
    });
    match parsed {
        Ok(GrantsFile { grants }) => {
            let each = grants.into_iter().map(|GrantRecord { server, tool, target, since }| {
                (Grant { server, tool, target }, since)
            });
            Ok((each.collect(), None))
        }
        Err(why) => {
            let (path, aside) = (file.path().display(), file.move_aside()?);
            let note = format!(
                "damaged grants file {path} ({why}): moved to {}; tools that it allowed need \
                 permission again",
                aside.display()
            );
            Ok((GrantTimes::new(), Some(note)))
        }
    }
}

fn render(grants: &GrantTimes) -> io::Result<String> {
    let grants = grants.iter().map(|(grant, since)| {
        let Grant { server, tool, target } = grant.clone();
        GrantRecord { server, tool, target, since: since.clone() }
    });
    Ok(serde_json::to_string_pretty(&GrantsFile { grants: grants.collect() })?)
}

fn unusable_note(file: &PrivateFile, error: &io::Error) -> String {
    format!("{}; no grants are used", with_path(file, error))
}

fn with_path(file: &PrivateFile, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("grants file {}: {error}", file.path().display()))
}
