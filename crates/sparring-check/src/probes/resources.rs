//! Resources: requests to read unknown ones, and paths that leave the folder of a server.

use serde_json::{Value, json};
use sparring_wire::{Rule, code};

use super::refusals::{Refusal, lacks_capability};
use super::{Probe, probe, uri_template};
use crate::connection::Reply;
use crate::context::{Context, ProbeResult};

/// The URI of no resource.
const UNKNOWN_URI: &str = "sparring://unknown/resource";

/// The end of names of no resource.
const UNKNOWN_SUFFIX: &str = "sparring-unknown";

/// A file that every user of a Unix system can read, and a text in it.
const SYSTEM_FILE: &str = "etc/passwd";
const SYSTEM_TEXT: &str = ":0:0:";

/// The number of folders that a path leaves.
const LEVELS: usize = 12;

/// The number of folders and templates that are tried.
const MAX_FOLDERS: usize = 3;

pub(super) const PROBES: &[Probe] = &[
    probe!([ResourceNotFound, EmptyContents, ResourceNotFoundCode], unknown_resources),
    probe!([PathTraversal], path_traversal),
];

async fn unknown_resources(context: &Context) -> ProbeResult {
    let rules = [Rule::ResourceNotFound, Rule::EmptyContents, Rule::ResourceNotFoundCode];
    if lacks_capability(context, "resources", &rules) {
        return Ok(());
    }
    for uri in unknown_uris(context) {
        let reply = read(context, &uri).await;
        check_not_found(context, &reply);
    }
    for rule in rules {
        context.not_applicable(rule, "a template of the server may describe every URI");
    }
    Ok(())
}

/// Returns URIs that no listed resource has and no template describes.
fn unknown_uris(context: &Context) -> Vec<String> {
    let facts = context.facts();
    let listed: Vec<&str> = facts.resources.iter().filter_map(|it| it["uri"].as_str()).collect();
    // Such a server may load any page.
    let of_web = |uri: &str| uri.starts_with("https://") || uri.starts_with("http://");
    let neighbor = listed.iter().find(|uri| !of_web(uri) && !uri.contains(['?', '#']));
    let neighbor = neighbor.map(|uri| format!("{uri}-{UNKNOWN_SUFFIX}"));
    let described = |uri: &str| {
        let mut templates = facts.templates.iter().filter_map(|it| it["uriTemplate"].as_str());
        templates.any(|template| uri_template::may_match(template, uri))
    };
    let all = [UNKNOWN_URI.to_owned()].into_iter().chain(neighbor);
    all.filter(|uri| !described(uri) && !listed.contains(&uri.as_str())).collect()
}

/// The error has had another code since 2026-07-28 (server/resources#error-handling).
fn check_not_found(context: &Context, reply: &Reply) {
    let (rule, expected) = match context.revision.is_modern() {
        true => (Rule::ResourceNotFound, code::INVALID_PARAMS),
        false => (Rule::ResourceNotFoundCode, code::RESOURCE_NOT_FOUND),
    };
    if Refusal::of(reply) == Refusal::Unknown {
        context.undecided(rule, reply.describe());
        context.undecided(Rule::EmptyContents, reply.describe());
        return;
    }
    match reply.error_code() == Some(expected) {
        true => context.pass(rule),
        false => {
            let expected = format!("expected the error {expected} for an unknown resource");
            context.fail(rule, reply.finding(expected));
        }
    }
    match contents(reply).is_some_and(|it| it.is_empty()) {
        true => {
            let message = "expected an error for an unknown resource, not empty contents";
            context.fail(Rule::EmptyContents, reply.finding(message));
        }
        false => context.pass(Rule::EmptyContents),
    }
}

async fn path_traversal(context: &Context) -> ProbeResult {
    let rule = Rule::PathTraversal;
    if lacks_capability(context, "resources", &[rule]) {
        return Ok(());
    }
    let facts = context.facts();
    let uris = facts.resources.iter().filter_map(|it| it["uri"].as_str());
    let mut folders: Vec<Folder> = Vec::new();
    for folder in uris.filter_map(Folder::of_file) {
        if !folders.contains(&folder) {
            folders.push(folder);
        }
    }
    folders.truncate(MAX_FOLDERS);
    let templates = facts.templates.iter().filter_map(|it| it["uriTemplate"].as_str());
    folders.extend(templates.filter_map(Folder::of_template).take(MAX_FOLDERS));
    for folder in &folders {
        folder.check(context).await;
    }
    context.not_applicable(rule, "the server lists no `file://` resources");
    Ok(())
}

/// A place in whose URIs a path can be written.
#[derive(PartialEq, Eq)]
struct Folder {
    /// The text before the path.
    before: String,
    /// The text after the path.
    after: String,
}

impl Folder {
    /// Returns the folder of a file.
    fn of_file(uri: &str) -> Option<Folder> {
        let (folder, _) = uri.strip_prefix("file://")?.rsplit_once('/')?;
        Some(Folder { before: format!("file://{folder}/"), after: String::new() })
    }

    /// Returns the place of the last variable of a template.
    fn of_template(template: &str) -> Option<Folder> {
        let marker = "sparringpath";
        let last = *uri_template::variables(template).last()?;
        let uri = uri_template::expand(template, |name| {
            if name == last { marker.to_owned() } else { "1".to_owned() }
        });
        let (before, after) = uri.split_once(marker)?;
        Some(Folder { before: before.to_owned(), after: after.to_owned() })
    }

    fn uri(&self, path: &str) -> String {
        format!("{}{path}{}", self.before, self.after)
    }

    /// Tries to read a file of the system through parent folders, also percent-encoded ones.
    async fn check(&self, context: &Context) {
        let is_of_files = self.before.starts_with("file://");
        let encoded = SYSTEM_FILE.replace('/', "%2F");
        let paths = [
            format!("{}{SYSTEM_FILE}", "../".repeat(LEVELS)),
            format!("{}{SYSTEM_FILE}", "%2e%2e/".repeat(LEVELS)),
            format!("{}{encoded}", "..%2F".repeat(LEVELS)),
        ];
        for path in paths {
            let reply = read(context, &self.uri(&path)).await;
            let found = contents(&reply).unwrap_or_default();
            let mut texts = found.iter().filter_map(|it| it["text"].as_str());
            let has_system_text = texts.any(|it| it.contains(SYSTEM_TEXT));
            let is_found = match (found.is_empty(), is_of_files) {
                (true, _) => false,
                (false, false) => has_system_text,
                (false, true) => {
                    (has_system_text || !self.serves_every_path(context).await)
                        && !serves_system_file(context).await
                }
            };
            if is_found {
                let expected = "expected an error for a path that leaves its folder through `..`";
                context.fail(Rule::PathTraversal, reply.finding(expected).about(&self.before));
                return;
            }
            if is_of_files && reply.is_answered() {
                context.pass(Rule::PathTraversal);
            }
        }
    }

    /// Returns true if the server has contents for files that do not exist.
    async fn serves_every_path(&self, context: &Context) -> bool {
        read(context, &self.uri(UNKNOWN_SUFFIX)).await.is_success()
    }
}

/// Returns true if the server serves all files of the system, so that it has no folder.
async fn serves_system_file(context: &Context) -> bool {
    read(context, &format!("file:///{SYSTEM_FILE}")).await.is_success()
}

async fn read(context: &Context, uri: &str) -> Reply {
    context.request("resources/read", Some(json!({"uri": uri}))).await
}

/// Returns the contents of a result.
fn contents(reply: &Reply) -> Option<Vec<Value>> {
    reply.result()?["contents"].as_array().cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_place_of_a_path() {
        let uri = |folder: Option<Folder>| folder.map(|it| it.uri("../a"));
        let check = |found: Option<Folder>, expected: Option<&str>| {
            assert_eq!(uri(found).as_deref(), expected);
        };
        check(Folder::of_file("file:///project/main.rs"), Some("file:///project/../a"));
        check(Folder::of_file("test://text"), None);
        check(Folder::of_template("file:///{+path}"), Some("file:///../a"));
        check(Folder::of_template("logs://{day}/{name}.txt"), Some("logs://1/../a.txt"));
        check(Folder::of_template("logs://all"), None);
    }
}
