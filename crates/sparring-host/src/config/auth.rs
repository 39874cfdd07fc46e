//! Who an entry says that we are.

use sparring_script::{Kind, Node, duration};
use sparring_transport::http::{Credentials, Grant, OAuth, Proof};

use super::entry::{Reading, located};

const WAYS: [&str; 3] = ["bearer", "basic", "oauth"];

impl Reading<'_> {
    /// The credentials of an entry, if it has any.
    pub(super) fn credentials(&mut self, node: &Node) -> Option<Credentials> {
        let auth = node.entry("auth")?;
        let given: Vec<_> =
            auth.value.entries().iter().filter(|it| WAYS.contains(&&*it.key)).collect();
        let [way] = given[..] else {
            self.wrong(auth.key_span, "`auth` has one of `bearer`, `basic` and `oauth`");
            return None;
        };
        match &*way.key {
            "bearer" => {
                let token = self.expander.text("auth.bearer", &way.value)?;
                if token.trim().is_empty() {
                    self.wrong(way.value.span, "the token of `auth.bearer` is empty");
                }
                Some(Credentials::Bearer(token))
            }
            "basic" => {
                let pair = self.expander.text("auth.basic", &way.value)?;
                if !pair.contains(':') {
                    self.wrong(way.value.span, "`auth.basic` is not of the form USER:PASSWORD");
                }
                Some(Credentials::Basic(pair))
            }
            _ if way.value.kind == Kind::Bool(false) => None,
            _ => self.oauth(&way.value).map(|oauth| Credentials::OAuth(Box::new(oauth))),
        }
    }

    fn oauth(&mut self, node: &Node) -> Option<OAuth> {
        let around = self.expander.surroundings;
        let mut oauth = OAuth::code(around.visitor.clone());
        oauth.store.clone_from(&around.credentials);
        if node.get("grant").and_then(Node::as_str) == Some("client_credentials") {
            oauth.grant = Grant::ClientCredentials;
        }
        oauth.client_id = self.of_oauth(node, "client");
        oauth.issuer = self.of_oauth(node, "issuer");
        oauth.document = self.of_oauth(node, "document");
        if let Some(redirect) = self.of_oauth(node, "redirect") {
            oauth.redirect = redirect;
        }
        if let Some(patience) = node.get("timeout").and_then(Node::as_str) {
            oauth.patience = duration(patience).unwrap_or(oauth.patience);
        }
        let scopes = node.get("scopes").map(Node::items).unwrap_or_default();
        let scopes = scopes.iter().map(|scope| self.expander.text("auth.oauth.scopes", scope));
        oauth.scopes = scopes.collect::<Option<_>>()?;
        oauth.proof = self.proof(node)?;
        self.check_oauth(node, &oauth);
        Some(oauth)
    }

    fn proof(&mut self, node: &Node) -> Option<Proof> {
        match (node.entry("secret"), node.entry("key")) {
            (Some(_), Some(key)) => {
                self.wrong(key.key_span, "a client has a `secret` or a `key`, and not both");
                None
            }
            (Some(_), None) => self.of_oauth(node, "secret").map(Proof::Secret),
            (None, Some(key)) => {
                let path = self.of_oauth(node, "key")?;
                let path = located(&path, self.expander.place, self.expander.surroundings);
                match std::fs::read_to_string(&path) {
                    Ok(pem) => Some(Proof::Key(pem)),
                    Err(error) => {
                        let message = format!("`auth.oauth.key` cannot be read: {error}");
                        self.wrong(key.value.span, &message);
                        None
                    }
                }
            }
            (None, None) => Some(Proof::None),
        }
    }

    /// What the flags refuse is refused here too.
    fn check_oauth(&mut self, node: &Node, oauth: &OAuth) {
        let named = oauth.client_id.is_some() || oauth.document.is_some();
        if oauth.proof != Proof::None && !named {
            self.wrong(node.span, "`secret` and `key` are those of a `client` or a `document`");
        }
        if oauth.grant == Grant::ClientCredentials && oauth.proof == Proof::None {
            let message = "`grant: client_credentials` needs a `client` with a `secret` or a `key`";
            self.wrong(node.span, message);
        }
        if oauth.issuer.is_some() && oauth.client_id.is_none() {
            self.wrong(node.span, "`issuer` is the one that knows a `client`, which is not here");
        }
    }

    fn of_oauth(&mut self, node: &Node, key: &str) -> Option<String> {
        let value = node.get(key)?;
        self.expander.text(&format!("auth.oauth.{key}"), value)
    }
}
