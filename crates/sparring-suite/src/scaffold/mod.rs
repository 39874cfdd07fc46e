//! Generates a first suite: one that passes on a mock, or one for a server.

mod text;
mod trial;

use std::collections::HashSet;
use std::time::Duration;

use serde_json::{Map, Value};
use sparring_transport::Target;
use sparring_transport::http::Credentials;
use sparring_wire::Revision;

use text::{flow, string};

pub use text::quote_yaml;
pub use trial::{RequestKind, Trial, TrialOutcome, sample_answer};

/// A suite that passes on [`FIRST_MOCK`].
pub const FIRST_SUITE: &str = include_str!("first.spar.yaml");

/// The script of a first mock.
pub const FIRST_MOCK: &str = include_str!("first.mock.yaml");

/// The path of the JSON Schema of suites, for editors.
pub const SCHEMA: &str = ".spar/suite.schema.json";

/// The maximum number of items of a list that a suite names, except tools.
const MAX_LISTED_ITEMS: usize = 20;

/// A list of a server.
#[derive(Debug, Clone, PartialEq)]
pub struct ListedItems {
    /// The value of `list`: `tools`, `resources`, `templates`, `prompts`.
    pub list: &'static str,
    /// Its items as the server wrote them.
    pub items: Vec<Value>,
}

impl ListedItems {
    /// The test of the list.
    fn test(&self) -> String {
        let list = self.list;
        let mut text = format!("  - name: it lists its {list}\n    list: {list}\n");
        let limit = if list == "tools" { usize::MAX } else { MAX_LISTED_ITEMS };
        let items: String = self.items.iter().take(limit).filter_map(|it| self.item(it)).collect();
        if !items.is_empty() {
            text += &format!("    expect:\n      has:\n{items}");
        }
        text
    }

    /// The matcher of one item.
    fn item(&self, item: &Value) -> Option<String> {
        let (key, wire_key) = match self.list {
            "resources" => ("uri", "uri"),
            "templates" => ("uri_template", "uriTemplate"),
            _ => ("name", "name"),
        };
        let value = string(item[wire_key].as_str()?);
        let required = item["inputSchema"]["required"].as_array().map(Vec::as_slice);
        let required = required.filter(|names| self.list == "tools" && !names.is_empty());
        let required: Option<Vec<&str>> =
            required.and_then(|names| names.iter().map(Value::as_str).collect());
        let schema = required.map(|names| {
            let names: Vec<String> = names.into_iter().map(string).collect();
            format!(", input_schema: {{required: [{}]}}", names.join(", "))
        });
        Some(format!("        - {{{key}: {value}{}}}\n", schema.unwrap_or_default()))
    }
}

/// The facts about a server from which a suite is generated.
#[derive(Debug)]
pub struct ServerFacts<'a> {
    /// The name of the server.
    pub server: &'a str,
    /// The target of the server.
    pub target: &'a Target,
    /// The requested revision.
    pub protocol: Option<Revision>,
    /// The revision of the trials.
    pub revision: Option<Revision>,
    /// The requested timeout.
    pub timeout: Option<Duration>,
    /// The capabilities that the client must declare, if the answers do not imply them.
    pub capabilities: &'a Map<String, Value>,
    /// Its lists.
    pub lists: &'a [ListedItems],
    /// The requests that were tried.
    pub trials: &'a [Trial],
}

/// Generates a suite for a server. It takes environment values and tokens from variables
/// and never contains them.
///
/// # Errors
/// When suites do not support such a target.
pub fn suite(found: &ServerFacts<'_>) -> Result<String, String> {
    let server = string(found.server);
    let mut text = format!(
        "# yaml-language-server: $schema={SCHEMA}\n# Made by `spar init` from what the server \
         has; it is yours now.\nservers:\n  {server}:\n{}",
        server_keys(found.target)?
    );
    if let Some(revision) = found.protocol {
        text += &format!("    protocol: {}\n", revision.name());
    }
    if let Some(timeout) = found.timeout {
        text += &match timeout.as_millis() {
            whole if whole % 1_000 == 0 => format!("    timeout: {}s\n", whole / 1_000),
            other => format!("    timeout: {other}ms\n"),
        };
    }
    if !found.capabilities.is_empty() {
        let declared = Value::Object(found.capabilities.clone());
        text += &format!("    capabilities: {}\n", flow(&declared));
    }
    text += "tests:\n  - name: it answers a ping\n    ping: true\n";
    text.extend(found.lists.iter().map(ListedItems::test));
    let mut titles = HashSet::new();
    for trial in found.trials {
        let title = trial.title();
        let more = (2..).map(|number| format!("{title} ({number})"));
        let mut all = std::iter::once(title.clone()).chain(more);
        let title = all.find(|title| titles.insert(title.clone())).unwrap_or_default();
        text += &trial.test(&title, found.revision);
    }
    Ok(text)
}

/// Checks that suites support such a target.
///
/// # Errors
/// When they do not.
pub fn check_target(target: &Target) -> Result<(), String> {
    server_keys(target).map(drop)
}

/// Returns the variables that the suite of a target reads, with their values.
pub fn variables(target: &Target) -> Vec<(String, String)> {
    let of_command = |child: &sparring_transport::ChildTarget| {
        child.env.iter().map(|(name, value)| (variable(name), value.clone())).collect()
    };
    match target {
        Target::Child(child) => of_command(child),
        Target::Container(container) => of_command(&container.command),
        Target::Http(http) => {
            let bearer = match &http.credentials {
                Some(Credentials::Bearer(token)) => {
                    Some(("TOKEN".to_owned(), token.reveal().to_owned()))
                }
                _ => None,
            };
            let headers = http.headers.iter().map(|(name, value)| (variable(name), value.clone()));
            bearer.into_iter().chain(headers).collect()
        }
        _ => Vec::new(),
    }
}

/// The keys of a server for a target.
fn server_keys(target: &Target) -> Result<String, String> {
    let keys: Vec<(&str, String)> = match target {
        Target::Child(child) => command(child),
        Target::Container(container) => {
            let mut keys = vec![("container", string(&container.name))];
            if !container.engine.is_empty() {
                let words = container.engine.iter().map(String::as_str);
                let line = shlex::try_join(words).map_err(|error| error.to_string())?;
                keys.push(("engine", string(&line)));
            }
            keys.extend(command(&container.command));
            keys
        }
        Target::Http(http) => {
            let mut keys = vec![("url", string(&http.url))];
            match &http.credentials {
                None => {}
                Some(Credentials::Bearer(_)) => keys.push(("bearer", name_of("TOKEN"))),
                Some(_) => return Err("suites support only bearer tokens".to_owned()),
            }
            if !http.headers.is_empty() {
                keys.push(("headers", from_environment(http.headers.iter().map(|it| &*it.0))));
            }
            keys
        }
        _ => return Err("suites do not support Unix sockets (use http+unix://)".to_owned()),
    };
    Ok(keys.into_iter().map(|(key, value)| format!("    {key}: {value}\n")).collect())
}

fn command(child: &sparring_transport::ChildTarget) -> Vec<(&'static str, String)> {
    let mut keys = vec![("command", string(&child.program))];
    // Without `args`, the words of the command would be its arguments.
    if !child.args.is_empty() || child.program.contains(char::is_whitespace) {
        keys.push(("args", flow(&Value::from(child.args.clone()))));
    }
    if !child.env.is_empty() {
        keys.push(("env", from_environment(child.env.keys().map(String::as_str))));
    }
    if let Some(cwd) = &child.cwd {
        keys.push(("cwd", string(&cwd.display().to_string())));
    }
    keys
}

/// Entries whose values are variables of the same name.
fn from_environment<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let entries = names.map(|name| format!("{}: {}", string(name), name_of(&variable(name))));
    format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
}

/// The environment variable for the value of a variable or a header.
fn variable(name: &str) -> String {
    name.replace(|c: char| !c.is_ascii_alphanumeric(), "_").to_uppercase()
}

fn name_of(variable: &str) -> String {
    format!("\"${{{variable}}}\"")
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use sparring_script::Source;
    use sparring_transport::ChildTarget;
    use sparring_transport::http::HttpTarget;

    use super::*;
    use crate::Suite;

    fn written(target: &Target, tools: &[Value]) -> String {
        let trials: Vec<Trial> = tools.iter().map(|tool| Trial::from_tool(tool, false)).collect();
        let prompt = json!({"name": "hello"});
        let text = suite(&ServerFacts {
            server: "it",
            target,
            protocol: Some(Revision::V2025_11_25),
            timeout: Some(Duration::from_millis(1_500)),
            revision: None,
            capabilities: &Map::from_iter([("sampling".to_owned(), json!({"tools": {}}))]),
            lists: &[
                ListedItems { list: "tools", items: tools.to_vec() },
                ListedItems { list: "prompts", items: vec![prompt] },
            ],
            trials: &trials,
        });
        let text = text.unwrap();
        let source = Source::new("it.spar.yaml", text.clone());
        let read = Suite::parse(&source, std::path::Path::new("."));
        assert!(read.is_ok(), "{:?}\n{text}", read.err());
        text
    }

    #[test]
    fn generates_valid_suites_for_any_tools() {
        let mut target = ChildTarget::new("my server").args(["--flag", "a: b", "${HOME}"]);
        target.env.insert("KEY".to_owned(), "hunter2".to_owned());
        let odd = json!({
            "name": "odd: \"tool\" ${x} # - {",
            "inputSchema": {"type": "object", "required": ["a b"], "properties": {
                "a b": {"type": "string", "default": "${y}\n- z"},
            }},
        });
        let harmless = json!({
            "name": "look", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true},
        });
        let text = written(&Target::Child(target), &[odd, harmless.clone(), harmless]);
        assert!(!text.contains("hunter2"), "{text}");
        let expected = "env: {KEY: \"${KEY}\"}
    protocol: 2025-11-25
    timeout: 1500ms
    capabilities: {sampling: {tools: {}}}
";
        assert!(text.contains(expected), "{text}");
        assert_eq!(text.matches("skip: it may change something").count(), 1, "{text}");
        assert!(text.contains("  - name: look answers\n    call: look\n"), "{text}");
        assert!(text.ends_with("  - name: look answers (2)\n    call: look\n"), "{text}");
    }

    #[test]
    fn takes_secrets_from_the_environment() {
        let mut target = HttpTarget::new("http://127.0.0.1:1/mcp");
        target.credentials = Some(Credentials::Bearer("hunter2".into()));
        target.headers.push(("X-Api-Key".to_owned(), "hunter3".to_owned()));
        let target = Target::Http(target);
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let expected = [pair("TOKEN", "hunter2"), pair("X_API_KEY", "hunter3")];
        assert_eq!(variables(&target), expected);
        let text = written(&target, &[]);
        assert!(!text.contains("hunter"), "{text}");
        let expected = "    bearer: \"${TOKEN}\"\n    headers: {X-Api-Key: \"${X_API_KEY}\"}\n";
        assert!(text.contains(expected), "{text}");
    }
}
