//! Reads the servers of another program's file, as entries with the keys of `mcp.yaml`.
//!
//! It knows the maps `mcpServers` (Claude, Cursor, Windsurf, Cline, Gemini CLI and others),
//! `servers` (VS Code), `mcp.servers` (settings of VS Code) and `context_servers` (Zed). A
//! file of Claude Code also has servers for single projects.

use std::path::Path;

use serde_json::Value;
use sparring_script::grammar::check_node;
use sparring_script::{MapEntry, Node, NodeKind, Problems, Shape, Source};

use super::configuration::FileProblem;
use super::grammar::SERVER;
use super::locations::Format;
use super::read::{RawEntry, convert_entry, parse_json, read_limited_text, to_raw_entry};
use super::redact;

/// The maximum size of a file. That of Claude Code also has its history.
const MAX_IMPORT_BYTES: u64 = 64 * 1024 * 1024;

/// The paths of the maps of servers in a file.
const SERVER_MAPS: [&[&str]; 4] =
    [&["mcpServers"], &["servers"], &["mcp", "servers"], &["context_servers"]];

/// The servers of a file.
#[derive(Debug)]
pub struct ImportedFile {
    /// The servers, by their order in the file.
    pub entries: Vec<ImportedEntry>,
    /// Notes, for example about keys that are left out.
    pub notes: Vec<String>,
}

/// A server of a file.
#[derive(Debug)]
pub struct ImportedEntry {
    /// Its name.
    pub name: String,
    /// Its entry, or the reasons why it cannot be used.
    pub entry: Result<Value, String>,
}

/// Reads the servers of a file. `project` selects the servers that Claude Code has for that
/// folder only. `None` if the file does not exist.
///
/// # Errors
/// If the file cannot be read, or has no map of servers.
pub fn import_file(file: &Path, project: &Path) -> Result<Option<ImportedFile>, FileProblem> {
    let unreadable = |why| FileProblem::Unreadable { file: file.to_owned(), why };
    let text = read_limited_text(file, MAX_IMPORT_BYTES).map_err(unreadable)?;
    let Some(text) = text else { return Ok(None) };
    let source = Source::new(file.display().to_string(), &*text);
    let masked = |problems: Problems| FileProblem::Invalid(redact::mask_unparsed(&problems));
    let root = parse_json(&source).map_err(masked)?;
    let servers = find_servers(&root, project);
    let Some(servers) = servers else {
        let why = "no servers in it: expected mcpServers, servers, mcp.servers or context_servers";
        return Err(unreadable(why.to_owned()));
    };
    let mut notes = Vec::new();
    let mut import = |entry: MapEntry| {
        let mut raw = to_raw_entry(with_plain_command(entry), Format::McpJson, &source);
        convert_entry(&mut raw, &source, &mut notes);
        check_node(&mut raw.node, &Shape::Object(&SERVER), &mut raw.problems);
        let RawEntry { name, mut node, problems, .. } = raw;
        replace_variables(&mut node, file, &name, &mut notes);
        let entry = match problems.is_empty() {
            true => Ok(node.to_json()),
            false => {
                let messages: Vec<&str> = problems.iter().map(|it| &*it.message).collect();
                Err(messages.join("; "))
            }
        };
        ImportedEntry { name, entry }
    };
    let entries = servers.into_iter().map(&mut import).collect();
    Ok(Some(ImportedFile { entries, notes }))
}

/// The servers of all maps; `None` if there is no map.
fn find_servers(root: &Node, project: &Path) -> Option<Vec<MapEntry>> {
    let at = |path: &[&str]| path.iter().try_fold(root, |node, key| node.get(key));
    let project = project.display().to_string();
    let of_project = at(&["projects", &project, "mcpServers"]);
    let maps: Vec<&Node> =
        SERVER_MAPS.iter().filter_map(|path| at(path)).chain(of_project).collect();
    let maps: Vec<&Node> =
        maps.into_iter().filter(|map| matches!(map.kind, NodeKind::Map(_))).collect();
    let mut servers: Vec<MapEntry> = Vec::new();
    for entry in maps.iter().flat_map(|map| map.entries()) {
        // The servers of a project come last and replace others, as in Claude Code.
        servers.retain(|earlier| earlier.key != entry.key);
        servers.push(entry.clone());
    }
    (!maps.is_empty()).then_some(servers)
}

/// Replaces the `command` of older files of Zed, a map with `path`, `args` and `env`.
fn with_plain_command(mut entry: MapEntry) -> MapEntry {
    let NodeKind::Map(members) = &mut entry.value.kind else { return entry };
    let is_nested =
        |it: &MapEntry| it.key == "command" && matches!(it.value.kind, NodeKind::Map(_));
    if let Some(at) = members.iter().position(is_nested) {
        let nested = members.remove(at);
        if let NodeKind::Map(inner) = nested.value.kind {
            let inner = inner.into_iter().filter(|it| it.value.kind != NodeKind::Null);
            let renamed = inner.map(|it| match &*it.key {
                "path" => MapEntry { key: "command".to_owned(), ..it },
                _ => it,
            });
            members.splice(at..at, renamed);
        }
    }
    // Zed writes it beside every server of the user's own.
    members.retain(|it| it.key != "source");
    entry
}

/// Replaces the variables that only other programs define.
fn replace_variables(node: &mut Node, file: &Path, name: &str, notes: &mut Vec<String>) {
    match &mut node.kind {
        NodeKind::String(text) => {
            let folder = file.parent().and_then(Path::parent).map(|it| it.display().to_string());
            let replaced = text
                .replace("${userHome}", "${HOME}")
                .replace("${workspaceFolder}", &folder.unwrap_or_default());
            *text = replace_inputs(&replaced, name, notes);
        }
        NodeKind::List(items) => {
            items.iter_mut().for_each(|item| replace_variables(item, file, name, notes));
        }
        NodeKind::Map(members) => {
            let values = members.iter_mut().map(|member| &mut member.value);
            values.for_each(|value| replace_variables(value, file, name, notes));
        }
        _ => {}
    }
}

/// Replaces `${input:id}` with an environment variable, because `mcp.yaml` has no inputs.
fn replace_inputs(text: &str, name: &str, notes: &mut Vec<String>) -> String {
    let mut replaced = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${input:") {
        let Some((id, after)) = after.split_once('}') else { break };
        let variable = id.replace(|c: char| !c.is_ascii_alphanumeric(), "_").to_uppercase();
        let note = format!("server `{name}`: the input `{id}` is now the variable `{variable}`");
        if !notes.contains(&note) {
            notes.push(note);
        }
        replaced.push_str(&format!("{before}${{{variable}}}"));
        rest = after;
    }
    replaced + rest
}
