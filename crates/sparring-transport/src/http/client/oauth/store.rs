//! What is kept of logins: for each issuer who we are there and the tokens it
//! gave, in a file that only the user can read, or for as long as we run.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::client::{Client, Method};
use super::denied::Denied;
use super::token::Tokens;
use super::{OAuth, Proof};
use crate::private_file::{FileLock, PrivateFile};

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
    file: Option<PrivateFile>,
    /// What was last seen of it.
    kept: Kept,
}

/// The same, while nobody else may change it.
pub(super) struct Locked<'a> {
    store: &'a mut Store,
    _lock: Option<FileLock>,
    pub(super) kept: Kept,
}

impl Store {
    pub(super) fn new(path: Option<PathBuf>) -> Store {
        Store { file: path.map(PrivateFile::new), kept: Kept::default() }
    }

    /// Whether nothing was ever kept there.
    pub(super) fn is_empty(&self) -> bool {
        match &self.file {
            Some(file) => file.is_missing(),
            None => self.kept == Kept::default(),
        }
    }

    /// Waits until nobody else has it, and reads it anew.
    pub(super) async fn lock(&mut self) -> Result<Locked<'_>, Denied> {
        let Some(file) = &self.file else {
            let kept = self.kept.clone();
            return Ok(Locked { store: self, _lock: None, kept });
        };
        let lock = file.lock().await.map_err(|error| failed(file, &error))?;
        let kept = read(file).map_err(|error| failed(file, &error))?;
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
        if let Some(file) = &self.store.file {
            let text = serde_json::to_string_pretty(&self.kept).map_err(io::Error::from);
            text.and_then(|text| file.write(&text)).map_err(|error| failed(file, &error))?;
        }
        self.store.kept = self.kept;
        Ok(())
    }
}

fn failed(file: &PrivateFile, error: &io::Error) -> Denied {
    Denied::Store { path: file.path().display().to_string(), why: error.to_string() }
}

fn read(file: &PrivateFile) -> io::Result<Kept> {
    let text = file.read()?;
    // One that was only just made has nothing in it.
    if text.is_empty() {
        return Ok(Kept::default());
    }
    // The words of the parser may repeat what stands there.
    serde_json::from_str(&text).map_err(|error| {
        io::Error::other(format!("line {}, column {} is none", error.line(), error.column()))
    })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

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
        let broken = "{\"issuers\": {\"a\": hunter2}}";
        PrivateFile::new(&path).write(broken).expect("it is ours");
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
