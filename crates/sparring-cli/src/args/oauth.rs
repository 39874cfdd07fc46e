//! The flags of authorization. Their values may be secrets, so no message shows them.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use sparring_transport::http::{BrowserOpener, ClientAuth, Grant, OAuth};
use sparring_transport::{MAX_KEY_BYTES, read_text_file};

use super::values;
use crate::command_error::CommandError;
use crate::environment::Environment;
use crate::output::ThreadedWriter;

/// The flags of authorization.
#[derive(Args)]
#[group(skip)]
pub(super) struct OAuthFlags {
    /// Authorize with OAuth: a user logs in with a browser, or with =client-credentials
    /// the client uses its own credentials
    #[arg(long, value_name = "GRANT", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "code", help_heading = "OAuth")]
    #[arg(conflicts_with_all = ["command", "unix", "server", "bearer", "basic"])]
    oauth: Option<GrantFlag>,

    /// The client's id, if it is registered with the authorization server
    #[arg(long, value_name = "ID", requires = "oauth", help_heading = "OAuth")]
    oauth_client: Option<String>,

    /// The client's secret
    #[arg(long, value_name = "SECRET", requires = "oauth_client", help_heading = "OAuth")]
    #[arg(conflicts_with = "oauth_key", allow_hyphen_values = true)]
    oauth_secret: Option<String>,

    /// The client's private key as a PEM file, to sign with instead of a secret
    #[arg(long, value_name = "FILE", requires = "oauth", help_heading = "OAuth")]
    oauth_key: Option<PathBuf>,

    /// The authorization server that the client is registered with [default: the first
    /// one that the server names]
    #[arg(long, value_name = "URL", requires = "oauth_client", help_heading = "OAuth")]
    oauth_issuer: Option<String>,

    /// The https URL of the client's metadata document (Client ID Metadata Document), for
    /// authorization servers that support it
    #[arg(long, value_name = "URL", requires = "oauth", help_heading = "OAuth")]
    oauth_document: Option<String>,

    /// Request this scope instead of those that the server names; may be repeated
    #[arg(long, value_name = "SCOPE", requires = "oauth", help_heading = "OAuth")]
    oauth_scope: Vec<String>,

    /// The URL on this machine that the browser returns to; without a port, any free one
    #[arg(long, value_name = "URL", requires = "oauth", help_heading = "OAuth")]
    #[arg(default_value = "http://127.0.0.1/callback")]
    oauth_redirect: String,

    /// Limit for logging in; other timeouts are paused meanwhile
    #[arg(long, value_name = "TIME", requires = "oauth", help_heading = "OAuth")]
    #[arg(default_value = "5m", value_parser = values::parse_duration)]
    oauth_timeout: Duration,

    /// Store tokens in this file, readable only by you [default:
    /// sparring/credentials.json in the config directory]
    #[arg(long, value_name = "FILE", requires = "oauth", help_heading = "OAuth")]
    oauth_file: Option<PathBuf>,

    /// Let the server name authorization servers that are nearer than itself: in a private
    /// network, on the local link, on this machine
    #[arg(long, requires = "oauth", help_heading = "OAuth")]
    oauth_local: bool,

    /// Only print the login page's URL; do not open a browser
    #[arg(long, requires = "oauth", help_heading = "OAuth")]
    no_browser: bool,
}

/// The owner of the token: a user who logs in, or the client itself.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum GrantFlag {
    Code,
    ClientCredentials,
}

impl OAuthFlags {
    /// Returns the settings of the flags, or nothing without `--oauth`.
    ///
    /// # Errors
    /// When a flag has an invalid value.
    pub(super) fn to_oauth(
        &self,
        environment: &Environment,
        stderr: &ThreadedWriter,
    ) -> Result<Option<OAuth>, CommandError> {
        let Some(grant) = self.oauth else { return Ok(None) };
        let grant = match grant {
            GrantFlag::Code => Grant::Code,
            GrantFlag::ClientCredentials => Grant::ClientCredentials,
        };
        let client_auth = match (&self.oauth_secret, &self.oauth_key) {
            (Some(secret), _) if secret.trim().is_empty() => {
                return Err(usage_error("--oauth-secret: the secret is empty"));
            }
            (Some(secret), _) => ClientAuth::Secret(secret.as_str().into()),
            (None, Some(path)) => {
                let key = read_text_file(path, MAX_KEY_BYTES);
                ClientAuth::Key(key.map_err(|error| {
                    CommandError::File(format!("cannot read the key {}: {error}", path.display()))
                })?)
            }
            (None, None) => ClientAuth::None,
        };
        let named = self.oauth_client.is_some() || self.oauth_document.is_some();
        if client_auth != ClientAuth::None && !named {
            return Err(usage_error("--oauth-key needs --oauth-client or --oauth-document"));
        }
        if grant == Grant::ClientCredentials && client_auth == ClientAuth::None {
            return Err(usage_error(
                "--oauth=client-credentials needs --oauth-client and --oauth-secret, or \
                 --oauth-key",
            ));
        }
        if self.oauth_document.as_ref().is_some_and(|url| !is_document_url(url)) {
            return Err(usage_error("--oauth-document: expected an https URL with a path"));
        }
        Ok(Some(OAuth {
            grant,
            client_id: self.oauth_client.clone(),
            client_auth,
            issuer: self.oauth_issuer.clone(),
            client_metadata_url: self.oauth_document.clone(),
            scopes: self.oauth_scope.clone(),
            redirect_url: self.oauth_redirect.clone(),
            login_timeout: self.oauth_timeout,
            store_path: self.oauth_file.clone().or_else(|| environment.credentials_file.clone()),
            browser: login_page_opener(stderr, environment.has_terminal && !self.no_browser),
            allow_local: self.oauth_local,
        }))
    }
}

/// Prints the URL of the login page, and opens it in a browser if `open` is set.
pub(crate) fn login_page_opener(stderr: &ThreadedWriter, open: bool) -> BrowserOpener {
    let stderr = stderr.clone();
    BrowserOpener::new(move |url| {
        stderr.queue(format!("To log in, open this page:\n{url}\n").as_bytes());
        // Without a browser here the user can open the URL elsewhere.
        let _ = open.then(|| open::that_detached(url));
    })
}

/// Returns true if the URL can be that of a client's metadata document.
fn is_document_url(url: &str) -> bool {
    let path = url.strip_prefix("https://").and_then(|rest| rest.split_once('/'));
    path.is_some_and(|(host, path)| !host.is_empty() && !path.is_empty())
}

fn usage_error(message: &str) -> CommandError {
    CommandError::Usage(message.to_owned())
}
