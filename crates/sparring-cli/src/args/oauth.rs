//! The flags of authorization. What is typed here may be secret, so no message
//! about it shows a value.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use sparring_transport::http::{Grant, OAuth, Proof, Visitor};

use super::quantity;
use crate::environment::Environment;
use crate::failure::Failure;
use crate::output::Outlet;

/// How to be let in by an authorization server.
#[derive(Args)]
#[group(skip)]
pub(super) struct OAuthFlags {
    /// Be let in by OAuth: somebody logs in with a browser, or, with
    /// =client-credentials, the client asks for itself
    #[arg(long, value_name = "GRANT", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "code", help_heading = "OAuth")]
    #[arg(conflicts_with_all = ["command", "unix", "server", "bearer", "basic"])]
    oauth: Option<GrantFlag>,

    /// The client's id, if the authorization server knows it already
    #[arg(long, value_name = "ID", requires = "oauth", help_heading = "OAuth")]
    oauth_client: Option<String>,

    /// The client's secret
    #[arg(long, value_name = "SECRET", requires = "oauth_client", help_heading = "OAuth")]
    #[arg(conflicts_with = "oauth_key", allow_hyphen_values = true)]
    oauth_secret: Option<String>,

    /// The client's private key, a PEM file, to sign with instead of a secret
    #[arg(long, value_name = "FILE", requires = "oauth", help_heading = "OAuth")]
    oauth_key: Option<PathBuf>,

    /// The authorization server that knows the client; without this, the one
    /// that the server names first, and then no other
    #[arg(long, value_name = "URL", requires = "oauth_client", help_heading = "OAuth")]
    oauth_issuer: Option<String>,

    /// The https URL of a document about the client (Client ID Metadata
    /// Document), for authorization servers that look there
    #[arg(long, value_name = "URL", requires = "oauth", help_heading = "OAuth")]
    oauth_document: Option<String>,

    /// Ask for this scope instead of what the server says; may be repeated
    #[arg(long, value_name = "SCOPE", requires = "oauth", help_heading = "OAuth")]
    oauth_scope: Vec<String>,

    /// Where the browser is to come back to, on this machine; without a port,
    /// to any that is free
    #[arg(long, value_name = "URL", requires = "oauth", help_heading = "OAuth")]
    #[arg(default_value = "http://127.0.0.1/callback")]
    oauth_redirect: String,

    /// How long logging in may take; no other time-out runs meanwhile
    #[arg(long, value_name = "TIME", requires = "oauth", help_heading = "OAuth")]
    #[arg(default_value = "5m", value_parser = quantity::time)]
    oauth_timeout: Duration,

    /// Keep tokens in this file, which only you can read, instead of
    /// sparring/credentials.json in your settings
    #[arg(long, value_name = "FILE", requires = "oauth", help_heading = "OAuth")]
    oauth_file: Option<PathBuf>,

    /// Only print the page to log in at, and open no browser
    #[arg(long, requires = "oauth", help_heading = "OAuth")]
    no_browser: bool,
}

/// On whose behalf a token is asked for: somebody's who logs in, or the client's
/// own.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum GrantFlag {
    Code,
    ClientCredentials,
}

impl OAuthFlags {
    /// What the flags say; nothing if there is to be no such thing.
    ///
    /// # Errors
    /// When a flag has a value that it cannot have.
    pub(super) fn settings(
        &self,
        environment: &Environment,
        stderr: &Outlet,
    ) -> Result<Option<OAuth>, Failure> {
        let Some(grant) = self.oauth else { return Ok(None) };
        let grant = match grant {
            GrantFlag::Code => Grant::Code,
            GrantFlag::ClientCredentials => Grant::ClientCredentials,
        };
        let proof = match (&self.oauth_secret, &self.oauth_key) {
            (Some(secret), _) if secret.trim().is_empty() => {
                return Err(usage("the secret of --oauth-secret is empty"));
            }
            (Some(secret), _) => Proof::Secret(secret.clone()),
            (None, Some(path)) => {
                let key = std::fs::read_to_string(path);
                Proof::Key(key.map_err(|error| {
                    Failure::File(format!("cannot read the key {}: {error}", path.display()))
                })?)
            }
            (None, None) => Proof::None,
        };
        let named = self.oauth_client.is_some() || self.oauth_document.is_some();
        if proof != Proof::None && !named {
            return Err(usage("--oauth-key needs --oauth-client or --oauth-document"));
        }
        if grant == Grant::ClientCredentials && proof == Proof::None {
            return Err(usage(
                "--oauth=client-credentials needs --oauth-client and --oauth-secret, or --oauth-key",
            ));
        }
        if self.oauth_document.as_ref().is_some_and(|url| !is_document(url)) {
            return Err(usage("--oauth-document must be https:// with a path"));
        }
        Ok(Some(OAuth {
            grant,
            client_id: self.oauth_client.clone(),
            proof,
            issuer: self.oauth_issuer.clone(),
            document: self.oauth_document.clone(),
            scopes: self.oauth_scope.clone(),
            redirect: self.oauth_redirect.clone(),
            patience: self.oauth_timeout,
            store: self.oauth_file.clone().or_else(|| environment.credentials.clone()),
            visitor: visitor(stderr, environment.attended && !self.no_browser),
        }))
    }
}

/// Shows the page to log in at, and opens it where somebody sits before it.
pub(crate) fn visitor(stderr: &Outlet, open: bool) -> Visitor {
    let stderr = stderr.clone();
    Visitor::new(move |url| {
        stderr.queue(format!("To log in, open this page:\n{url}\n").as_bytes());
        // Whoever has no browser here can open it elsewhere.
        let _ = open.then(|| open::that_detached(url));
    })
}

/// Whether that can be the address of such a document.
fn is_document(url: &str) -> bool {
    let path = url.strip_prefix("https://").and_then(|rest| rest.split_once('/'));
    path.is_some_and(|(host, path)| !host.is_empty() && !path.is_empty())
}

fn usage(message: &str) -> Failure {
    Failure::Usage(message.to_owned())
}
