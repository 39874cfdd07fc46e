//! What somebody allowed for good, in a file of the user's.
//!
//! A grant is for one tool of one server, as that server was reached then.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sparring_transport::PrivateFile;

use super::fingerprint::Fingerprint;

/// All grants there are.
#[derive(Debug, Default)]
pub struct Grants {
    /// None for as long as this run lasts.
    file: Option<PrivateFile>,
    kept: Mutex<Kept>,
}

/// A tool that is allowed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Grant {
    /// The server, as it is called in its file.
    pub server: String,
    /// The tool, as its server calls it.
    pub tool: String,
    /// The server's [`Fingerprint`].
    pub target: String,
}

/// Each grant, and since when.
type Kept = BTreeMap<Grant, String>;

/// What stands in the file.
#[derive(Serialize, Deserialize)]
struct Written {
    grants: Vec<Since>,
}

#[derive(Serialize, Deserialize)]
struct Since {
    server: String,
    tool: String,
    target: String,
    since: String,
}

impl Grant {
    /// A tool of a server.
    pub fn new(server: &str, tool: &str, target: &Fingerprint) -> Self {
        let (server, tool) = (server.to_owned(), tool.to_owned());
        Grant { server, tool, target: target.as_str().to_owned() }
    }
}

impl Grants {
    /// Those in `grants.json` in that folder, and what there is to say of it: a
    /// file that is damaged is put aside, and nothing is granted by it.
    pub fn open(folder: &Path) -> (Grants, Option<String>) {
        let file = PrivateFile::new(folder.join("grants.json"));
        let (kept, note) = match read(&file) {
            Ok(found) => found,
            Err(error) => (Kept::new(), Some(unusable(&file, &error))),
        };
        (Grants { file: Some(file), kept: Mutex::new(kept) }, note)
    }

    /// Whether a tool is granted.
    pub fn has(&self, grant: &Grant) -> bool {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).contains_key(grant)
    }

    /// All of them.
    pub fn all(&self) -> Vec<Grant> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).keys().cloned().collect()
    }

    /// Grants a tool, for good where there is a file. If that cannot be changed,
    /// it is granted for this run.
    ///
    /// # Errors
    /// When the file cannot be changed.
    pub async fn add(&self, grant: Grant) -> io::Result<()> {
        let now = Timestamp::now().to_string();
        let add = |kept: &mut Kept| {
            kept.entry(grant.clone()).or_insert_with(|| now.clone());
        };
        self.change(add).await
    }

    /// Takes back every grant of a tool.
    ///
    /// # Errors
    /// When the file cannot be changed; it stays granted in other runs.
    pub async fn revoke(&self, server: &str, tool: &str) -> io::Result<()> {
        self.change(|kept| kept.retain(|grant, _| grant.server != server || grant.tool != tool))
            .await
    }

    /// Others may have changed the file in between, so it is read anew; what was
    /// damaged in the meantime is put aside, for what is known here.
    async fn change(&self, change: impl Fn(&mut Kept)) -> io::Result<()> {
        let changed = {
            let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            change(&mut kept);
            kept.clone()
        };
        let Some(file) = &self.file else { return Ok(()) };
        let lock = file.lock().await.map_err(|error| named(file, &error))?;
        let mut kept = match read(file).map_err(|error| named(file, &error))? {
            (kept, None) => kept,
            (_, Some(_)) => changed,
        };
        change(&mut kept);
        file.write(&written(&kept)?).map_err(|error| named(file, &error))?;
        *self.kept.lock().unwrap_or_else(PoisonError::into_inner) = kept;
        drop(lock);
        Ok(())
    }
}

/// What stands there. If that is nothing that we wrote, it is put aside, and
/// told.
fn read(file: &PrivateFile) -> io::Result<(Kept, Option<String>)> {
    let text = match file.read() {
        Err(error) if error.kind() == io::ErrorKind::InvalidData => Err(error.to_string()),
        text => Ok(text?),
    };
    let parsed = text.and_then(|text| match text.is_empty() {
        true => Ok(Written { grants: Vec::new() }),
        false => serde_json::from_str(&text).map_err(|error| error.to_string()),
    });
    match parsed {
        Ok(Written { grants }) => {
            let each = grants.into_iter().map(|Since { server, tool, target, since }| {
                (Grant { server, tool, target }, since)
            });
            Ok((each.collect(), None))
        }
        Err(why) => {
            let (path, aside) = (file.path().display(), file.put_aside()?);
            let note = format!(
                "the grants in {path} are damaged ({why}); they are kept in {}, and what they \
                 allowed is asked for again",
                aside.display()
            );
            Ok((Kept::new(), Some(note)))
        }
    }
}

fn written(kept: &Kept) -> io::Result<String> {
    let grants = kept.iter().map(|(grant, since)| {
        let Grant { server, tool, target } = grant.clone();
        Since { server, tool, target, since: since.clone() }
    });
    Ok(serde_json::to_string_pretty(&Written { grants: grants.collect() })?)
}

fn unusable(file: &PrivateFile, error: &io::Error) -> String {
    format!("{}; nothing is granted by them", named(file, error))
}

fn named(file: &PrivateFile, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("the grants in {}: {error}", file.path().display()))
}
