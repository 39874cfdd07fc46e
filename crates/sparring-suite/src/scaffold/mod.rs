//! Generates a first suite: one that passes on a mock, or one for a server.

mod sample;
mod text;

use serde_json::Value;
use sparring_transport::Target;
use sparring_transport::http::Credentials;
use sparring_wire::Revision;

use sample::sample;
use text::{flow, string};

/// A suite that passes on [`FIRST_MOCK`].
pub const FIRST_SUITE: &str = include_str!("first.spar.yaml");

/// The script of a first mock.
pub const FIRST_MOCK: &str = include_str!("first.mock.yaml");

/// The path of the JSON Schema of suites, for editors.
pub const SCHEMA: &str = ".spar/suite.schema.json";

/// The reason to skip a tool that may have side effects.
const MAY_CHANGE: &str = "it may change something; check the arguments and remove this line";

/// A tool of a server, and sample arguments.
#[derive(Debug, Clone, PartialEq)]
pub struct SampleCall {
    /// The name of the tool.
    pub tool: String,
    /// Sample arguments, which conform to the input schema if possible.
    pub arguments: Value,
    /// The required arguments.
    required: Vec<String>,
    /// The reason to skip the generated test, if it is skipped.
    pub skip: Option<String>,
}

impl SampleCall {
    /// Makes sample arguments for a listed tool. Only tools with `readOnlyHint` are called.
    pub fn from_tool(tool: &Value) -> SampleCall {
        let (arguments, mismatch) = sample(&tool["inputSchema"]);
        let required = tool["inputSchema"]["required"].as_array();
        let required = required.into_iter().flatten().filter_map(Value::as_str);
        let harmless = tool["annotations"]["readOnlyHint"] == true;
        let mismatch = mismatch
            .map(|why| format!("these arguments do not conform to the input schema: {why}"));
        SampleCall {
            tool: tool["name"].as_str().unwrap_or_default().to_owned(),
            arguments,
            required: required.map(str::to_owned).collect(),
            skip: mismatch.or_else(|| (!harmless).then(|| MAY_CHANGE.to_owned())),
        }
    }

    fn listed(&self) -> String {
        let required: Vec<String> = self.required.iter().map(|it| string(it)).collect();
        let schema = match required.is_empty() {
            true => String::new(),
            false => format!(", input_schema: {{required: [{}]}}", required.join(", ")),
        };
        format!("        - {{name: {}{schema}}}\n", string(&self.tool))
    }

    fn called(&self) -> String {
        let tool = string(&self.tool);
        let skip = self.skip.as_ref().map(|why| format!("    skip: {}\n", string(why)));
        let with = (self.arguments != serde_json::json!({}))
            .then(|| format!("    with: {}\n", flow(&self.arguments)));
        let (skip, with) = (skip.unwrap_or_default(), with.unwrap_or_default());
        let title = string(&format!("{} answers", self.tool));
        format!("  - name: {title}\n{skip}    call: {tool}\n{with}")
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
    /// Its tools.
    pub tools: &'a [SampleCall],
    /// Other lists of the server: `resources`, `prompts`.
    pub lists: &'a [&'static str],
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
    text += "tests:\n  - name: it answers a ping\n    ping: true\n";
    if !found.tools.is_empty() {
        let listed: String = found.tools.iter().map(SampleCall::listed).collect();
        text += &format!(
            "  - name: it lists its tools\n    list: tools\n    expect:\n      has:\n{listed}"
        );
    }
    for list in found.lists {
        text += &format!("  - name: it lists its {list}\n    list: {list}\n");
    }
    text.extend(found.tools.iter().map(SampleCall::called));
    Ok(text)
}

/// The keys of a server for a target.
fn server_keys(target: &Target) -> Result<String, String> {
    let keys: Vec<(&str, String)> = match target {
        Target::Child(child) => command(child),
        Target::Container(container) => {
            let mut keys = vec![("container", string(&container.name))];
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
    let variable = |it: &str| {
        let upper = it.replace(|c: char| !c.is_ascii_alphanumeric(), "_").to_uppercase();
        format!("{}: {}", string(it), name_of(&upper))
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
        let tools: Vec<SampleCall> = tools.iter().map(SampleCall::from_tool).collect();
        let (server, protocol) = ("it", Some(Revision::V2025_11_25));
        let lists = &["prompts"][..];
        let text = suite(&ServerFacts { server, target, protocol, tools: &tools, lists }).unwrap();
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
        let text = written(&Target::Child(target), &[odd, harmless]);
        assert!(!text.contains("hunter2"), "{text}");
        let expected = "env: {KEY: \"${KEY}\"}\n    protocol: 2025-11-25\n";
        assert!(text.contains(expected), "{text}");
        assert_eq!(text.matches("skip: it may change something").count(), 1, "{text}");
        assert!(text.ends_with("  - name: look answers\n    call: look\n"), "{text}");
    }

    #[test]
    fn takes_secrets_from_the_environment() {
        let mut target = HttpTarget::new("http://127.0.0.1:1/mcp");
        target.credentials = Some(Credentials::Bearer("hunter2".to_owned()));
        target.headers.push(("X-Api-Key".to_owned(), "hunter3".to_owned()));
        let text = written(&Target::Http(target), &[]);
        assert!(!text.contains("hunter"), "{text}");
        let expected = "    bearer: \"${TOKEN}\"\n    headers: {X-Api-Key: \"${X_API_KEY}\"}\n";
        assert!(text.contains(expected), "{text}");
    }
}
