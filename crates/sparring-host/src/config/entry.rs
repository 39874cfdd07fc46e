//! From an entry to a server that can be connected to.

use std::path::PathBuf;
use std::time::Duration;

use sparring_peer::Protocol;
use sparring_script::{Node, Problems, Span, duration, size};
use sparring_transport::http::{HttpTarget, HttpTransport};
use sparring_transport::{ChildTarget, ContainerTarget, Target};
use sparring_wire::Revision;

use super::expand::Expander;
use super::places::Place;
use super::read::{Input, Raw, rules};
use super::server::{Origin, Reconnect, Scope, ServerConfig};
use super::surroundings::Surroundings;

/// How long connecting may take, and then each request.
const PATIENCE: Duration = Duration::from_secs(30);

/// What every child gets of our environment: what programs need to find their
/// way, and nothing that could be a secret.
const FOR_ALL: [&str; 11] =
    ["HOME", "PATH", "USER", "LOGNAME", "SHELL", "TERM", "LANG", "LC_*", "TZ", "TMPDIR", "XDG_*"];

/// The same on Windows.
const FOR_ALL_ON_WINDOWS: [&str; 18] = [
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

/// The keys that say how to get to a server, and what stands beside each alone.
const BESIDE: [(&str, &[&str]); 2] = [
    ("command", &["args", "env", "pass_env", "cwd", "container", "engine"]),
    ("url", &["headers", "auth"]),
];

/// What is around an entry.
#[derive(Clone, Copy)]
pub(super) struct Around<'a> {
    pub(super) place: &'a Place,
    pub(super) inputs: &'a [Input],
    pub(super) surroundings: &'a Surroundings,
}

/// An entry that is being read.
pub(super) struct Reading<'a> {
    pub(super) expander: Expander<'a>,
    raw: &'a Raw,
}

/// Reads an entry.
///
/// # Errors
/// When something is wrong with it; all of that is told.
pub(super) fn server(
    raw: &Raw,
    origin: &Origin,
    around: Around<'_>,
) -> Result<ServerConfig, Problems> {
    let Around { place, inputs, surroundings } = around;
    let problems = raw.problems.clone();
    let expander = Expander { server: &raw.name, place, inputs, surroundings, problems };
    let mut reading = Reading { expander, raw };
    let target = reading.target();
    let config = target.map(|target| reading.config(target, origin.clone()));
    let Expander { mut problems, .. } = reading.expander;
    match config {
        Some(config) => problems.or(config),
        None => {
            if problems.is_empty() {
                problems.add(raw.key_span, format!("server `{}` cannot be read", raw.name));
            }
            Err(problems)
        }
    }
}

/// A path in a file: from the user's home, or from where the file's begin.
pub(super) fn located(text: &str, place: &Place, surroundings: &Surroundings) -> PathBuf {
    let at_home = text.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/'));
    match (at_home, &surroundings.home, &place.folder) {
        (Some(rest), Some(home), _) => home.join(rest.trim_start_matches('/')),
        (_, _, Some(folder)) => folder.join(text),
        _ => PathBuf::from(text),
    }
}

impl Reading<'_> {
    pub(super) fn wrong(&mut self, span: Span, message: &str) {
        let message = format!("server `{}`: {message}", self.raw.name);
        self.expander.problems.add(span, message);
    }

    fn config(&mut self, target: Target, origin: Origin) -> ServerConfig {
        let node = &self.raw.node;
        let flag = |node: &Node, key| node.get(key).and_then(Node::as_bool);
        let settings = node.get("settings");
        let of_settings = |key| settings.and_then(|settings| settings.get(key));
        let connects = [
            node.entry("auto_connect"),
            settings.and_then(|settings| settings.entry("auto_connect")),
        ];
        if let [Some(_), Some(second)] = connects {
            self.wrong(second.key_span, "`auto_connect` is said twice");
        }
        let auto_connect = connects.into_iter().flatten().next().and_then(|it| it.value.as_bool());
        let mut reconnect = Reconnect::default();
        if let Some(attempts) = of_settings("reconnect_attempts").and_then(Node::as_u64) {
            reconnect.attempts = u32::try_from(attempts).unwrap_or(u32::MAX);
        }
        if let Some(delay) = of_settings("reconnect_delay").and_then(Node::as_str) {
            reconnect.delay = duration(delay).unwrap_or(reconnect.delay);
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
            rules: node.get("permissions").map(rules).unwrap_or_default(),
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
            return PATIENCE;
        };
        match node.as_str().and_then(|text| duration(text).ok()) {
            Some(Duration::ZERO) => {
                self.wrong(node.span, "a timeout is more than nothing");
                PATIENCE
            }
            timeout => timeout.unwrap_or(PATIENCE),
        }
    }

    /// How to get to it; nothing where that cannot be said, which is told.
    fn target(&mut self) -> Option<Target> {
        let node = &self.raw.node;
        let transport = node.get("transport").and_then(Node::as_str);
        let way = match (node.entry("command"), node.entry("url"), transport) {
            (Some(_), Some(url), _) => {
                self.wrong(
                    url.key_span,
                    "it has both `command` and `url`, and is one or the other",
                );
                return None;
            }
            (None, None, None) => {
                // A key that is unknown was told with the one that is meant.
                if self.expander.problems.is_empty() {
                    self.wrong(self.raw.key_span, "it has neither `command` nor `url`");
                }
                return None;
            }
            (None, None, Some("stdio")) | (None, Some(_), Some("stdio")) => {
                self.wrong(self.raw.key_span, "`transport: stdio` needs a `command`");
                return None;
            }
            (_, None, Some(http @ ("http" | "sse"))) => {
                let message = format!("`transport: {http}` needs a `url`");
                self.wrong(self.raw.key_span, &message);
                return None;
            }
            // What transport that is was told by the grammar.
            (None, None, Some(_)) => return None,
            (Some(_), None, _) => "command",
            (None, Some(_), _) => "url",
        };
        for (other, beside) in BESIDE.iter().filter(|(key, _)| *key != way) {
            for entry in node.entries().iter().filter(|it| beside.contains(&&*it.key)) {
                let message = format!("`{}` goes with `{other}`, and not with `{way}`", entry.key);
                self.wrong(entry.key_span, &message);
            }
        }
        match way {
            "command" => self.command(),
            _ => self.address(transport).map(Target::Http),
        }
    }

    fn command(&mut self) -> Option<Target> {
        let node = &self.raw.node;
        let place = self.expander.place;
        let container = match node.get("container") {
            Some(name) => Some(self.expander.text("container", name)?),
            None => None,
        };
        let is_here = container.is_none();
        let command = node.get("command")?;
        let program = self.expander.text("command", command)?;
        if program.trim().is_empty() {
            self.wrong(command.span, "the `command` is empty");
        }
        let program = match is_here && program.contains('/') {
            true => located(&program, place, self.expander.surroundings).display().to_string(),
            false => program,
        };
        let mut target = ChildTarget::new(program).args(self.list("args")?);
        target.env = self.pairs("env", is_variable)?.into_iter().collect();
        target.cwd = match node.get("cwd") {
            Some(cwd) => {
                let cwd = self.expander.text("cwd", cwd)?;
                Some(match is_here {
                    true => located(&cwd, place, self.expander.surroundings),
                    false => cwd.into(),
                })
            }
            None if is_here && place.scope == Scope::Project => place.folder.clone(),
            None => None,
        };
        if let Some(longest) = self.max_output() {
            target.max_line = longest;
        }
        let passed = self.pass_env();
        match container {
            Some(name) => self.container(name, target, &passed).map(Target::Container),
            None => {
                if let Some(engine) = node.entry("engine") {
                    let message = "`engine` is that of a `container`, which is not here";
                    self.wrong(engine.key_span, message);
                }
                let for_all: &[&str] = if cfg!(windows) { &FOR_ALL_ON_WINDOWS } else { &FOR_ALL };
                let for_all = for_all.iter().map(|name| (*name).to_owned());
                target.inherit = Some(for_all.chain(passed).collect());
                Some(Target::Child(target))
            }
        }
    }

    fn container(
        &mut self,
        name: String,
        command: ChildTarget,
        passed: &[String],
    ) -> Option<ContainerTarget> {
        let node = &self.raw.node;
        if name.is_empty() || name.starts_with('-') {
            let span = node.get("container").map_or(self.raw.key_span, |node| node.span);
            self.wrong(span, "the name of a container is neither empty nor a flag");
        }
        let mut target = ContainerTarget::new(name, command);
        target.ready_within = self.timeout();
        if let Some(engine) = node.get("engine") {
            let line = self.expander.text("engine", engine)?;
            match shlex::split(&line).filter(|words| !words.is_empty()) {
                Some(words) => target.engine = words,
                None => self.wrong(engine.span, "`engine` is no command line"),
            }
        }
        // The engine takes the values of these from its own environment, so that
        // they stand on no command line.
        let known = &self.expander.surroundings.variables;
        let set = passed.iter().filter(|name| known.contains_key(*name));
        target.flags.extend(set.map(|name| format!("--env={name}")));
        Some(target)
    }

    fn address(&mut self, transport: Option<&str>) -> Option<HttpTarget> {
        let node = &self.raw.node;
        let url = node.get("url")?;
        let mut target = HttpTarget::new(self.expander.url("url", url)?);
        if let Err(bad) = target.check_url() {
            self.wrong(url.span, &format!("`url` is not that of a server: {}", bad.reason));
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
            self.wrong(span, &message);
        }
        target.headers = self.pairs("headers", is_header)?;
        target.credentials = self.credentials(node);
        let names = |(name, _): &(String, String)| name.eq_ignore_ascii_case("authorization");
        if target.credentials.is_some() && target.headers.iter().any(names) {
            let span = node.entry("auth").map_or(self.raw.key_span, |entry| entry.key_span);
            self.wrong(span, "say who you are once: `headers` has Authorization too");
        }
        target.proxies = self.expander.surroundings.proxies.clone();
        if let Some(longest) = self.max_output() {
            target.max_message = longest;
        }
        Some(target)
    }

    fn max_output(&mut self) -> Option<usize> {
        let node = self.raw.node.get("max_output")?;
        match size(node.as_str()?) {
            Ok(longest) => Some(longest),
            Err(message) => {
                self.wrong(node.span, &format!("`max_output`: {message}"));
                None
            }
        }
    }

    fn pass_env(&mut self) -> Vec<String> {
        let items = self.raw.node.get("pass_env").map(Node::items).unwrap_or_default();
        for item in items {
            if !item.as_str().is_none_or(is_variable) {
                self.wrong(item.span, "this is no name of a variable");
            }
        }
        items.iter().filter_map(|item| item.as_str().map(str::to_owned)).collect()
    }

    fn list(&mut self, key: &str) -> Option<Vec<String>> {
        let items = self.raw.node.get(key).map(Node::items).unwrap_or_default();
        let mut filled = Vec::new();
        for (at, item) in items.iter().enumerate() {
            filled.push(self.expander.text(&format!("{key}[{at}]"), item));
        }
        filled.into_iter().collect()
    }

    fn pairs(&mut self, key: &str, is_name: fn(&str) -> bool) -> Option<Vec<(String, String)>> {
        let entries = self.raw.node.get(key).map(Node::entries).unwrap_or_default();
        let mut filled = Vec::new();
        for entry in entries {
            if !is_name(&entry.key) {
                self.wrong(entry.key_span, &format!("this is no name in `{key}`"));
            }
            let value = self.expander.text(&format!("{key}.{}", entry.key), &entry.value);
            if value.as_ref().is_some_and(|value| key == "headers" && !is_header_value(value)) {
                let message = format!("`headers.{}` has what no header can have", entry.key);
                self.wrong(entry.value.span, &message);
            }
            filled.push(value.map(|value| (entry.key.clone(), value)));
        }
        filled.into_iter().collect()
    }
}

fn is_variable(name: &str) -> bool {
    !name.is_empty() && !name.contains(['=', '\0'])
}

/// Whether a header can have that name (RFC 9110, 5.6.2).
fn is_header(name: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    !name.is_empty() && name.chars().all(allowed)
}

fn is_header_value(value: &str) -> bool {
    !value.contains(|c: char| c.is_control() && c != '\t')
}
