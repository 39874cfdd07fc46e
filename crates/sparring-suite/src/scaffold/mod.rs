//! A suite to begin with: one that passes at once on a mock, or one that is
//! made from what a server has.

mod sample;
mod text;

use serde_json::Value;
use sparring_transport::Target;
use sparring_transport::http::Credentials;
use sparring_wire::Revision;

use sample::sample;
use text::{flow, name};

/// A suite that passes on [`FIRST_MOCK`].
pub const FIRST_SUITE: &str = include_str!("first.spar.yaml");

/// A server in a page of YAML.
pub const FIRST_MOCK: &str = include_str!("first.mock.yaml");

/// Where a suite expects the schema of its language, for editors.
pub const SCHEMA: &str = ".spar/suite.schema.json";

/// Why a tool is not called before somebody has looked at it.
const LOOK_FIRST: &str = "it may change something; look at the arguments and take this line out";

/// A tool of a server, and what to call it with.
#[derive(Debug, Clone, PartialEq)]
pub struct Trial {
    /// Its name.
    pub tool: String,
    /// Arguments that fit its schema, if that was possible.
    pub arguments: Value,
    /// What its schema says must be there.
    required: Vec<String>,
    /// Why it is not to be called.
    pub skip: Option<String>,
}

impl Trial {
    /// One of a tool as the server lists it. Only what says that it changes
    /// nothing is to be called.
    pub fn of(tool: &Value) -> Trial {
        let (arguments, unfit) = sample(&tool["inputSchema"]);
        let required = tool["inputSchema"]["required"].as_array();
        let required = required.into_iter().flatten().filter_map(Value::as_str);
        let harmless = tool["annotations"]["readOnlyHint"] == true;
        let unfit = unfit.map(|why| format!("these arguments do not fit its schema: {why}"));
        Trial {
            tool: tool["name"].as_str().unwrap_or_default().to_owned(),
            arguments,
            required: required.map(str::to_owned).collect(),
            skip: unfit.or_else(|| (!harmless).then(|| LOOK_FIRST.to_owned())),
        }
    }

    fn listed(&self) -> String {
        let required: Vec<String> = self.required.iter().map(|it| name(it)).collect();
        let schema = match required.is_empty() {
            true => String::new(),
            false => format!(", input_schema: {{required: [{}]}}", required.join(", ")),
        };
        format!("        - {{name: {}{schema}}}\n", name(&self.tool))
    }

    fn called(&self) -> String {
        let tool = name(&self.tool);
        let skip = self.skip.as_ref().map(|why| format!("    skip: {}\n", name(why)));
        let with = (self.arguments != serde_json::json!({}))
            .then(|| format!("    with: {}\n", flow(&self.arguments)));
        let (skip, with) = (skip.unwrap_or_default(), with.unwrap_or_default());
        let title = name(&format!("{} answers", self.tool));
        format!("  - name: {title}\n{skip}    call: {tool}\n{with}")
    }
}

/// What a suite is made of.
#[derive(Debug)]
pub struct Found<'a> {
    /// What the server calls itself.
    pub server: &'a str,
    /// How it was reached.
    pub target: &'a Target,
    /// The revision that was asked for.
    pub protocol: Option<Revision>,
    /// Its tools.
    pub tools: &'a [Trial],
    /// What else it lists: `resources`, `prompts`.
    pub lists: &'a [&'static str],
}

/// A suite for a server. No value of its environment and no token gets into it:
/// they are taken from the environment, by name.
///
/// # Errors
/// When suites have no way to such a target.
pub fn suite(found: &Found<'_>) -> Result<String, String> {
    let server = name(found.server);
    let mut text = format!(
        "# yaml-language-server: $schema={SCHEMA}\n# Made by `spar init` from what the server \
         has; it is yours now.\nservers:\n  {server}:\n{}",
        reached(found.target)?
    );
    if let Some(revision) = found.protocol {
        text += &format!("    protocol: {}\n", revision.name());
    }
    text += "tests:\n  - name: it is there\n    ping: true\n";
    if !found.tools.is_empty() {
        let listed: String = found.tools.iter().map(Trial::listed).collect();
        text += &format!(
            "  - name: it has its tools\n    list: tools\n    expect:\n      has:\n{listed}"
        );
    }
    for list in found.lists {
        text += &format!("  - name: it lists its {list}\n    list: {list}\n");
    }
    text.extend(found.tools.iter().map(Trial::called));
    Ok(text)
}

/// The keys of a server that lead to a target.
fn reached(target: &Target) -> Result<String, String> {
    let keys: Vec<(&str, String)> = match target {
        Target::Child(child) => command(child),
        Target::Container(container) => {
            let mut keys = vec![("container", name(&container.name))];
            keys.extend(command(&container.command));
            keys
        }
        Target::Http(http) => {
            let mut keys = vec![("url", name(&http.url))];
            match &http.credentials {
                None => {}
                Some(Credentials::Bearer(_)) => keys.push(("bearer", name_of("TOKEN"))),
                Some(_) => return Err("a suite can show a server only a bearer token".to_owned()),
            }
            if !http.headers.is_empty() {
                keys.push(("headers", from_environment(http.headers.iter().map(|it| &*it.0))));
            }
            keys
        }
        _ => return Err("a suite has no way to a Unix socket; http+unix:// is one".to_owned()),
    };
    Ok(keys.into_iter().map(|(key, value)| format!("    {key}: {value}\n")).collect())
}

fn command(child: &sparring_transport::ChildTarget) -> Vec<(&'static str, String)> {
    let mut keys = vec![("command", name(&child.program))];
    // Without `args`, words in the command would be its arguments.
    if !child.args.is_empty() || child.program.contains(char::is_whitespace) {
        keys.push(("args", flow(&Value::from(child.args.clone()))));
    }
    if !child.env.is_empty() {
        keys.push(("env", from_environment(child.env.keys().map(String::as_str))));
    }
    if let Some(cwd) = &child.cwd {
        keys.push(("cwd", name(&cwd.display().to_string())));
    }
    keys
}

/// Names whose values are those of variables of the same name.
fn from_environment<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let variable = |it: &str| {
        let upper = it.replace(|c: char| !c.is_ascii_alphanumeric(), "_").to_uppercase();
        format!("{}: {}", name(it), name_of(&upper))
    };
    format!("{{{}}}", names.map(variable).collect::<Vec<_>>().join(", "))
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
        let tools: Vec<Trial> = tools.iter().map(Trial::of).collect();
        let (server, protocol) = ("it", Some(Revision::V2025_11_25));
        let lists = &["prompts"][..];
        let text = suite(&Found { server, target, protocol, tools: &tools, lists }).unwrap();
        let source = Source::new("it.spar.yaml", text.clone());
        let read = Suite::read(&source, std::path::Path::new("."));
        assert!(read.is_ok(), "{:?}\n{text}", read.err());
        text
    }

    #[test]
    fn a_suite_that_was_made_can_be_read_whatever_the_server_has() {
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
        let text = written(&Target::Child(target), &[odd, harmless]);
        assert!(!text.contains("hunter2"), "{text}");
        let expected = "env: {KEY: \"${KEY}\"}\n    protocol: 2025-11-25\n";
        assert!(text.contains(expected), "{text}");
        assert_eq!(text.matches("skip: it may change something").count(), 1, "{text}");
        assert!(text.ends_with("  - name: look answers\n    call: look\n"), "{text}");
    }

    #[test]
    fn secrets_are_taken_from_the_environment() {
        let mut target = HttpTarget::new("http://127.0.0.1:1/mcp");
        target.credentials = Some(Credentials::Bearer("hunter2".to_owned()));
        target.headers.push(("X-Api-Key".to_owned(), "hunter3".to_owned()));
        let text = written(&Target::Http(target), &[]);
        assert!(!text.contains("hunter"), "{text}");
        let expected = "    bearer: \"${TOKEN}\"\n    headers: {X-Api-Key: \"${X_API_KEY}\"}\n";
        assert!(text.contains(expected), "{text}");
    }
}
