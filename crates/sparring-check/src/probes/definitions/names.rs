//! Names that hosts and models accept, and that are unique.

use std::collections::{HashMap, HashSet};

use serde_json::Value;
use sparring_wire::{Revision, Rule};

use crate::facts::Facts;
use crate::probes::definition_findings::{DefinitionFindings, name_of, shown};

/// The length that many models allow for the name of a tool.
const MAX_NAME: usize = 64;

/// Checks the names of tools.
pub(super) fn check(
    tools: &[Value],
    server: &str,
    revision: Revision,
    findings: &mut DefinitionFindings,
) {
    // Since 2025-11-25 the rules of traffic check characters and duplicates.
    let checks_all = Rule::ToolNameCharacters.applies_in(revision);
    let mut seen: HashMap<String, &str> = HashMap::new();
    for name in tools.iter().map(name_of) {
        if checks_all && (name.is_empty() || !name.bytes().all(is_allowed)) {
            let message = format!(
                "expected only ASCII letters, digits and _-.; the tool has {:?}",
                shown(name)
            );
            findings.add(Rule::ToolNameCharacters, shown(name), message);
        }
        if let Some(message) = length_problem(name, server) {
            findings.add(Rule::LongToolName, shown(name), message);
        }
        match seen.insert(sanitized(name), name) {
            Some(other) if other != name || checks_all => {
                let expected = "expected names that differ in more than upper case and punctuation";
                let (other, name) = (shown(other), shown(name));
                let message = format!("{expected}; the server lists {other:?} and {name:?}");
                findings.add(Rule::CollidingToolNames, name, message);
            }
            _ => {}
        }
    }
}

/// Hosts give a tool a name such as `mcp__SERVER__TOOL`. Their users choose the name of the
/// server, so a long name of the server itself does not count.
fn length_problem(name: &str, server: &str) -> Option<String> {
    let prefix = match server.len() {
        1..=20 => format!("mcp__{server}__"),
        _ => String::new(),
    };
    let length = prefix.chars().count() + name.chars().count();
    (length > MAX_NAME).then(|| {
        let found = format!("the name `{prefix}{}` has {length}", shown(name));
        format!("expected at most {MAX_NAME} characters with the prefix of a host; {found}")
    })
}

/// Checks that prompts, arguments, resources and templates are listed once.
pub(super) fn check_duplicates(facts: &Facts, findings: &mut DefinitionFindings) {
    find_repeated(&facts.prompts, "name", "prompts", findings);
    find_repeated(&facts.resources, "uri", "resources", findings);
    find_repeated(&facts.templates, "uriTemplate", "templates", findings);
    for prompt in &facts.prompts {
        let arguments = prompt["arguments"].as_array().map(Vec::as_slice).unwrap_or_default();
        let list = format!("arguments of the prompt {:?}", shown(name_of(prompt)));
        find_repeated(arguments, "name", &list, findings);
    }
}

fn find_repeated(items: &[Value], key: &str, list: &str, findings: &mut DefinitionFindings) {
    let mut seen = HashSet::new();
    for id in items.iter().filter_map(|item| item[key].as_str()) {
        if !seen.insert(id) {
            let id = shown(id);
            let message =
                format!("expected each of the {list} once; the server lists {id:?} again");
            findings.add(Rule::DuplicateDefinition, id, message);
        }
    }
}

fn is_allowed(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_-.".contains(&byte)
}

/// Returns the name as hosts compare it after they replaced what models do not accept.
fn sanitized(name: &str) -> String {
    let replace = |it: char| if it.is_alphanumeric() { it } else { '_' };
    name.to_lowercase().chars().map(replace).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check_names(names: &[&str], revision: Revision, expected: &[Rule]) {
        let tools: Vec<Value> = names.iter().map(|name| json!({"name": name})).collect();
        let mut findings = DefinitionFindings::default();
        check(&tools, "server", revision, &mut findings);
        let rules: Vec<Rule> = findings.found().into_iter().map(|(rule, _)| rule).collect();
        assert_eq!(rules, expected, "{names:?}");
    }

    #[test]
    fn finds_names_that_hosts_do_not_accept() {
        let long = "x".repeat(60);
        check_names(&["a.b", "c_d", "e-f"], Revision::V2025_06_18, &[]);
        check_names(&["a b"], Revision::V2025_06_18, &[Rule::ToolNameCharacters]);
        check_names(&["a b"], Revision::V2025_11_25, &[]);
        check_names(&[&long], Revision::V2025_11_25, &[Rule::LongToolName]);
        check_names(&["get_a", "get.a"], Revision::V2025_11_25, &[Rule::CollidingToolNames]);
        check_names(&["getA", "geta"], Revision::V2025_11_25, &[Rule::CollidingToolNames]);
        check_names(&["a", "a"], Revision::V2025_11_25, &[]);
        check_names(&["a", "a"], Revision::V2024_11_05, &[Rule::CollidingToolNames]);
    }
}
