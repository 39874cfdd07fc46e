//! Stores clients and tokens for each issuer, in a file that only the user can read, or in
//! memory.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::client::{Client, TokenAuthMethod};
use super::error::AuthError;
use super::token::Tokens;
use super::{ClientAuth, OAuth};
use crate::private_file::{FileLock, PrivateFile};
use crate::secrets::Secret;

/// The stored credentials.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct StoredCredentials {
    issuers: BTreeMap<String, StoredIssuer>,
    /// The issuer of each client that the user configured, by server and client id.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    named: BTreeMap<String, BTreeMap<String, String>>,
}

#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
struct StoredIssuer {
    /// The dynamically registered client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    client: Option<StoredClient>,
    /// The tokens, by server.
    #[serde(default)]
    tokens: BTreeMap<String, StoredTokens>,
}

#[derive(Clone, PartialEq, Serialize, Deserialize)]
struct StoredClient {
    id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    secret: Option<Secret>,
    method: TokenAuthMethod,
    redirect: String,
}

/// Tokens and the client that they belong to.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
struct StoredTokens {
    client_id: String,
    #[serde(flatten)]
    tokens: Tokens,
}

impl StoredCredentials {
    /// Returns the tokens for a server and their issuer, if they belong to a client that we may
    /// use: the configured one, or else that of a metadata document or a dynamic registration.
    pub(super) fn tokens(&self, server: &str, oauth: &OAuth) -> Option<(String, Tokens)> {
        self.issuers.iter().find_map(|(name, issuer)| {
            let owned = issuer.tokens.get(server)?;
            let registered = issuer.client.as_ref().map(|client| &client.id);
            let is_ours = match &oauth.client_id {
                Some(id) => owned.client_id == *id,
                None => [oauth.client_metadata_url.as_ref(), registered]
                    .contains(&Some(&owned.client_id)),
            };
            is_ours.then(|| (name.clone(), owned.tokens.clone()))
        })
    }

    /// Returns the issuer of a client that the user configured for a server. Binds it to this
    /// issuer if it has none.
    pub(super) fn bind(&mut self, server: &str, client: &str, issuer: &str) -> &str {
        let clients = self.named.entry(server.to_owned()).or_default();
        clients.entry(client.to_owned()).or_insert_with(|| issuer.to_owned())
    }

    pub(super) fn unbind(&mut self, server: &str, client: &str) {
        if let Some(clients) = self.named.get_mut(server) {
            clients.remove(client);
        }
    }

    pub(super) fn store_tokens(
        &mut self,
        issuer: &str,
        server: &str,
        client: &str,
        tokens: &Tokens,
    ) {
        // A server has one issuer at a time.
        self.forget_tokens(server);
        let owned = StoredTokens { client_id: client.to_owned(), tokens: tokens.clone() };
        self.issuers.entry(issuer.to_owned()).or_default().tokens.insert(server.to_owned(), owned);
    }

    pub(super) fn forget_tokens(&mut self, server: &str) {
        self.issuers.values_mut().for_each(|issuer| drop(issuer.tokens.remove(server)));
    }

    pub(super) fn client(&self, issuer: &str) -> Option<Client> {
        let client = self.issuers.get(issuer)?.client.clone()?;
        Some(Client {
            id: client.id,
            client_auth: client.secret.map_or(ClientAuth::None, ClientAuth::Secret),
            method: client.method,
            redirect: Some(client.redirect),
        })
    }

    /// Stores a dynamically registered client.
    pub(super) fn store_client(&mut self, issuer: &str, client: &Client) {
        let Some(redirect) = client.redirect.clone() else { return };
        let secret = match &client.client_auth {
            ClientAuth::Secret(secret) => Some(secret.clone()),
            _ => None,
        };
        let (id, method) = (client.id.clone(), client.method);
        let stored = StoredClient { id, secret, method, redirect };
        self.issuers.entry(issuer.to_owned()).or_default().client = Some(stored);
    }

    pub(super) fn forget_client(&mut self, issuer: &str) {
        if let Some(issuer) = self.issuers.get_mut(issuer) {
            issuer.client = None;
        }
    }
}

/// The store: a file or memory.
pub(super) struct CredentialStore {
    file: Option<PrivateFile>,
    /// The content when it was last read.
    credentials: StoredCredentials,
}

/// The store while it is locked for other processes.
pub(super) struct LockedStore<'a> {
    store: &'a mut CredentialStore,
    _lock: Option<FileLock>,
    pub(super) credentials: StoredCredentials,
}

impl CredentialStore {
    pub(super) fn new(path: Option<PathBuf>) -> CredentialStore {
        CredentialStore {
            file: path.map(PrivateFile::new),
            credentials: StoredCredentials::default(),
        }
    }

    /// Returns true if nothing was ever stored.
    pub(super) fn is_empty(&self) -> bool {
        match &self.file {
            Some(file) => file.is_missing(),
            None => self.credentials == StoredCredentials::default(),
        }
    }

    /// Waits for the lock and reads the file again.
    pub(super) async fn lock(&mut self) -> Result<LockedStore<'_>, AuthError> {
        let Some(file) = &self.file else {
            let credentials = self.credentials.clone();
            return Ok(LockedStore { store: self, _lock: None, credentials });
        };
        let lock = file.lock().await.map_err(|error| store_error(file, &error))?;
        let credentials = read_credentials(file).map_err(|error| store_error(file, &error))?;
        self.credentials = credentials.clone();
        Ok(LockedStore { store: self, _lock: Some(lock), credentials })
    }
}

impl LockedStore<'_> {
    /// Writes the changes.
    pub(super) fn save(self) -> Result<(), AuthError> {
        if self.credentials == self.store.credentials {
            return Ok(());
        }
        if let Some(file) = &self.store.file {
            let text = serde_json::to_string_pretty(&self.credentials).map_err(io::Error::from);
            text.and_then(|text| file.write(&text)).map_err(|error| store_error(file, &error))?;
        }
        self.store.credentials = self.credentials;
        Ok(())
    }
}

fn store_error(file: &PrivateFile, error: &io::Error) -> AuthError {
    AuthError::CredentialStore { path: file.path().display().to_string(), why: error.to_string() }
}

fn read_credentials(file: &PrivateFile) -> io::Result<StoredCredentials> {
    let text = file.read()?;
    // A new file is empty.
    if text.is_empty() {
        return Ok(StoredCredentials::default());
    }
    // The parser's message may repeat the content.
    serde_json::from_str(&text).map_err(|error| {
        io::Error::other(format!(
            "invalid JSON at line {}, column {}",
            error.line(),
            error.column()
        ))
    })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    fn oauth(client_id: Option<&str>) -> OAuth {
        let browser = super::super::BrowserOpener::new(|_| {});
        OAuth { client_id: client_id.map(str::to_owned), ..OAuth::authorization_code(browser) }
    }

    fn tokens(access: &str) -> Tokens {
        let (asked, given) = (String::new(), String::new());
        Tokens { access: access.into(), refresh: None, renew_at: Some(7), asked, given }
    }

    #[tokio::test]
    async fn reads_credentials_that_an_earlier_store_saved() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("new/credentials.json");
        let client = Client {
            id: "c".to_owned(),
            client_auth: ClientAuth::Secret("s".into()),
            method: TokenAuthMethod::ClientSecretPost,
            redirect: Some("http://127.0.0.1:5/".to_owned()),
        };
        let mut store = CredentialStore::new(Some(path.clone()));
        let mut locked = store.lock().await.expect("the lock is free");
        locked.credentials.store_client("i", &client);
        locked.credentials.store_tokens("i", "http://a/mcp", "c", &tokens("t"));
        locked.save().expect("it can be written");

        let mut next = CredentialStore::new(Some(path.clone()));
        let locked = next.lock().await.expect("the lock is free");
        assert!(locked.credentials.client("i") == Some(client));
        assert!(
            locked.credentials.tokens("http://a/mcp", &oauth(None))
                == Some(("i".to_owned(), tokens("t")))
        );
        assert!(
            locked.credentials.tokens("http://a/mcp", &oauth(Some("d"))).is_none(),
            "of another client"
        );
        assert!(
            locked.credentials.tokens("http://b/mcp", &oauth(None)).is_none(),
            "for another server"
        );
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn a_file_that_others_can_read_is_refused() {
        use std::os::unix::fs::PermissionsExt as _;

        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("credentials.json");
        let mut store = CredentialStore::new(Some(path.clone()));
        let mut locked = store.lock().await.expect("the lock is free");
        locked.credentials.store_tokens("i", "s", "c", &tokens("t"));
        locked.save().expect("it can be written");
        let mode = |path: &Path| fs::metadata(path).expect("it is there").permissions().mode();
        assert_eq!(mode(&path) & 0o777, 0o600);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("it is ours");
        let error = store.lock().await.err().expect("it is refused").to_string();
        assert!(error.contains("readable by other users"), "{error}");
    }

    #[tokio::test]
    async fn reports_a_broken_file_without_its_content() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("credentials.json");
        let broken = "{\"issuers\": {\"a\": hunter2}}";
        PrivateFile::new(&path).write(broken).expect("it is ours");
        let error =
            CredentialStore::new(Some(path)).lock().await.err().expect("it is none").to_string();
        assert!(error.contains("line 1, column") && !error.contains("hunter2"), "{error}");
    }

    #[tokio::test]
    async fn a_store_waits_for_the_lock_of_another() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("credentials.json");
        let (mut one, mut other) =
            (CredentialStore::new(Some(path.clone())), CredentialStore::new(Some(path)));
        let mut first = one.lock().await.expect("the lock is free");
        first.credentials.store_tokens("i", "s", "c", &tokens("first"));
        let second = async {
            let locked = other.lock().await.expect("it is let go");
            locked.credentials.tokens("s", &oauth(Some("c")))
        };
        // Polled after the other in each round, so the other has already tried.
        let first = async { first.save().expect("it can be written") };
        let (seen, ()) = tokio::join!(second, first);
        assert!(seen == Some(("i".to_owned(), tokens("first"))));
    }
}
