//! Loads the token issuer of a mock, or one alone.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use sparring_script::grammar::check_node;
use sparring_script::{Node, Object, Problems, Shape, Source, did_you_mean, parse_duration};
use sparring_transport::http::jwt::PublicKey;
use sparring_transport::http::{HttpOptions, ProtectedResource};

use super::{Loader, Settings, one_or_many, text};
use crate::grammar;
use crate::issuer::{
    Client, Issuer, IssuerBehavior, IssuerConfig, IssuerTokenVerifier, LoginOutcome, RefreshPolicy,
    ScriptedValue, Token, TokenFault, redirect_problem,
};
use crate::mock_issuer::MockIssuer;

/// Loads an issuer without a mock.
pub(crate) fn load_issuer(source: &Source, folder: &Path) -> Result<IssuerConfig, Problems> {
    let (node, problems) = parse_checked(source, &grammar::ISSUER)?;
    let mut loader = Loader::new(folder, &node, &Settings::default(), problems);
    let config = loader.load_issuer_config(&node);
    loader.problems.into_result(config)
}

/// Loads a change of the behavior of an issuer.
pub(crate) fn load_behavior(
    value: &Value,
    before: IssuerBehavior,
) -> Result<IssuerBehavior, Problems> {
    let source = Source::new("the change", format!("{value:#}"));
    let (node, mut problems) = parse_checked(&source, &grammar::CHANGES)?;
    let behavior = read_behavior(&node, before, &mut problems);
    problems.into_result(behavior)
}

/// Loads a token that is to be issued.
pub(crate) fn load_token(value: &Value) -> Result<Token, Problems> {
    let source = Source::new("the token", format!("{value:#}"));
    let (node, mut problems) = parse_checked(&source, &grammar::TOKEN)?;
    check_lifetime(&node, &mut problems);
    let token = Token {
        audience: read_texts(&node, "audience").unwrap_or_default(),
        scopes: read_texts(&node, "scopes"),
        subject: text(&node, "subject"),
        client: text(&node, "client_id"),
        lifetime: read_duration(&node, "lifetime"),
        wrong: node.get("wrong").and_then(read_wrong),
    };
    problems.into_result(token)
}

fn parse_checked(source: &Source, object: &'static Object) -> Result<(Node, Problems), Problems> {
    let mut node = Node::parse(source)?;
    let mut problems = Problems::new(source);
    check_node(&mut node, &Shape::Object(object), &mut problems);
    Ok((node, problems))
}

impl Loader<'_> {
    /// Loads the issuer of a mock and accepts its tokens.
    pub(super) fn load_mock_issuer(
        &mut self,
        script: &Node,
        options: &mut HttpOptions,
    ) -> MockIssuer {
        let Some(verifier) = self.load_token_verifier(script) else { return MockIssuer::default() };
        let issuer = verifier.issuer.clone();
        options.metadata = Some(ProtectedResource {
            resource: None,
            authorization_servers: vec![issuer.path()],
            scopes: issuer.scopes(),
        });
        options.auth = std::mem::take(&mut options.auth).tokens(Arc::new(verifier));
        MockIssuer(Some(issuer))
    }

    /// Loads the token verifier of a mock, if it has an issuer.
    fn load_token_verifier(&mut self, script: &Node) -> Option<IssuerTokenVerifier> {
        let oauth = script.get("auth").and_then(|auth| auth.get("oauth"))?;
        let mut config = self.load_issuer_config(oauth);
        let paths = script.get("paths");
        let path = |key: &str, default: &str| {
            paths.and_then(|paths| text(paths, key)).unwrap_or_else(|| default.to_owned())
        };
        config.resources = vec![path("mcp", "/mcp"), path("sse", "/sse")];
        let mut tools = std::collections::HashMap::new();
        for tool in oauth.get("tools").map(Node::entries).unwrap_or_default() {
            if !self.tools.contains(&tool.key) {
                let message = format!("no such tool: `{}`", tool.key);
                let suggestion = did_you_mean(&tool.key, self.tools.iter().map(String::as_str));
                self.problems.add_with_help(tool.key_span, message, suggestion);
            }
            tools.insert(tool.key.clone(), self.load_scopes(Some(&tool.value), &config.scopes));
        }
        let requires = self.load_scopes(oauth.get("requires"), &config.scopes);
        Some(IssuerTokenVerifier { issuer: Issuer::on_mock(config), requires, tools })
    }

    fn load_issuer_config(&mut self, node: &Node) -> IssuerConfig {
        // At run time, an empty list ends the remaining values.
        for key in ["login", "refuse", "wrong"] {
            let list = node.get(key).filter(|it| it.as_str().is_none() && it.items().is_empty());
            if let Some(list) = list {
                self.problems.add(list.span, "the list is empty, and has no effect here");
            }
        }
        let registration = node.get("registration").and_then(Node::as_bool).unwrap_or(true);
        IssuerConfig {
            path: self.load_path(node.get("path")),
            scopes: self.load_scopes(node.get("scopes"), &[]),
            clients: self.load_clients(node.get("clients")),
            registration,
            resources: Vec::new(),
            behavior: read_behavior(node, IssuerBehavior::default(), &mut self.problems),
        }
    }

    fn load_path(&mut self, node: Option<&Node>) -> String {
        let Some(node) = node else { return String::new() };
        let path = node.as_str().unwrap_or_default();
        let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
        let is_valid =
            path.starts_with('/') && !path.contains("//") && path.bytes().all(is_allowed);
        if !is_valid {
            self.problems.add(node.span, "the path must be a URL path such as `/as`");
        }
        path.trim_end_matches('/').to_owned()
    }

    /// Loads scopes, which must be among the known ones, if there are any.
    fn load_scopes(&mut self, node: Option<&Node>, known: &[String]) -> Vec<String> {
        let mut scopes = Vec::new();
        for node in node.map(one_or_many).unwrap_or_default() {
            let Some(scope) = node.as_str() else { continue };
            let is_allowed = |byte: u8| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\';
            if scope.is_empty() || !scope.bytes().all(is_allowed) {
                let message = "a scope cannot have spaces, quotes or backslashes";
                self.problems.add(node.span, message);
            } else if !known.is_empty() && !known.iter().any(|known| known == scope) {
                let suggestion = did_you_mean(scope, known.iter().map(String::as_str));
                let message = format!("`{scope}` is not in `scopes`");
                self.problems.add_with_help(node.span, message, suggestion);
            }
            scopes.push(scope.to_owned());
        }
        scopes
    }

    fn load_clients(&mut self, node: Option<&Node>) -> Vec<Client> {
        let mut clients: Vec<Client> = Vec::new();
        for node in node.map(Node::items).unwrap_or_default() {
            let Some(id) = node.get("id").and_then(Node::as_str) else { continue };
            if clients.iter().any(|client| client.id == id) {
                self.problems.add(node.span, format!("duplicate client id `{id}`"));
            }
            if let (Some(_), Some(key)) = (node.get("secret"), node.get("key")) {
                self.problems.add(key.span, "give either `secret` or `key`");
            }
            let redirects = node.get("redirect_uris").map(one_or_many).unwrap_or_default();
            for address in redirects {
                if let Some(why) = address.as_str().and_then(redirect_problem) {
                    self.problems.add(address.span, format!("invalid redirect URI: {why}"));
                }
            }
            clients.push(Client {
                id: id.to_owned(),
                secret: text(node, "secret").map(Into::into),
                key: node.get("key").and_then(|key| self.load_key(key)),
                redirects: redirects.iter().filter_map(Node::as_str).map(str::to_owned).collect(),
                method: None,
                grants: None,
            });
        }
        clients
    }

    fn load_key(&mut self, node: &Node) -> Option<PublicKey> {
        let before = self.problems.iter().count();
        let pem = self.read_file(node);
        if self.problems.iter().count() > before {
            return None;
        }
        let key = PublicKey::from_pem(&String::from_utf8_lossy(&pem));
        key.map_err(|error| self.problems.add(node.span, format!("not a PEM key: {error}"))).ok()
    }
}

/// Loads the behavior of an issuer; missing keys keep their value.
fn read_behavior(node: &Node, before: IssuerBehavior, problems: &mut Problems) -> IssuerBehavior {
    let refresh = node.get("refresh").and_then(Node::as_str).map(|word| match word {
        "keep" => RefreshPolicy::Keep,
        "never" => RefreshPolicy::Never,
        _ => RefreshPolicy::Rotate,
    });
    let login = |node: &Node| match node.as_str()? {
        "deny" => Some(LoginOutcome::Deny),
        _ => Some(LoginOutcome::Approve),
    };
    let refuse = |node: &Node| node.as_str().map(str::to_owned);
    for node in node.get("refuse").map(one_or_many).unwrap_or_default() {
        let is_allowed = |byte: u8| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\';
        if node.as_str().is_some_and(|code| code.is_empty() || !code.bytes().all(is_allowed)) {
            problems.add(node.span, "an OAuth error is a word such as `invalid_grant`");
        }
    }
    check_lifetime(node, problems);
    IssuerBehavior {
        lifetime: read_duration(node, "lifetime").unwrap_or(before.lifetime),
        refresh: refresh.unwrap_or(before.refresh),
        login: read_scripted(node.get("login"), login).unwrap_or(before.login),
        refuse: read_scripted(node.get("refuse"), refuse).unwrap_or(before.refuse),
        wrong: read_scripted(node.get("wrong"), read_wrong).unwrap_or(before.wrong),
    }
}

/// Refuses a lifetime with a part of a second, which a token response cannot have
/// (RFC 6749, section 5.1).
fn check_lifetime(node: &Node, problems: &mut Problems) {
    let lifetime = read_duration(node, "lifetime");
    if lifetime.is_some_and(|lifetime| lifetime.subsec_nanos() > 0) {
        let span = node.get("lifetime").map_or(node.span, |it| it.span);
        problems.add(span, "the lifetime must be in whole seconds");
    }
}

/// Loads a value for all requests, or a list for the next ones.
fn read_scripted<T>(
    node: Option<&Node>,
    read: impl Fn(&Node) -> Option<T>,
) -> Option<ScriptedValue<T>> {
    let node = node?;
    Some(match &node.kind {
        sparring_script::NodeKind::List(items) => {
            ScriptedValue { always: None, next: items.iter().filter_map(read).collect() }
        }
        _ => ScriptedValue { always: read(node), next: Default::default() },
    })
}

fn read_wrong(node: &Node) -> Option<TokenFault> {
    Some(match node.as_str()? {
        "signature" => TokenFault::Signature,
        "audience" => TokenFault::Audience,
        "issuer" => TokenFault::Issuer,
        "expired" => TokenFault::Expired,
        "scope" => TokenFault::Scope,
        _ => TokenFault::None,
    })
}

fn read_duration(node: &Node, key: &str) -> Option<Duration> {
    node.get(key).and_then(Node::as_str).and_then(|text| parse_duration(text).ok())
}

fn read_texts(node: &Node, key: &str) -> Option<Vec<String>> {
    let all = one_or_many(node.get(key)?);
    Some(all.iter().filter_map(Node::as_str).map(str::to_owned).collect())
}
