//! Decides which rendered values are secrets.
//!
//! A literal value in a file is not a secret, except tokens, headers and values whose
//! names suggest a secret. A value from the environment is a secret, except short values,
//! paths and addresses, which appear in many texts.

use std::net::{IpAddr, SocketAddr};
use std::path::Path;

use sparring_script::TemplateTree;
use sparring_transport::Secrets;

use super::names;
use crate::context::RunContext;

/// Shorter environment values are not secrets, unless their names suggest it.
const MIN_SECRET_BYTES: usize = 8;

/// Headers whose values are not secrets.
const PUBLIC_HEADERS: [&str; 8] = [
    "accept",
    "accept-encoding",
    "accept-language",
    "cache-control",
    "content-type",
    "host",
    "origin",
    "user-agent",
];

/// Registers the value of an environment variable that a template uses.
pub(crate) fn register_variable(secrets: &Secrets, name: &str, value: &str) {
    if let Some(password) = password_of_url(value) {
        secrets.add(password);
    }
    let is_long = value.len() >= MIN_SECRET_BYTES || names::is_secret_setting(name);
    if is_long && !is_public(value) {
        secrets.add(value);
    }
}

/// Registers a bearer token.
pub(crate) fn register_token(context: &RunContext, tree: &TemplateTree, value: &str) {
    register(context, tree, value);
}

/// Registers the value of a header.
pub(crate) fn register_header(context: &RunContext, name: &str, tree: &TemplateTree, value: &str) {
    let name = name.to_ascii_lowercase();
    if !PUBLIC_HEADERS.contains(&&*name) && !name.starts_with("mcp-") {
        register(context, tree, value);
    }
}

/// Registers an environment variable of a command.
pub(crate) fn register_env(context: &RunContext, name: &str, tree: &TemplateTree, value: &str) {
    if names::is_secret_setting(name) {
        register(context, tree, value);
    }
}

/// Registers a literal value, or the environment values in it. The default of a variable
/// is not a secret.
fn register(context: &RunContext, tree: &TemplateTree, value: &str) {
    let placeholders = tree.placeholders();
    let variables = placeholders.iter().filter_map(|(path, ..)| {
        let name = if path.root() == "env" { path.key_at(1)? } else { path.root() };
        context.variables.get(name)
    });
    variables.filter(|value| !is_public(value)).for_each(|value| context.secrets.add(value));
    if placeholders.is_empty() && !is_public(value) {
        context.secrets.add(value);
        // The scheme of a header is not a secret; the rest may appear without it.
        if let Some((_, rest)) = value.split_once(' ') {
            context.secrets.add(rest);
        }
    }
}

/// Returns true if a value is a path, a list of folders or an address, and so not a secret.
fn is_public(value: &str) -> bool {
    let is_path = |path: &str| path.starts_with('/') && Path::new(path).exists();
    let host = value.rsplit_once(':').map_or(value, |(host, _)| host);
    value.split(':').any(is_path)
        || value.parse::<IpAddr>().is_ok()
        || value.parse::<SocketAddr>().is_ok()
        || host == "localhost"
        || value.contains("://")
}

/// The password of a URL.
fn password_of_url(value: &str) -> Option<&str> {
    let (_, rest) = value.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let (user, _) = authority.rsplit_once('@')?;
    Some(user.split_once(':').map_or(user, |(_, password)| password))
}

#[cfg(test)]
mod tests {
    use sparring_script::{Node, Problems, Source};

    use super::*;

    fn context() -> RunContext {
        let variables = [("TOKEN", "hunter2"), ("MODE", "demo")];
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
        RunContext { variables: variables.into(), ..RunContext::default() }
    }

    /// A text with the variable's value masked.
    fn of_variable(name: &str, value: &str) -> String {
        let secrets = Secrets::default();
        register_variable(&secrets, name, value);
        secrets.mask(&format!("<{value}>")).into_owned()
    }

    #[test]
    fn masks_variables_except_public_values() {
        for (name, value) in
            [("ANY", "correct horse"), ("MY_TOKEN", "hunter2"), ("KEY", "/no/such/file")]
        {
            assert_eq!(of_variable(name, value), "<(hidden)>", "{name}");
        }
        for (name, value) in [
            ("ANY", "hunter2"),
            ("TOKEN", "true"),
            ("TOKEN", "1"),
            ("CREDENTIALS", "/dev/null"),
            ("PATH", "/usr/bin:/bin"),
            ("HOST", "127.0.0.1:8080"),
            ("HOST", "localhost"),
            ("URL", "http://127.0.0.1:8080/mcp"),
        ] {
            assert_eq!(of_variable(name, value), format!("<{value}>"), "{name}");
        }
        let url = "postgres://me:hunter2@host/db";
        assert_eq!(of_variable("URL", url), "<postgres://me:(hidden)@host/db>");
    }

    /// A text with the header's value masked.
    fn of_header(name: &str, given: &str, filled: &str) -> String {
        let source = Source::new("a", format!("{given:?}"));
        let node = Node::parse(&source).expect("valid YAML");
        let tree = TemplateTree::from_node(&node, &mut Problems::new(&source));
        let context = context();
        register_header(&context, name, &tree, filled);
        context.secrets.mask(&format!("<{filled}>")).into_owned()
    }

    #[test]
    fn masks_headers_except_defaults_and_public_headers() {
        assert_eq!(of_header("X-Org", "acme-corp", "acme-corp"), "<(hidden)>");
        assert_eq!(
            of_header("authorization", "Bearer ${TOKEN}", "Bearer hunter2"),
            "<Bearer (hidden)>"
        );
        assert_eq!(of_header("X-Key", "${NOT_SET:-example}", "example"), "<example>");
        assert_eq!(of_header("Accept", "text/plain", "text/plain"), "<text/plain>");
    }

    #[test]
    fn masks_env_entries_by_name() {
        let tree = |text: &str| TemplateTree::Literal(text.into());
        let context = context();
        register_env(&context, "API_KEY", &tree("hard-coded"), "hard-coded");
        register_env(&context, "MODE", &tree("production"), "production");
        assert_eq!(context.secrets.mask("hard-coded production"), "(hidden) production");
        register_token(&context, &tree("hunter2"), "hunter2");
        assert_eq!(context.secrets.mask("hunter2"), "(hidden)");
    }
}
