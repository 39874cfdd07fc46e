//! What is kept of logins: for each issuer who we are there and the tokens it
//! gave, in a file that only the user can read, or for as long as we run.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::time::{Instant, sleep};

use super::client::{Client, Method};
use super::denied::Denied;
use super::token::Tokens;
use super::{OAuth, Proof};

/// How long another process may keep us waiting, and how often it is looked at.
const PATIENCE: Duration = Duration::from_secs(40);
const LOOK: Duration = Duration::from_millis(20);

/// The longest file that is read.
const LARGEST: u64 = 16 * 1024 * 1024;

/// What is kept.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Kept {
    issuers: BTreeMap<String, Issuer>,
    /// By the server, and by the client that the user named there: whose it is.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    named: BTreeMap<String, BTreeMap<String, String>>,
}

#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
struct Issuer {
    /// The client that registered itself there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    client: Option<Registered>,
    /// By the server that they are for.
    #[serde(default)]
    tokens: BTreeMap<String, Owned>,
}

#[derive(Clone, PartialEq, Serialize, Deserialize)]
struct Registered {
    id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    secret: Option<String>,
    method: Method,
    redirect: String,
}

/// Tokens, and whose they are.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
struct Owned {
    client_id: String,
    #[serde(flatten)]
    tokens: Tokens,
}

impl Kept {
    /// The tokens for a server of a client that we may be, and who gave them. If
    /// the user does not say which, that is one of a document or one that
    /// registered itself.
    pub(super) fn tokens(&self, server: &str, oauth: &OAuth) -> Option<(String, Tokens)> {
        self.issuers.iter().find_map(|(name, issuer)| {
            let owned = issuer.tokens.get(server)?;
            let registered = issuer.client.as_ref().map(|client| &client.id);
            let is_ours = match &oauth.client_id {
                Some(id) => owned.client_id == *id,
                None => [oauth.document.as_ref(), registered].contains(&Some(&owned.client_id)),
            };
            is_ours.then(|| (name.clone(), owned.tokens.clone()))
        })
    }

    /// Whose the client is that the user named for a server; from now on this
    /// one's, if it was nobody's.
    pub(super) fn bind(&mut self, server: &str, client: &str, issuer: &str) -> &str {
        let clients = self.named.entry(server.to_owned()).or_default();
        clients.entry(client.to_owned()).or_insert_with(|| issuer.to_owned())
    }

    pub(super) fn unbind(&mut self, server: &str, client: &str) {
        if let Some(clients) = self.named.get_mut(server) {
            clients.remove(client);
        }
    }

    pub(super) fn keep_tokens(
        &mut self,
        issuer: &str,
        server: &str,
        client: &str,
        tokens: &Tokens,
    ) {
        // A server has one issuer at a time.
        self.forget_tokens(server);
        let owned = Owned { client_id: client.to_owned(), tokens: tokens.clone() };
        self.issuers.entry(issuer.to_owned()).or_default().tokens.insert(server.to_owned(), owned);
    }

    pub(super) fn forget_tokens(&mut self, server: &str) {
        self.issuers.values_mut().for_each(|issuer| drop(issuer.tokens.remove(server)));
    }

    pub(super) fn client(&self, issuer: &str) -> Option<Client> {
        let kept = self.issuers.get(issuer)?.client.clone()?;
        Some(Client {
            id: kept.id,
            proof: kept.secret.map_or(Proof::None, Proof::Secret),
            method: kept.method,
            redirect: Some(kept.redirect),
        })
    }

    /// Keeps a client that registered itself.
    pub(super) fn keep_client(&mut self, issuer: &str, client: &Client) {
        let Some(redirect) = client.redirect.clone() else { return };
        let secret = match &client.proof {
            Proof::Secret(secret) => Some(secret.clone()),
            _ => None,
        };
        let (id, method) = (client.id.clone(), client.method);
        let kept = Registered { id, secret, method, redirect };
        self.issuers.entry(issuer.to_owned()).or_default().client = Some(kept);
    }

    pub(super) fn forget_client(&mut self, issuer: &str) {
        if let Some(issuer) = self.issuers.get_mut(issuer) {
            issuer.client = None;
        }
    }
}

/// Where it is kept.
pub(super) struct Store {
    path: Option<PathBuf>,
    /// What was last seen of it.
    kept: Kept,
}

/// The same, while nobody else may change it.
pub(super) struct Locked<'a> {
    store: &'a mut Store,
    _lock: Option<File>,
    pub(super) kept: Kept,
}

impl Store {
    pub(super) fn new(path: Option<PathBuf>) -> Store {
        Store { path, kept: Kept::default() }
    }

    /// Whether nothing was ever kept there.
    pub(super) fn is_empty(&self) -> bool {
        match &self.path {
            Some(path) => {
                fs::metadata(path).is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
            }
            None => self.kept == Kept::default(),
        }
    }

    /// Waits until nobody else has it, and reads it anew.
    pub(super) async fn lock(&mut self) -> Result<Locked<'_>, Denied> {
        let Some(path) = &self.path else {
            let kept = self.kept.clone();
            return Ok(Locked { store: self, _lock: None, kept });
        };
        let lock = lock(path).await.map_err(|error| failed(path, &error))?;
        let kept = read(path).map_err(|error| failed(path, &error))?;
        self.kept = kept.clone();
        Ok(Locked { store: self, _lock: Some(lock), kept })
    }
}

impl Locked<'_> {
    /// Writes what was changed.
    pub(super) fn save(self) -> Result<(), Denied> {
        if self.kept == self.store.kept {
            return Ok(());
        }
        if let Some(path) = &self.store.path {
            write(path, &self.kept).map_err(|error| failed(path, &error))?;
        }
        self.store.kept = self.kept;
        Ok(())
    }
}

fn failed(path: &Path, error: &io::Error) -> Denied {
    Denied::Store { path: path.display().to_string(), why: error.to_string() }
}

async fn lock(path: &Path) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        make_folder(folder)?;
    }
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    let file = private().write(true).create(true).truncate(false).open(name)?;
    let begun = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) if begun.elapsed() > PATIENCE => {
                return Err(io::Error::other(format!(
                    "another process has had them for {PATIENCE:?}"
                )));
            }
            Err(TryLockError::WouldBlock) => sleep(LOOK).await,
        }
    }
}

fn read(path: &Path) -> io::Result<Kept> {
    let found = match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Kept::default()),
        found => found?,
    };
    // Whoever opens a pipe may wait for ever.
    if !found.is_file() {
        return Err(io::Error::other("it is no file"));
    }
    let file = File::open(path)?;
    check_private(&file)?;
    let mut text = String::new();
    if file.take(LARGEST + 1).read_to_string(&mut text)? as u64 > LARGEST {
        return Err(io::Error::other(format!("they are longer than {LARGEST} bytes")));
    }
    // One that was only just made has nothing in it.
    if text.is_empty() {
        return Ok(Kept::default());
    }
    // The words of the parser may repeat what stands there.
    serde_json::from_str(&text).map_err(|error| {
        io::Error::other(format!("line {}, column {} is none", error.line(), error.column()))
    })
}

/// In one step: whoever reads it finds all of the old or all of the new.
fn write(path: &Path, kept: &Kept) -> io::Result<()> {
    let text = serde_json::to_string_pretty(kept)?;
    // A link stays one, and leads to the new.
    let path = &fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}.new", std::process::id()));
    let new = PathBuf::from(name);
    let _ = fs::remove_file(&new);
    let mut file = private().write(true).create_new(true).open(&new)?;
    let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
    written.and_then(|()| fs::rename(&new, path)).inspect_err(|_| drop(fs::remove_file(&new)))
}

/// For a file that only the user can read.
fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.read(true);
    options
}

fn make_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder)
}

fn check_private(file: &File) -> io::Result<()> {
    #[cfg(unix)]
    if std::os::unix::fs::PermissionsExt::mode(&file.metadata()?.permissions()) & 0o077 != 0 {
        return Err(io::Error::other("others than the user can read them; chmod 600 the file"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn oauth(client_id: Option<&str>) -> OAuth {
        let visitor = super::super::Visitor::new(|_| {});
        OAuth { client_id: client_id.map(str::to_owned), ..OAuth::code(visitor) }
    }

    fn tokens(access: &str) -> Tokens {
        let (asked, given) = (String::new(), String::new());
        Tokens { access: access.to_owned(), refresh: None, renew_at: Some(7), asked, given }
    }

    #[tokio::test]
    async fn what_is_saved_is_found_by_the_next() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("new/credentials.json");
        let client = Client {
            id: "c".to_owned(),
            proof: Proof::Secret("s".to_owned()),
            method: Method::ClientSecretPost,
            redirect: Some("http://127.0.0.1:5/".to_owned()),
        };
        let mut store = Store::new(Some(path.clone()));
        let mut locked = store.lock().await.expect("nobody has it");
        locked.kept.keep_client("i", &client);
        locked.kept.keep_tokens("i", "http://a/mcp", "c", &tokens("t"));
        locked.save().expect("it can be written");

        let mut next = Store::new(Some(path.clone()));
        let locked = next.lock().await.expect("nobody has it");
        assert!(locked.kept.client("i") == Some(client));
        assert!(
            locked.kept.tokens("http://a/mcp", &oauth(None)) == Some(("i".to_owned(), tokens("t")))
        );
        assert!(
            locked.kept.tokens("http://a/mcp", &oauth(Some("d"))).is_none(),
            "of another client"
        );
        assert!(locked.kept.tokens("http://b/mcp", &oauth(None)).is_none(), "for another server");
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn a_file_that_others_can_read_is_refused() {
        use std::os::unix::fs::PermissionsExt as _;

        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("credentials.json");
        let mut store = Store::new(Some(path.clone()));
        let mut locked = store.lock().await.expect("nobody has it");
        locked.kept.keep_tokens("i", "s", "c", &tokens("t"));
        locked.save().expect("it can be written");
        let mode = |path: &Path| fs::metadata(path).expect("it is there").permissions().mode();
        assert_eq!(mode(&path) & 0o777, 0o600);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("it is ours");
        let told = store.lock().await.err().expect("it is refused").to_string();
        assert!(told.contains("others than the user"), "{told}");
    }

    #[tokio::test]
    async fn a_broken_file_is_told_without_being_shown() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("credentials.json");
        let mut file = private().write(true).create(true).truncate(false).open(&path).expect("new");
        file.write_all(b"{\"issuers\": {\"a\": hunter2}}").expect("it is ours");
        let told = Store::new(Some(path)).lock().await.err().expect("it is none").to_string();
        assert!(told.contains("line 1, column") && !told.contains("hunter2"), "{told}");
    }

    #[tokio::test]
    async fn one_waits_for_the_other() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("credentials.json");
        let (mut one, mut other) = (Store::new(Some(path.clone())), Store::new(Some(path)));
        let mut first = one.lock().await.expect("nobody has it");
        first.kept.keep_tokens("i", "s", "c", &tokens("first"));
        let second = async {
            let locked = other.lock().await.expect("it is let go");
            locked.kept.tokens("s", &oauth(Some("c")))
        };
        // Comes after the other in each round, which has looked by then.
        let first = async { first.save().expect("it can be written") };
        let (seen, ()) = tokio::join!(second, first);
        assert!(seen == Some(("i".to_owned(), tokens("first"))));
    }
}
