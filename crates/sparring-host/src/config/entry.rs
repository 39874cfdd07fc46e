//! Reads an entry into a server configuration.

use std::path::PathBuf;
use std::time::Duration;

use sparring_peer::Protocol;
use sparring_script::{Node, Problems, Span, parse_duration, parse_size};
use sparring_transport::http::{HttpTarget, HttpTransport};
use sparring_transport::{ChildTarget, ContainerTarget, Target};
use sparring_wire::Revision;

use super::config_context::ConfigContext;
use super::env_file::parse_env_file;
use super::expand::Expander;
use super::locations::ConfigLocation;
use super::read::{Input, RawEntry, parse_rules, read_text};
use super::server_config::{Origin, Reconnect, Scope, ServerConfig};

/// The default timeout of connecting and of each request.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);

/// The environment variables that every child inherits: those that programs
/// need, and none that could be a secret.
const INHERITED_VARIABLES: [&str; 11] =
    ["HOME", "PATH", "USER", "LOGNAME", "SHELL", "TERM", "LANG", "LC_*", "TZ", "TMPDIR", "XDG_*"];

/// The same on Windows.
const INHERITED_VARIABLES_WINDOWS: [&str; 18] = [
    "APPDATA",
    "COMSPEC",
    "HOMEDRIVE",
    "HOMEPATH",
    "LOCALAPPDATA",
    "NUMBER_OF_PROCESSORS",
    "PATH",
    "PATHEXT",
    "PROCESSOR_ARCHITECTURE",
    "PROGRAMDATA",
    "PROGRAMFILES*",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "TEMP",
    "TMP",
    "USERNAME",
    "USERPROFILE",
    "WINDIR",
];

/// The keys of a target, each with the keys that are allowed only beside it.
const TARGET_KEYS: [(&str, &[&str]); 2] = [
    ("command", &["args", "env", "env_file", "pass_env", "cwd", "container", "engine"]),
    ("url", &["headers", "auth"]),
];

/// The context of an entry.
#[derive(Clone, Copy)]
pub(super) struct EntryContext<'a> {
    pub(super) location: &'a ConfigLocation,
    pub(super) inputs: &'a [Input],
    pub(super) config_context: &'a ConfigContext,
}

/// Reads an entry.
pub(super) struct EntryReader<'a> {
    pub(super) expander: Expander<'a>,
    raw: &'a RawEntry,
}

/// Reads an entry.
///
/// # Errors
/// All problems of the entry.
pub(super) fn read_server(
    raw: &RawEntry,
    origin: &Origin,
    entry_context: EntryContext<'_>,
) -> Result<ServerConfig, Problems> {
    let EntryContext { location, inputs, config_context } = entry_context;
    let problems = raw.problems.clone();
    let expander = Expander { server: &raw.name, location, inputs, config_context, problems };
    let mut reader = EntryReader { expander, raw };
    let target = reader.target();
    let config = target.map(|target| reader.server_config(target, origin.clone()));
    let Expander { mut problems, .. } = reader.expander;
    match config {
        Some(config) => problems.into_result(config),
        None => {
            if problems.is_empty() {
                problems.add(raw.key_span, format!("server `{}` is invalid", raw.name));
            }
            Err(problems)
        }
    }
}

/// Resolves a path in a file: relative to the user's home or to the file's
/// folder.
pub(super) fn resolve_path(
    text: &str,
    location: &ConfigLocation,
    config_context: &ConfigContext,
) -> PathBuf {
    let at_home = text.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/'));
    match (at_home, &config_context.home, &location.folder) {
        (Some(rest), Some(home), _) => home.join(rest.trim_start_matches('/')),
        (_, _, Some(folder)) => folder.join(text),
        _ => PathBuf::from(text),
    }
}

impl EntryReader<'_> {
    pub(super) fn add_problem(&mut self, span: Span, message: &str) {
        let message = format!("server `{}`: {message}", self.raw.name);
        self.expander.problems.add(span, message);
    }

    fn server_config(&mut self, target: Target, origin: Origin) -> ServerConfig {
        let node = &self.raw.node;
        let flag = |node: &Node, key| node.get(key).and_then(Node::as_bool);
        let settings = node.get("settings");
        let setting = |key| settings.and_then(|settings| settings.get(key));
        let connects = [
            node.entry("auto_connect"),
            settings.and_then(|settings| settings.entry("auto_connect")),
        ];
        if let [Some(_), Some(second)] = connects {
            self.add_problem(second.key_span, "`auto_connect` is set twice");
        }
        let auto_connect = connects.into_iter().flatten().next().and_then(|it| it.value.as_bool());
        let mut reconnect = Reconnect::default();
        if let Some(attempts) = setting("reconnect_attempts").and_then(Node::as_u64) {
            reconnect.attempts = u32::try_from(attempts).unwrap_or(u32::MAX);
        }
        if let Some(delay) = setting("reconnect_delay").and_then(Node::as_str) {
            reconnect.delay = parse_duration(delay).unwrap_or(reconnect.delay);
        }
        ServerConfig {
            name: self.raw.name.clone(),
            origin,
            target,
            protocol: self.protocol(),
            enabled: flag(node, "enabled").unwrap_or(true),
            auto_connect: auto_connect.unwrap_or(true),
            timeout: self.timeout(),
            reconnect,
            rules: node.get("permissions").map(parse_rules).unwrap_or_default(),
        }
    }

    fn protocol(&self) -> Protocol {
        let name = self.raw.node.get("protocol").and_then(Node::as_str);
        let revision = name.and_then(Revision::from_name);
        revision.map_or(Protocol::Auto, Protocol::Only)
    }

    fn timeout(&mut self) -> Duration {
        let settings = self.raw.node.get("settings");
        let Some(node) = settings.and_then(|settings| settings.get("timeout")) else {
            return DEFAULT_TIMEOUT;
        };
        match node.as_str().and_then(|text| parse_duration(text).ok()) {
            Some(Duration::ZERO) => {
                self.add_problem(node.span, "`timeout` must be greater than 0");
                DEFAULT_TIMEOUT
            }
            timeout => timeout.unwrap_or(DEFAULT_TIMEOUT),
        }
    }

    /// The target; `None` after a problem.
    fn target(&mut self) -> Option<Target> {
        let node = &self.raw.node;
        let transport = node.get("transport").and_then(Node::as_str);
        let target_key = match (node.entry("command"), node.entry("url"), transport) {
            (Some(_), Some(url), _) => {
                self.add_problem(
                    url.key_span,
                    "has both `command` and `url`; use only one of them",
                );
                return None;
            }
            (None, None, None) => {
                // An unknown key was reported with a suggestion.
                if self.expander.problems.is_empty() {
                    self.add_problem(self.raw.key_span, "needs a `command` or a `url`");
                }
                return None;
            }
            (None, None, Some("stdio")) | (None, Some(_), Some("stdio")) => {
                self.add_problem(self.raw.key_span, "`transport: stdio` needs a `command`");
                return None;
            }
            (_, None, Some(http @ ("http" | "sse"))) => {
                let message = format!("`transport: {http}` needs a `url`");
                self.add_problem(self.raw.key_span, &message);
                return None;
            }
            // The grammar check reported the unknown transport.
            (None, None, Some(_)) => return None,
            (Some(_), None, _) => "command",
            (None, Some(_), _) => "url",
        };
        for (other, beside) in TARGET_KEYS.iter().filter(|(key, _)| *key != target_key) {
            for entry in node.entries().iter().filter(|it| beside.contains(&&*it.key)) {
                let message = format!(
                    "`{}` needs `{other}` and cannot be used with `{target_key}`",
                    entry.key
                );
                self.add_problem(entry.key_span, &message);
            }
        }
        match target_key {
            "command" => self.command_target(),
            _ => self.http_target(transport).map(Target::Http),
        }
    }

    fn command_target(&mut self) -> Option<Target> {
        let node = &self.raw.node;
        let location = self.expander.location;
        let container = match node.get("container") {
            Some(name) => Some(self.expander.expand_text("container", name)?),
            None => None,
        };
        let is_local = container.is_none();
        let command = node.get("command")?;
        let program = self.expander.expand_text("command", command)?;
        if program.trim().is_empty() {
            self.add_problem(command.span, "`command` is empty");
        }
        let program = match is_local && program.contains('/') {
            true => {
                resolve_path(&program, location, self.expander.config_context).display().to_string()
            }
            false => program,
        };
        let mut target = ChildTarget::new(program).args(self.list("args")?);
        let mut variables = self.env_file()?;
        variables.extend(self.pairs("env", is_variable)?);
        target.env = variables.into_iter().collect();
        target.cwd = match node.get("cwd") {
            Some(cwd) => {
                let cwd = self.expander.expand_text("cwd", cwd)?;
                Some(match is_local {
                    true => resolve_path(&cwd, location, self.expander.config_context),
                    false => cwd.into(),
                })
            }
            None if is_local && location.scope == Scope::Project => location.folder.clone(),
            None => None,
        };
        if let Some(limit) = self.max_output() {
            target.max_line = limit;
        }
        let passed = self.pass_env();
        match container {
            Some(name) => self.container_target(name, target, &passed).map(Target::Container),
            None => {
                if let Some(engine) = node.entry("engine") {
                    let message = "`engine` needs a `container`";
                    self.add_problem(engine.key_span, message);
                }
                let inherited: &[&str] =
                    if cfg!(windows) { &INHERITED_VARIABLES_WINDOWS } else { &INHERITED_VARIABLES };
                let inherited = inherited.iter().map(|name| (*name).to_owned());
                target.inherit = Some(inherited.chain(passed).collect());
                Some(Target::Child(target))
            }
        }
    }

    fn container_target(
        &mut self,
        name: String,
        command: ChildTarget,
        passed: &[String],
    ) -> Option<ContainerTarget> {
        let node = &self.raw.node;
        if name.is_empty() || name.starts_with('-') {
            let span = node.get("container").map_or(self.raw.key_span, |node| node.span);
            self.add_problem(span, "`container` is empty or begins with `-`");
        }
        let mut target = ContainerTarget::new(name, command);
        target.ready_timeout = self.timeout();
        if let Some(engine) = node.get("engine") {
            let line = self.expander.expand_text("engine", engine)?;
            match shlex::split(&line).filter(|words| !words.is_empty()) {
                Some(words) => target.engine = words,
                None => self.add_problem(engine.span, "`engine` is not a valid command line"),
            }
        }
        // The engine reads the values from its own environment, so that they
        // are on no command line.
        let known = &self.expander.config_context.variables;
        let set = passed.iter().filter(|name| known.contains_key(*name));
        target.flags.extend(set.map(|name| format!("--env={name}")));
        Some(target)
    }

    fn http_target(&mut self, transport: Option<&str>) -> Option<HttpTarget> {
        let node = &self.raw.node;
        let url = node.get("url")?;
        let mut target = HttpTarget::new(self.expander.expand_url("url", url)?);
        if let Err(bad) = target.check_url() {
            self.add_problem(url.span, &format!("invalid `url`: {}", bad.reason));
        }
        target.transport = match transport {
            Some("sse") => HttpTransport::Sse,
            Some("http") => HttpTransport::Streamable,
            _ => HttpTransport::Auto,
        };
        if let (HttpTransport::Sse, Protocol::Only(revision)) = (target.transport, self.protocol())
            && revision.is_modern()
        {
            let message = format!("`transport: sse` does not exist in {}", revision.name());
            let span = node.get("protocol").map_or(self.raw.key_span, |node| node.span);
            self.add_problem(span, &message);
        }
        target.headers = self.pairs("headers", is_header)?;
        target.credentials = self.credentials(node);
        let names = |(name, _): &(String, String)| name.eq_ignore_ascii_case("authorization");
        if target.credentials.is_some() && target.headers.iter().any(names) {
            let span = node.entry("auth").map_or(self.raw.key_span, |entry| entry.key_span);
            self.add_problem(span, "credentials are set twice: `headers` has Authorization too");
        }
        target.proxies = self.expander.config_context.proxies.clone();
        target.secrets = self.expander.config_context.secrets.clone();
        if let Some(limit) = self.max_output() {
            target.max_message = limit;
        }
        Some(target)
    }

    fn max_output(&mut self) -> Option<usize> {
        let node = self.raw.node.get("max_output")?;
        match parse_size(node.as_str()?) {
            Ok(limit) => Some(limit),
            Err(message) => {
                self.add_problem(node.span, &format!("`max_output`: {message}"));
                None
            }
        }
    }

    /// The variables of `env_file`; `None` after a problem.
    fn env_file(&mut self) -> Option<Vec<(String, String)>> {
        let Some(node) = self.raw.node.get("env_file") else { return Some(Vec::new()) };
        let path = self.expander.expand_text("env_file", node)?;
        let path = resolve_path(&path, self.expander.location, self.expander.config_context);
        let problem = match read_text(&path) {
            Ok(Some(text)) => match parse_env_file(&text) {
                Ok(variables) => {
                    let secrets = &self.expander.config_context.secrets;
                    variables.iter().for_each(|(name, value)| secrets.add_variable(name, value));
                    return Some(variables);
                }
                Err(line) => format!("`env_file`: line {line} is not NAME=value"),
            },
            Ok(None) => "cannot read `env_file`: no such file".to_owned(),
            Err(why) => format!("cannot read `env_file`: {why}"),
        };
        self.add_problem(node.span, &problem);
        None
    }

    fn pass_env(&mut self) -> Vec<String> {
        let items = self.raw.node.get("pass_env").map(Node::items).unwrap_or_default();
        for item in items {
            if !item.as_str().is_none_or(is_variable) {
                self.add_problem(item.span, "invalid name of a variable");
            }
        }
        let names: Vec<String> =
            items.iter().filter_map(|item| item.as_str().map(str::to_owned)).collect();
        let ConfigContext { variables, secrets, .. } = self.expander.config_context;
        let passed = names.iter().filter_map(|name| Some((name, variables.get(name)?)));
        passed.for_each(|(name, value)| secrets.add_variable(name, value));
        names
    }

    fn list(&mut self, key: &str) -> Option<Vec<String>> {
        let items = self.raw.node.get(key).map(Node::items).unwrap_or_default();
        let mut filled = Vec::new();
        for (at, item) in items.iter().enumerate() {
            filled.push(self.expander.expand_text(&format!("{key}[{at}]"), item));
        }
        filled.into_iter().collect()
    }

    fn pairs(&mut self, key: &str, is_name: fn(&str) -> bool) -> Option<Vec<(String, String)>> {
        let entries = self.raw.node.get(key).map(Node::entries).unwrap_or_default();
        let mut filled = Vec::new();
        for entry in entries {
            if !is_name(&entry.key) {
                self.add_problem(entry.key_span, &format!("invalid name in `{key}`"));
            }
            let value = self.expander.expand_text(&format!("{key}.{}", entry.key), &entry.value);
            if value.as_ref().is_some_and(|value| key == "headers" && !is_header_value(value)) {
                let message =
                    format!("`headers.{}` contains characters that headers cannot have", entry.key);
                self.add_problem(entry.value.span, &message);
            }
            filled.push(value.map(|value| (entry.key.clone(), value)));
        }
        filled.into_iter().collect()
    }
}

fn is_variable(name: &str) -> bool {
    !name.is_empty() && !name.contains(['=', '\0'])
}

/// Returns true if a header can have that name (RFC 9110, 5.6.2).
fn is_header(name: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    !name.is_empty() && name.chars().all(allowed)
}

fn is_header_value(value: &str) -> bool {
    !value.contains(|c: char| c.is_control() && c != '\t')
}
