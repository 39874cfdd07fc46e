//! `spar config add`: adds a server to a config file.

use std::path::Path;
use std::time::Duration;

use clap::Args;
use serde_json::{Map, Value, json};
use sparring_host::config::{Change, ConfigLocation, Scope};
use sparring_host::names::sanitize;

use super::config_file::{FileFlags, apply_change};
use crate::args::{OutputFlags, parse_duration, values};
use crate::command_error::CommandError;
use crate::configured_servers;
use crate::environment::Environment;
use crate::exit::Exit;
use crate::output::Printer;

const USAGE: &str = "spar config add [OPTIONS] <NAME> (-- <COMMAND>... | --url <URL>)";

const EXAMPLES: &str = "\
Examples:
  spar config add files -- npx -y @modelcontextprotocol/server-filesystem .
  spar config add api --url https://example.com/mcp --bearer '${TOKEN}'
  spar config add db --env 'PASSWORD=${DB_PASSWORD}' --project -- python db.py

Without --project or --file the server is added to the user's config file. A value
'${NAME}' is read from the environment when the server starts, and is not stored in
the file. With --json: {\"file\":…,\"changed\":…}.";

/// Add a server to a file
#[derive(Args)]
#[command(after_long_help = EXAMPLES, override_usage = USAGE)]
pub(super) struct Add {
    /// The server's name
    name: String,

    /// The server's command and its arguments, after `--`
    #[arg(last = true, value_name = "COMMAND", required_unless_present = "url")]
    command: Vec<String>,

    /// The server's URL
    #[arg(long, value_name = "URL", conflicts_with = "command", help_heading = "Server")]
    url: Option<String>,

    /// The transport: stdio, http or sse
    #[arg(long, value_name = "TRANSPORT", help_heading = "Server")]
    transport: Option<String>,

    /// Set a variable in the command's environment; may be repeated
    #[arg(long, value_name = "NAME=VALUE", conflicts_with = "url", help_heading = "Server")]
    env: Vec<String>,

    /// Pass this environment variable to the command; may be repeated
    #[arg(long, value_name = "NAME", conflicts_with = "url", help_heading = "Server")]
    pass_env: Vec<String>,

    /// Run the command in this directory
    #[arg(long, value_name = "DIR", conflicts_with = "url", help_heading = "Server")]
    cwd: Option<String>,

    /// Run the command in this container
    #[arg(long, value_name = "NAME", conflicts_with = "url", help_heading = "Server")]
    container: Option<String>,

    /// Send this header with every request; may be repeated
    #[arg(long = "header", value_name = "NAME: VALUE", conflicts_with = "command")]
    #[arg(help_heading = "Server")]
    headers: Vec<String>,

    /// Send this bearer token with every request
    #[arg(long, value_name = "TOKEN", conflicts_with = "command", help_heading = "Server")]
    bearer: Option<String>,

    /// Authorize with OAuth: a user logs in with a browser
    #[arg(long, conflicts_with_all = ["command", "bearer"], help_heading = "Server")]
    oauth: bool,

    /// The protocol revision
    #[arg(long, value_name = "REVISION", help_heading = "Server")]
    protocol: Option<String>,

    /// Limit for connecting, and for each request
    #[arg(long, value_name = "TIME", value_parser = parse_duration, help_heading = "Server")]
    timeout: Option<Duration>,

    #[command(flatten)]
    location: FileFlags,

    #[command(flatten)]
    pub(super) output_flags: OutputFlags,
}

impl Add {
    pub(super) async fn run(
        &self,
        printer: &Printer,
        environment: &Environment,
    ) -> Result<Exit, CommandError> {
        let location = self.location.or_user_file(environment)?;
        let entry = self.entry(&location, &environment.current_dir)?;
        self.check_collisions(printer, environment)?;
        let add = Change::Add { name: self.name.clone(), entry };
        let message = format!("added {} to", self.name);
        let exit = apply_change(&location, &add, &message, printer, environment).await?;
        self.warn_about_secrets(&location, printer).await;
        Ok(exit)
    }

    /// Refuses a name whose tools would have the same names as those of another server:
    /// then neither could be used.
    fn check_collisions(
        &self,
        printer: &Printer,
        environment: &Environment,
    ) -> Result<(), CommandError> {
        let config = configured_servers::read_without_asking(environment, printer);
        let same = sanitize(&self.name);
        let is_same = |other: &&String| **other != self.name && sanitize(other) == same;
        match config.servers.keys().find(is_same) {
            None => Ok(()),
            Some(other) => Err(CommandError::Usage(format!(
                "the tools of `{}` would have the same names `mcp__{same}__…` as those of \
                 `{other}`; use another name",
                self.name
            ))),
        }
    }

    fn entry(&self, location: &ConfigLocation, here: &Path) -> Result<Value, CommandError> {
        let mut entry = Map::new();
        let mut set = |key: &str, value: Value| drop(entry.insert(key.to_owned(), value));
        if let Some(transport) = &self.transport {
            set("transport", json!(transport));
        }
        if let Some((program, args)) = self.command.split_first() {
            let is_here = program.contains('/') && self.container.is_none();
            let program =
                if is_here { path_in_file(location, here, program) } else { program.clone() };
            set("command", json!(program));
            if !args.is_empty() {
                set("args", json!(args));
            }
        }
        if let Some(url) = &self.url {
            set("url", json!(url));
        }
        if !self.env.is_empty() {
            set("env", Value::Object(self.variables()?));
        }
        if !self.pass_env.is_empty() {
            set("pass_env", json!(self.pass_env));
        }
        match (&self.cwd, &self.container) {
            (Some(cwd), Some(_)) => set("cwd", json!(cwd)),
            (Some(cwd), None) => set("cwd", json!(path_in_file(location, here, cwd))),
            (None, _) => {}
        }
        if let Some(container) = &self.container {
            set("container", json!(container));
        }
        if !self.headers.is_empty() {
            set("headers", Value::Object(self.headers()?));
        }
        if let Some(token) = &self.bearer {
            set("auth", json!({"bearer": token}));
        }
        if self.oauth {
            set("auth", json!({"oauth": true}));
        }
        if let Some(protocol) = &self.protocol {
            set("protocol", json!(protocol));
        }
        if let Some(timeout) = self.timeout {
            let milliseconds = timeout.as_millis();
            let shown = match milliseconds % 1_000 {
                0 => format!("{}s", milliseconds / 1_000),
                _ => format!("{milliseconds}ms"),
            };
            set("settings", json!({"timeout": shown}));
        }
        Ok(Value::Object(entry))
    }

    fn variables(&self) -> Result<Map<String, Value>, CommandError> {
        let variable = |text: &String| {
            let wrong = || CommandError::Usage("--env: expected NAME=VALUE".into());
            let (name, value) = values::parse_variable(text).ok_or_else(wrong)?;
            Ok((name, Value::from(value)))
        };
        self.env.iter().map(variable).collect()
    }

    fn headers(&self) -> Result<Map<String, Value>, CommandError> {
        let header = |text: &String| {
            let wrong = "--header: expected 'NAME: VALUE'";
            let (name, value) =
                text.split_once(':').ok_or_else(|| CommandError::Usage(wrong.to_owned()))?;
            Ok((name.trim().to_owned(), Value::from(value.trim())))
        };
        self.headers.iter().map(header).collect()
    }

    /// Warns about a secret in a project's file, which everyone with the project can
    /// read.
    async fn warn_about_secrets(&self, location: &ConfigLocation, printer: &Printer) {
        let is_literal = |text: &String| !text.contains("${");
        let is_secret = |text: &&String| text.to_lowercase().starts_with("authorization:");
        let headers = self.headers.iter().filter(is_secret);
        let mut secrets = self.bearer.iter().chain(headers);
        if location.scope == Scope::Project && secrets.any(is_literal) {
            let note = "the token is stored in the project's file; '${NAME}' reads it from the \
                        environment";
            printer.note(note).await;
        }
    }
}

/// Returns a path from the command line as the file has to contain it: relative inside
/// the file's project, absolute otherwise.
fn path_in_file(location: &ConfigLocation, here: &Path, typed: &str) -> String {
    if typed.starts_with('~') || typed.contains("${") {
        return typed.to_owned();
    }
    let full = std::path::absolute(here.join(typed)).unwrap_or_else(|_| here.join(typed));
    let folder = location.folder.as_deref().filter(|_| location.scope == Scope::Project);
    let below = folder.and_then(|folder| full.strip_prefix(folder).ok());
    match below {
        Some(below) => Path::new(".").join(below).display().to_string(),
        None => full.display().to_string(),
    }
}
