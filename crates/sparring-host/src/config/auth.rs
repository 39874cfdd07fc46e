//! Reads the credentials of an entry.

use sparring_script::{Node, NodeKind, parse_duration};
use sparring_transport::http::{ClientAuth, Credentials, Grant, OAuth};
use sparring_transport::{MAX_KEY_BYTES, read_text_file};

use super::entry::{EntryReader, resolve_path};

const AUTH_KINDS: [&str; 3] = ["bearer", "basic", "oauth"];

impl EntryReader<'_> {
    /// The credentials of an entry, if it has any.
    pub(super) fn credentials(&mut self, node: &Node) -> Option<Credentials> {
        let auth = node.entry("auth")?;
        let given: Vec<_> =
            auth.value.entries().iter().filter(|it| AUTH_KINDS.contains(&&*it.key)).collect();
        let [method] = given[..] else {
            self.add_problem(
                auth.key_span,
                "`auth` must have exactly one of `bearer`, `basic` and `oauth`",
            );
            return None;
        };
        match &*method.key {
            "bearer" => {
                let token = self.expander.expand_text("auth.bearer", &method.value)?;
                if token.trim().is_empty() {
                    self.add_problem(method.value.span, "`auth.bearer` is empty");
                }
                Some(Credentials::Bearer(token.into()))
            }
            "basic" => {
                let pair = self.expander.expand_text("auth.basic", &method.value)?;
                if !pair.contains(':') {
                    self.add_problem(
                        method.value.span,
                        "`auth.basic` must have the form USER:PASSWORD",
                    );
                }
                Some(Credentials::Basic(pair.into()))
            }
            _ if method.value.kind == NodeKind::Bool(false) => None,
            _ => self.oauth(&method.value).map(|oauth| Credentials::OAuth(Box::new(oauth))),
        }
    }

    fn oauth(&mut self, node: &Node) -> Option<OAuth> {
        let context = self.expander.config_context;
        let mut oauth = OAuth::authorization_code(context.browser.clone());
        oauth.store_path.clone_from(&context.credentials);
        if node.get("grant").and_then(Node::as_str) == Some("client_credentials") {
            oauth.grant = Grant::ClientCredentials;
        }
        oauth.client_id = self.oauth_text(node, "client");
        oauth.issuer = self.oauth_text(node, "issuer");
        oauth.client_metadata_url = self.oauth_text(node, "document");
        if let Some(redirect) = self.oauth_text(node, "redirect") {
            oauth.redirect_url = redirect;
        }
        if let Some(timeout) = node.get("timeout").and_then(Node::as_str) {
            oauth.login_timeout = parse_duration(timeout).unwrap_or(oauth.login_timeout);
        }
        oauth.allow_local = node.get("local").and_then(Node::as_bool).unwrap_or(oauth.allow_local);
        let scopes = node.get("scopes").map(Node::items).unwrap_or_default();
        let scopes =
            scopes.iter().map(|scope| self.expander.expand_text("auth.oauth.scopes", scope));
        oauth.scopes = scopes.collect::<Option<_>>()?;
        oauth.client_auth = self.client_auth(node)?;
        self.check_oauth(node, &oauth);
        Some(oauth)
    }

    fn client_auth(&mut self, node: &Node) -> Option<ClientAuth> {
        match (node.entry("secret"), node.entry("key")) {
            (Some(_), Some(key)) => {
                self.add_problem(
                    key.key_span,
                    "a client has either a `secret` or a `key`, not both",
                );
                None
            }
            (Some(_), None) => {
                self.oauth_text(node, "secret").map(|secret| ClientAuth::Secret(secret.into()))
            }
            (None, Some(key)) => {
                let path = self.oauth_text(node, "key")?;
                let path =
                    resolve_path(&path, self.expander.location, self.expander.config_context);
                match read_text_file(&path, MAX_KEY_BYTES) {
                    Ok(pem) => Some(ClientAuth::Key(pem)),
                    Err(error) => {
                        let message = format!("cannot read `auth.oauth.key`: {error}");
                        self.add_problem(key.value.span, &message);
                        None
                    }
                }
            }
            (None, None) => Some(ClientAuth::None),
        }
    }

    /// Reports the same conflicts as the command-line flags.
    fn check_oauth(&mut self, node: &Node, oauth: &OAuth) {
        let named = oauth.client_id.is_some() || oauth.client_metadata_url.is_some();
        if oauth.client_auth != ClientAuth::None && !named {
            self.add_problem(node.span, "`secret` and `key` need a `client` or a `document`");
        }
        if oauth.grant == Grant::ClientCredentials && oauth.client_auth == ClientAuth::None {
            let message = "`grant: client_credentials` needs a `client` with a `secret` or a `key`";
            self.add_problem(node.span, message);
        }
        if oauth.issuer.is_some() && oauth.client_id.is_none() {
            self.add_problem(node.span, "`issuer` needs a `client`");
        }
    }

    fn oauth_text(&mut self, node: &Node, key: &str) -> Option<String> {
        let value = node.get(key)?;
        self.expander.expand_text(&format!("auth.oauth.{key}"), value)
    }
}
