//! Previews the effects of trusting a project's file. The user trusts the previewed
//! contents, even if the file changes meanwhile.

use std::path::Path;

use sparring_script::{MapEntry, Node, NodeKind, Template};
use sparring_transport::Secrets;
use sparring_wire::secret_names::is_secret_setting;

use super::configuration::FileProblem;
use super::locations::ConfigLocation;
use super::merge::{transport_name, written_target};
use super::read::{RawEntry, digest, parse_content, parse_rules, read_text};
use super::redact::add_literal_secrets;
use super::trust::{Trust, TrustError};

/// A preview of a file.
#[derive(Debug)]
pub struct TrustPreview {
    location: ConfigLocation,
    text: String,
    /// The servers that it would start or connect to.
    pub servers: Vec<PreviewedServer>,
    /// The tools that could be called without a question.
    pub allow: Vec<String>,
}

/// A server that would be started or connected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreviewedServer {
    /// Its name.
    pub name: String,
    /// Its transport.
    pub transport: &'static str,
    /// Its command line or URL as written in the file.
    pub spelled: String,
    /// The variables of Sparring's environment that it would get.
    pub takes: Vec<String>,
    /// Its working directory and its container, each as written in the file.
    pub runs_in: Vec<(&'static str, String)>,
    /// The environment variables that its entry sets, as written in the file. Literal values
    /// whose names suggest a secret are masked.
    pub sets: Vec<(String, String)>,
    /// The file with more variables that it would get, as written in the file.
    pub env_file: Option<String>,
    /// The headers that it would send.
    pub sends: Vec<String>,
}

impl TrustPreview {
    /// Reads a file; `None` if it does not exist. Adds its literal secrets to a set.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn read(
        location: &ConfigLocation,
        secrets: &Secrets,
    ) -> Result<Option<TrustPreview>, FileProblem> {
        let unreadable = |why| FileProblem::Unreadable { file: location.file.clone(), why };
        let Some(text) = read_text(&location.file).map_err(unreadable)? else { return Ok(None) };
        let content = parse_content(location, &text).map_err(FileProblem::Invalid)?;
        content.entries.iter().for_each(|raw| add_literal_secrets(&raw.node, secrets));
        let server_allow = content.entries.iter().flat_map(|raw| {
            let rules = raw.node.get("permissions").map(parse_rules).unwrap_or_default();
            rules.allow.into_iter().map(|pattern| format!("{}: {pattern}", raw.name))
        });
        let allow = content.rules.allow.iter().cloned().chain(server_allow).collect();
        let servers = content.entries.iter().map(preview_server).collect();
        Ok(Some(TrustPreview { location: location.clone(), text, servers, allow }))
    }

    /// The file.
    pub fn file(&self) -> &Path {
        &self.location.file
    }

    /// Returns true if the user trusts the file already.
    ///
    /// # Errors
    /// If the trust store cannot be read.
    pub fn is_trusted(&self, store: &Path) -> Result<bool, TrustError> {
        Ok(Trust::read(store)?.covers(&self.location.file, &digest(&self.text)))
    }

    /// Trusts the file as it was read.
    ///
    /// # Errors
    /// If the trust store cannot be written.
    pub fn trust(&self, store: &Path) -> Result<(), TrustError> {
        Trust::add(store, &self.location.file, &self.text)
    }
}

fn preview_server(raw: &RawEntry) -> PreviewedServer {
    let mut takes = Vec::new();
    collect_variables(&raw.node, &mut takes);
    let passed = raw.node.get("pass_env").map(Node::items).unwrap_or_default();
    takes.extend(passed.iter().filter_map(|item| item.as_str().map(str::to_owned)));
    takes.sort();
    takes.dedup();
    let pairs = |key: &str| raw.node.get(key).map(Node::entries).unwrap_or_default();
    let set = |entry: &MapEntry| {
        let value = entry.value.as_str().unwrap_or_default();
        let is_masked = is_secret_setting(&entry.key) && !value.contains("${");
        (entry.key.clone(), if is_masked { "(hidden)".to_owned() } else { value.to_owned() })
    };
    let place = |key: &'static str| Some((key, raw.node.get(key)?.as_str()?.to_owned()));
    PreviewedServer {
        name: raw.name.clone(),
        transport: transport_name(&raw.node),
        spelled: written_target(&raw.node),
        takes,
        runs_in: ["cwd", "container", "engine"].into_iter().filter_map(place).collect(),
        sets: pairs("env").iter().map(set).collect(),
        env_file: raw.node.get("env_file").and_then(Node::as_str).map(str::to_owned),
        sends: pairs("headers").iter().map(|entry| entry.key.clone()).collect(),
    }
}

/// Collects the names of variables in the texts of a value.
pub(super) fn collect_variables(node: &Node, names: &mut Vec<String>) {
    if let NodeKind::String(text) = &node.kind {
        let template = Template::parse(text).ok();
        for (path, _) in template.iter().flat_map(Template::placeholders) {
            let name = match path.root() {
                "env" => path.key_at(1),
                "input" if path.key_at(1).is_some() => None,
                _ => path.key_at(0),
            };
            names.extend(name.map(str::to_owned));
        }
    }
    node.entries().iter().for_each(|entry| collect_variables(&entry.value, names));
    node.items().iter().for_each(|item| collect_variables(item, names));
}
