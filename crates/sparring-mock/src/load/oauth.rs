//! The issuer of tokens that a script has, or that stands by itself.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use sparring_script::grammar::check;
use sparring_script::{Node, Object, Problems, Shape, Source, did_you_mean, duration};
use sparring_transport::http::jwt::PublicKey;
use sparring_transport::http::{HttpOptions, ProtectedResource};

use super::{Loader, Settings, one_or_many, text};
use crate::grammar;
use crate::issuer::{Client, Door, Issuer, Login, Plan, Refresh, Token, Turns, Ways, Wrong, unfit};
use crate::issuing::Issuing;

/// Reads an issuer that stands by itself.
pub(crate) fn load_issuer(source: &Source, folder: &Path) -> Result<Plan, Problems> {
    let (node, problems) = checked(source, &grammar::ISSUER)?;
    let mut loader = Loader::new(folder, &node, &Settings::default(), problems);
    let plan = loader.plan(&node);
    loader.problems.or(plan)
}

/// Reads what is to be changed of one.
pub(crate) fn load_ways(said: &Value, before: Ways) -> Result<Ways, Problems> {
    let source = Source::new("the change", format!("{said:#}"));
    let (node, mut problems) = checked(&source, &grammar::CHANGES)?;
    let ways = ways(&node, before, &mut problems);
    problems.or(ways)
}

/// Reads a token that is to be made.
pub(crate) fn load_token(said: &Value) -> Result<Token, Problems> {
    let source = Source::new("the token", format!("{said:#}"));
    let (node, problems) = checked(&source, &grammar::TOKEN)?;
    let token = Token {
        audience: texts(&node, "audience").unwrap_or_default(),
        scopes: texts(&node, "scopes"),
        subject: text(&node, "subject"),
        client: text(&node, "client_id"),
        lifetime: time(&node, "lifetime"),
        wrong: node.get("wrong").and_then(wrong),
    };
    problems.or(token)
}

fn checked(source: &Source, object: &'static Object) -> Result<(Node, Problems), Problems> {
    let mut node = Node::parse(source)?;
    let mut problems = Problems::new(source);
    check(&mut node, &Shape::Object(object), &mut problems);
    Ok((node, problems))
}

impl Loader<'_> {
    /// The issuer that a mock has, if it has one: whoever has its tokens is let in.
    pub(super) fn issuing(&mut self, script: &Node, options: &mut HttpOptions) -> Issuing {
        let Some(door) = self.door(script) else { return Issuing::default() };
        let issuer = door.issuer.clone();
        options.metadata = Some(ProtectedResource {
            resource: None,
            authorization_servers: vec![issuer.path()],
            scopes: issuer.scopes(),
        });
        options.auth = std::mem::take(&mut options.auth).tokens(Arc::new(door));
        Issuing(Some(issuer))
    }

    /// Whom the mock lets in, if it has an issuer.
    fn door(&mut self, script: &Node) -> Option<Door> {
        let oauth = script.get("auth").and_then(|auth| auth.get("oauth"))?;
        let mut plan = self.plan(oauth);
        let paths = script.get("paths");
        let path = |key: &str, default: &str| {
            paths.and_then(|paths| text(paths, key)).unwrap_or_else(|| default.to_owned())
        };
        plan.resources = vec![path("mcp", "/mcp"), path("sse", "/sse")];
        let mut tools = std::collections::HashMap::new();
        for tool in oauth.get("tools").map(Node::entries).unwrap_or_default() {
            if !self.tools.contains(&tool.key) {
                let message = format!("there is no tool `{}`", tool.key);
                let meant = did_you_mean(&tool.key, self.tools.iter().map(String::as_str));
                self.problems.add_with_help(tool.key_span, message, meant);
            }
            tools.insert(tool.key.clone(), self.scopes(Some(&tool.value), &plan.scopes));
        }
        let requires = self.scopes(oauth.get("requires"), &plan.scopes);
        Some(Door { issuer: Issuer::beside(plan), requires, tools })
    }

    fn plan(&mut self, node: &Node) -> Plan {
        let registration = node.get("registration").and_then(Node::as_bool).unwrap_or(true);
        Plan {
            path: self.issuer_path(node.get("path")),
            scopes: self.scopes(node.get("scopes"), &[]),
            clients: self.clients(node.get("clients")),
            registration,
            resources: Vec::new(),
            ways: ways(node, Ways::default(), &mut self.problems),
        }
    }

    fn issuer_path(&mut self, node: Option<&Node>) -> String {
        let Some(node) = node else { return String::new() };
        let path = node.as_str().unwrap_or_default();
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
        let good = path.starts_with('/') && !path.contains("//") && path.bytes().all(plain);
        if !good {
            self.problems.add(node.span, "the path must be one of a URL, as `/as`");
        }
        path.trim_end_matches('/').to_owned()
    }

    /// Scopes, which must be among those that there are, where some are named.
    fn scopes(&mut self, node: Option<&Node>, known: &[String]) -> Vec<String> {
        let mut scopes = Vec::new();
        for node in node.map(one_or_many).unwrap_or_default() {
            let Some(scope) = node.as_str() else { continue };
            let plain = |byte: u8| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\';
            if scope.is_empty() || !scope.bytes().all(plain) {
                let message = "a scope is a word without spaces, quotes and backslashes";
                self.problems.add(node.span, message);
            } else if !known.is_empty() && !known.iter().any(|known| known == scope) {
                let meant = did_you_mean(scope, known.iter().map(String::as_str));
                let message = format!("`scopes` has no `{scope}`");
                self.problems.add_with_help(node.span, message, meant);
            }
            scopes.push(scope.to_owned());
        }
        scopes
    }

    fn clients(&mut self, node: Option<&Node>) -> Vec<Client> {
        let mut clients: Vec<Client> = Vec::new();
        for node in node.map(Node::items).unwrap_or_default() {
            let Some(id) = node.get("id").and_then(Node::as_str) else { continue };
            if clients.iter().any(|client| client.id == id) {
                self.problems.add(node.span, format!("a second client of the id `{id}`"));
            }
            if let (Some(_), Some(key)) = (node.get("secret"), node.get("key")) {
                self.problems.add(key.span, "give either `secret` or `key`");
            }
            let redirects = node.get("redirect_uris").map(one_or_many).unwrap_or_default();
            for address in redirects {
                if let Some(why) = address.as_str().and_then(unfit) {
                    self.problems.add(address.span, format!("no browser can be sent there: {why}"));
                }
            }
            clients.push(Client {
                id: id.to_owned(),
                secret: text(node, "secret"),
                key: node.get("key").and_then(|key| self.key(key)),
                redirects: redirects.iter().filter_map(Node::as_str).map(str::to_owned).collect(),
                method: None,
                grants: None,
            });
        }
        clients
    }

    fn key(&mut self, node: &Node) -> Option<PublicKey> {
        let before = self.problems.iter().count();
        let pem = self.file(node);
        if self.problems.iter().count() > before {
            return None;
        }
        let key = PublicKey::from_pem(&String::from_utf8_lossy(&pem));
        key.map_err(|error| self.problems.add(node.span, format!("this is no key: {error}"))).ok()
    }
}

/// What can be changed while it serves; what is not said is as before.
fn ways(node: &Node, before: Ways, problems: &mut Problems) -> Ways {
    let refresh = node.get("refresh").and_then(Node::as_str).map(|word| match word {
        "keep" => Refresh::Keep,
        "never" => Refresh::Never,
        _ => Refresh::Rotate,
    });
    let login = |node: &Node| match node.as_str()? {
        "deny" => Some(Login::Deny),
        _ => Some(Login::Approve),
    };
    let refuse = |node: &Node| node.as_str().map(str::to_owned);
    for node in node.get("refuse").map(one_or_many).unwrap_or_default() {
        let plain = |byte: u8| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\';
        if node.as_str().is_some_and(|code| code.is_empty() || !code.bytes().all(plain)) {
            problems.add(node.span, "an error of OAuth is a word, as `invalid_grant`");
        }
    }
    Ways {
        lifetime: time(node, "lifetime").unwrap_or(before.lifetime),
        refresh: refresh.unwrap_or(before.refresh),
        login: turns(node.get("login"), login).unwrap_or(before.login),
        refuse: turns(node.get("refuse"), refuse).unwrap_or(before.refuse),
        wrong: turns(node.get("wrong"), wrong).unwrap_or(before.wrong),
    }
}

/// A value alone is for all times, and a list for the next ones.
fn turns<T>(node: Option<&Node>, read: impl Fn(&Node) -> Option<T>) -> Option<Turns<T>> {
    let node = node?;
    Some(match &node.kind {
        sparring_script::Kind::List(items) => {
            Turns { always: None, next: items.iter().filter_map(read).collect() }
        }
        _ => Turns { always: read(node), next: Default::default() },
    })
}

fn wrong(node: &Node) -> Option<Wrong> {
    Some(match node.as_str()? {
        "signature" => Wrong::Signature,
        "audience" => Wrong::Audience,
        "issuer" => Wrong::Issuer,
        "expired" => Wrong::Expired,
        "scope" => Wrong::Scope,
        _ => Wrong::Nothing,
    })
}

fn time(node: &Node, key: &str) -> Option<Duration> {
    node.get(key).and_then(Node::as_str).and_then(|text| duration(text).ok())
}

fn texts(node: &Node, key: &str) -> Option<Vec<String>> {
    let all = one_or_many(node.get(key)?);
    Some(all.iter().filter_map(Node::as_str).map(str::to_owned).collect())
}
