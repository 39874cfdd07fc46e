//! What a file of a project would have done if it were trusted, for whoever is
//! to decide that. What is shown is what is trusted then, whatever becomes of the
//! file meanwhile.

use std::path::Path;

use sparring_script::{Kind, Node, Template};

use super::all::Fault;
use super::merge::{spelled, transport};
use super::places::Place;
use super::read::{Raw, content, rules, text};
use super::trust::{Trust, TrustError};

/// What a file would have done.
#[derive(Debug)]
pub struct Offer {
    place: Place,
    text: String,
    /// What it would have started or connected to.
    pub servers: Vec<Offered>,
    /// The tools that could be called without asking.
    pub allow: Vec<String>,
}

/// A server that would be started or connected to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offered {
    /// Its name.
    pub name: String,
    /// The way to it.
    pub transport: &'static str,
    /// Its command line or its URL as the file spells it.
    pub spelled: String,
    /// The variables that it would be given or sent of ours.
    pub takes: Vec<String>,
    /// The variables that are set for it.
    pub sets: Vec<String>,
}

impl Offer {
    /// Reads a file; nothing where there is none.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn read(place: &Place) -> Result<Option<Offer>, Fault> {
        let unreadable = |why| Fault::Unreadable { file: place.file.clone(), why };
        let Some(text) = text(&place.file).map_err(unreadable)? else { return Ok(None) };
        let content = content(place, &text).map_err(Fault::Wrong)?;
        let of_servers = content.entries.iter().flat_map(|raw| {
            let rules = raw.node.get("permissions").map(rules).unwrap_or_default();
            rules.allow.into_iter().map(|pattern| format!("{}: {pattern}", raw.name))
        });
        let allow = content.rules.allow.iter().cloned().chain(of_servers).collect();
        let servers = content.entries.iter().map(offered).collect();
        Ok(Some(Offer { place: place.clone(), text, servers, allow }))
    }

    /// The file.
    pub fn file(&self) -> &Path {
        &self.place.file
    }

    /// Whether the user trusts it already.
    ///
    /// # Errors
    /// When that cannot be known.
    pub fn is_trusted(&self, store: &Path) -> Result<bool, TrustError> {
        Ok(Trust::read(store)?.covers(&self.place.file, &self.text))
    }

    /// Trusts it from now on, as it was read.
    ///
    /// # Errors
    /// When that cannot be kept.
    pub fn trust(&self, store: &Path) -> Result<(), TrustError> {
        Trust::add(store, &self.place.file, &self.text)
    }
}

fn offered(raw: &Raw) -> Offered {
    let mut takes = Vec::new();
    holes(&raw.node, &mut takes);
    let passed = raw.node.get("pass_env").map(Node::items).unwrap_or_default();
    takes.extend(passed.iter().filter_map(|item| item.as_str().map(str::to_owned)));
    takes.sort();
    takes.dedup();
    let env = raw.node.get("env").map(Node::entries).unwrap_or_default();
    Offered {
        name: raw.name.clone(),
        transport: transport(&raw.node),
        spelled: spelled(&raw.node),
        takes,
        sets: env.iter().map(|entry| entry.key.clone()).collect(),
    }
}

/// The variables that the texts of a value ask for.
pub(super) fn holes(node: &Node, names: &mut Vec<String>) {
    if let Kind::String(text) = &node.kind {
        let template = Template::parse(text).ok();
        for (path, _) in template.iter().flat_map(Template::holes) {
            let name = match path.root() {
                "env" => path.key(1),
                "input" if path.key(1).is_some() => None,
                _ => path.key(0),
            };
            names.extend(name.map(str::to_owned));
        }
    }
    node.entries().iter().for_each(|entry| holes(&entry.value, names));
    node.items().iter().for_each(|item| holes(item, names));
}
