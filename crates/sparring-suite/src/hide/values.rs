//! Which values that a suite fills in are secrets.
//!
//! What stands in a file in clear text is none, but for tokens, headers and
//! what is called a secret. What comes from the environment is one, but for
//! what stands in every other text: short ones, files, addresses.

use std::net::{IpAddr, SocketAddr};
use std::path::Path;

use sparring_script::Tree;
use sparring_transport::Secrets;

use super::names;
use crate::run::World;

/// Shorter ones of the environment are no secrets, unless they are called so.
const SHORTEST: usize = 8;

/// Headers of which everybody may know the values.
const PLAIN: [&str; 8] = [
    "accept",
    "accept-encoding",
    "accept-language",
    "cache-control",
    "content-type",
    "host",
    "origin",
    "user-agent",
];

/// A variable of the environment was filled in.
pub(crate) fn variable(secrets: &Secrets, name: &str, value: &str) {
    if let Some(password) = password_of_url(value) {
        secrets.add(password);
    }
    let is_long = value.len() >= SHORTEST || names::is_secret_setting(name);
    if is_long && !is_plain(value) {
        secrets.add(value);
    }
}

/// A server is given a token.
pub(crate) fn token(world: &World, tree: &Tree, value: &str) {
    given(world, tree, value);
}

/// A server is given a header.
pub(crate) fn header(world: &World, name: &str, tree: &Tree, value: &str) {
    let name = name.to_ascii_lowercase();
    if !PLAIN.contains(&&*name) && !name.starts_with("mcp-") {
        given(world, tree, value);
    }
}

/// A program is given a variable.
pub(crate) fn entry(world: &World, name: &str, tree: &Tree, value: &str) {
    if names::is_secret_setting(name) {
        given(world, tree, value);
    }
}

/// What is given is a secret: as it stands there, or what the environment adds.
/// The default of a variable is none.
fn given(world: &World, tree: &Tree, value: &str) {
    let holes = tree.holes();
    let variables = holes.iter().filter_map(|(path, ..)| {
        let name = if path.root() == "env" { path.key(1)? } else { path.root() };
        world.variables.get(name)
    });
    variables.filter(|value| !is_plain(value)).for_each(|value| world.secrets.add(value));
    if holes.is_empty() && !is_plain(value) {
        world.secrets.add(value);
        // Of a header the scheme is no secret, and the rest may stand alone.
        if let Some((_, rest)) = value.split_once(' ') {
            world.secrets.add(rest);
        }
    }
}

/// Whether it stands in many texts, and says nothing that one could use: a file
/// or a list of folders, an address.
fn is_plain(value: &str) -> bool {
    let is_path = |path: &str| path.starts_with('/') && Path::new(path).exists();
    let host = value.rsplit_once(':').map_or(value, |(host, _)| host);
    value.split(':').any(is_path)
        || value.parse::<IpAddr>().is_ok()
        || value.parse::<SocketAddr>().is_ok()
        || host == "localhost"
        || value.contains("://")
}

/// The password in a URL.
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

    fn world() -> World {
        let variables = [("TOKEN", "hunter2"), ("MODE", "demo")];
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
        World { variables: variables.into(), ..World::default() }
    }

    /// What is left of a text when this is a secret.
    fn of_variable(name: &str, value: &str) -> String {
        let secrets = Secrets::default();
        variable(&secrets, name, value);
        secrets.mask(&format!("<{value}>")).into_owned()
    }

    #[test]
    fn a_variable_is_a_secret_unless_it_stands_everywhere() {
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

    /// What is left of a text when this is given to a server in a header.
    fn of_header(name: &str, given: &str, filled: &str) -> String {
        let source = Source::new("a", format!("{given:?}"));
        let node = Node::parse(&source).expect("it is YAML");
        let tree = Tree::read(&node, &mut Problems::new(&source));
        let world = world();
        header(&world, name, &tree, filled);
        world.secrets.mask(&format!("<{filled}>")).into_owned()
    }

    #[test]
    fn a_header_is_a_secret_but_not_its_default_nor_what_everybody_sends() {
        assert_eq!(of_header("X-Org", "acme-corp", "acme-corp"), "<(hidden)>");
        assert_eq!(
            of_header("authorization", "Bearer ${TOKEN}", "Bearer hunter2"),
            "<Bearer (hidden)>"
        );
        assert_eq!(of_header("X-Key", "${NOT_SET:-example}", "example"), "<example>");
        assert_eq!(of_header("Accept", "text/plain", "text/plain"), "<text/plain>");
    }

    #[test]
    fn an_entry_of_the_environment_is_a_secret_where_it_is_called_one() {
        let tree = |text: &str| Tree::Plain(text.into());
        let world = world();
        entry(&world, "API_KEY", &tree("hard-coded"), "hard-coded");
        entry(&world, "MODE", &tree("production"), "production");
        assert_eq!(world.secrets.mask("hard-coded production"), "(hidden) production");
        token(&world, &tree("hunter2"), "hunter2");
        assert_eq!(world.secrets.mask("hunter2"), "(hidden)");
    }
}
