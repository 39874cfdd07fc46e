//! `spar init`: writes a first suite. Without a target it also writes a mock that the
//! suite passes on; with one, it derives the suite from the server and runs it.

mod probe;
mod suite_paths;
mod written_suite;

use std::path::PathBuf;
use std::sync::OnceLock;

use clap::Args;
use serde_json::{Map, Value, json};
use sparring_peer::ClientBuilder;
use sparring_peer::client::ServerRequest;
use sparring_suite::scaffold::{
    self, FIRST_MOCK, FIRST_SUITE, ListedItems, SCHEMA, ServerFacts, Trial, TrialOutcome,
};
use sparring_transport::Target;

use crate::args::TargetFlags;
use crate::command_error::CommandError;
use crate::configured_servers;
use crate::connection::Connection;
use crate::environment::Environment;
use crate::exit::Exit;
use crate::output::Printer;
use crate::signals::Signals;
use probe::{
    GivenAnswers, Probe, QUESTIONS, add_capabilities, capabilities, declared_capabilities,
};
use written_suite::WrittenSuite;

const USAGE: &str = "spar init [OPTIONS] [DIR] [-- <COMMAND>...]\n       spar init [OPTIONS] [DIR] (--url <URL> | --server <NAME>)";

const EXAMPLES: &str = "\
Examples:
  spar init && spar test
  spar init -- npx -y @modelcontextprotocol/server-everything
  spar init tests --url http://127.0.0.1:3001/mcp --bearer \"$TOKEN\"

For a server, init calls the tools with readOnlyHint, gets the prompts and reads
resources, and writes a test for each: with the answers that the server asked for, and
with the error if it returned one. Then it runs the suite. Tests of other tools are
skipped until you review them; --all-tools calls these tools too. The suite does not
contain values of --env, --bearer and --header; it reads them from the environment.

With --json: {\"files\":[…]}.

Exit codes:
  0    the files are written, and the tests passed
  1    the files are written, and a test failed
  2    wrong arguments, or a file exists already (see --force)
  3    the server could not be used";

/// The maximum length of a file name without its ending.
const MAX_NAME_BYTES: usize = 100;

/// The maximum number of resources that a suite reads.
const MAX_READ_RESOURCES: usize = 10;

/// Write a first suite, and a mock that it passes on
#[derive(Args)]
#[command(after_long_help = EXAMPLES, override_usage = USAGE)]
pub(crate) struct Init {
    /// The folder to write to
    #[arg(value_name = "DIR", default_value = ".")]
    folder: PathBuf,

    /// Overwrite existing files
    #[arg(long)]
    force: bool,

    /// Also call tools that do not declare themselves read-only; they may change something
    #[arg(long)]
    all_tools: bool,

    #[command(flatten)]
    pub(super) flags: TargetFlags,

    /// The answers that the client gave during trials.
    #[arg(skip)]
    answers: GivenAnswers,

    /// The suite of the server.
    #[arg(skip)]
    written: OnceLock<WrittenSuite>,
}

impl Init {
    /// Returns true if a target is given.
    pub(crate) fn has_target(&self) -> bool {
        self.flags.has_target()
    }

    /// Makes the client answer the requests of the server.
    pub(super) fn configure(&self, builder: ClientBuilder) -> ClientBuilder {
        let revision = self.flags.revision();
        self.answers.register(builder, declared_capabilities(revision), revision)
    }

    /// Writes a suite and the mock that it passes on.
    pub(crate) async fn write_example(&self, printer: &Printer) -> Result<Exit, CommandError> {
        let files = [
            ("first.mock.yaml", FIRST_MOCK.to_owned()),
            ("first.spar.yaml", FIRST_SUITE.to_owned()),
        ];
        let schemas = [
            (".spar/mock.schema.json", sparring_mock::schema()),
            (SCHEMA, sparring_suite::schema()),
        ];
        self.check_new(&files.each_ref().map(|(name, _)| *name))?;
        self.write(&files, &schemas)?;
        let names = files.map(|(name, _)| self.display_path(name));
        if printer.is_json() {
            printer.print_json(&json!({"files": names})).await?;
            return Ok(Exit::Success);
        }
        let wrote: String = names.iter().map(|name| format!("wrote {name}\n")).collect();
        let next = written_suite::next_line(&names[1], &[]);
        printer.print(&format!("{wrote}{next}")).await?;
        Ok(Exit::Success)
    }

    /// Writes a suite derived from the server. [`Init::run_written_suite`] runs it, when
    /// this connection is closed.
    pub(super) async fn run(&self, connection: &Connection<'_>) -> Result<Exit, CommandError> {
        let info = connection.client.session().and_then(|session| session.server_info.as_ref());
        let name = to_file_name(info.map(|info| &*info.name).unwrap_or_default());
        let file = format!("{name}.spar.yaml");
        self.check_new(&[&file])?;
        let target = self.suite_target(&connection.target);
        scaffold::check_target(&target).map_err(CommandError::Usage)?;
        let variables = scaffold::variables(&connection.target);
        let secrets = connection.printer.secrets().clone();
        variables.iter().for_each(|(_, value)| secrets.add(value));
        let mut probe = Probe {
            target: &connection.target,
            flags: &self.flags,
            answers: &self.answers,
            secrets,
            client: connection.client.clone(),
            container: None,
            required: Map::new(),
        };
        let (lists, trials, capabilities) = self.examine(&mut probe, connection.printer).await?;
        probe.client.close().await;
        let found = ServerFacts {
            server: &name,
            target: &target,
            protocol: self.flags.revision(),
            revision: probe.client.revision(),
            timeout: self.flags.connection.own_timeout(),
            capabilities: &capabilities,
            lists: &lists,
            trials: &trials,
        };
        let text = configured_servers::restore_variables(
            &scaffold::suite(&found).map_err(CommandError::Usage)?,
        );
        let text = probe.secrets.mask(&text).into_owned();
        self.write(&[(&*file, text.clone())], &[(SCHEMA, sparring_suite::schema())])?;
        let path = self.display_path(&file);
        let _ = self.written.set(WrittenSuite { path, text, variables });
        Ok(Exit::Success)
    }

    /// Runs the suite that [`Init::run`] wrote.
    pub(super) async fn run_written_suite(
        &self,
        printer: &Printer,
        environment: &Environment,
        signals: Signals,
    ) -> Result<Exit, CommandError> {
        match self.written.get() {
            Some(written) => written.run(printer, environment, signals).await,
            None => Ok(Exit::Success),
        }
    }

    /// Lists everything, tries requests, and lists everything again as the suite will.
    /// Returns the lists, the trials, and the capabilities that the suite must declare.
    async fn examine(
        &self,
        probe: &mut Probe<'_>,
        printer: &Printer,
    ) -> Result<(Vec<ListedItems>, Vec<Trial>, Map<String, Value>), CommandError> {
        let mut lists = probe.lists().await?;
        let of = |list: &str| {
            lists.iter().find(|it| it.list == list).map(|it| &*it.items).unwrap_or_default()
        };
        let tools = of("tools").iter().map(|tool| {
            let mut trial = Trial::from_tool(tool, self.all_tools);
            if let Some((_, rule)) = self.flags.denying_rule(&trial.name) {
                trial.outcome = TrialOutcome::Skipped(format!("denied by rule {rule}"));
            }
            trial
        });
        let prompts = of("prompts").iter().map(Trial::from_prompt);
        let resources = of("resources").iter().take(MAX_READ_RESOURCES).map(Trial::from_resource);
        let mut trials: Vec<Trial> = tools.chain(prompts).chain(resources).collect();
        let (tools, resources) = (of("tools").len(), of("resources").len());
        for trial in &mut trials {
            probe.run(trial).await?;
        }
        self.print_notes(printer, &trials[..tools], resources).await;
        let answered = QUESTIONS
            .into_iter()
            .filter(|kind| trials.iter().any(|it| it.answers.iter().any(|(it, _)| it == kind)));
        let needed = capabilities(answered.filter_map(ServerRequest::capability));
        probe.reopen(needed.clone()).await?;
        let again = probe.lists().await?;
        let names = |lists: &[ListedItems]| -> Vec<Value> {
            let tools = lists.iter().filter(|it| it.list == "tools").flat_map(|it| &it.items);
            tools.map(|tool| tool["name"].clone()).collect()
        };
        // Some servers offer a tool only to clients with a capability.
        let same_tools = names(&lists) == names(&again);
        let mut declared = match same_tools {
            true if probe.required.is_empty() => Map::new(),
            true => needed,
            false => {
                let mut declared = declared_capabilities(self.flags.revision());
                add_capabilities(&mut declared, &needed);
                declared
            }
        };
        add_capabilities(&mut declared, &probe.required);
        if same_tools {
            lists = keep_common(lists, &again);
        }
        Ok((lists, trials, declared))
    }

    /// Prints how many tools and resources the suite leaves out.
    async fn print_notes(&self, printer: &Printer, tools: &[Trial], resources: usize) {
        let called = tools.iter().filter(|trial| !trial.is_skipped()).count();
        if called < tools.len() {
            let way_on = match tools.iter().any(Trial::may_change) {
                true => "; --all-tools calls tools without readOnlyHint too",
                false => "",
            };
            let calls = match (called, tools.len()) {
                (0, 1) => "skips the only tool".to_owned(),
                (0, all) => format!("skips all {all} tools"),
                (called, all) => {
                    let others = if called + 1 == all { "other" } else { "others" };
                    format!("calls {called} of {all} tools and skips the {others}")
                }
            };
            printer.note(&format!("the suite {calls}{way_on}")).await;
        }
        if resources > MAX_READ_RESOURCES {
            let note = format!("the suite reads {MAX_READ_RESOURCES} of {resources} resources");
            printer.note(&note).await;
        }
    }

    /// The target with paths relative to the suite, and with variables instead of values.
    fn suite_target(&self, resolved: &Target) -> Target {
        let mut target = self.flags.target_template().unwrap_or(resolved).clone();
        if let (Target::Child(command), Target::Child(resolved)) = (&mut target, resolved) {
            suite_paths::make_relative(command, resolved, &self.folder);
        }
        target
    }

    /// Refuses a folder that is a file, and to overwrite files, unless `--force` is given.
    fn check_new(&self, names: &[&str]) -> Result<(), CommandError> {
        if let Some(file) = self.folder.ancestors().find(|it| it.is_file()) {
            let message = format!("{} is a file, not a folder", file.display());
            return Err(CommandError::File(message));
        }
        let exists = |name: &&&str| self.folder.join(name).symlink_metadata().is_ok();
        let existing: Vec<String> =
            names.iter().filter(exists).map(|name| self.display_path(name)).collect();
        match &existing[..] {
            _ if self.force => Ok(()),
            [] => Ok(()),
            [file] => Err(CommandError::File(format!(
                "{file} already exists; use --force to overwrite it"
            ))),
            files => Err(CommandError::File(format!(
                "{} already exist; use --force to overwrite them",
                files.join(" and ")
            ))),
        }
    }

    /// Writes the files and the schemas, which only this verb writes.
    fn write(
        &self,
        files: &[(&str, String)],
        schemas: &[(&str, Value)],
    ) -> Result<(), CommandError> {
        let schemas = schemas.iter().map(|(name, schema)| (*name, format!("{schema:#}\n")));
        let files = files.iter().map(|(name, text)| (*name, text.clone()));
        for (name, text) in schemas.chain(files) {
            let path = self.folder.join(name);
            let folder = path.parent().map_or(Ok(()), std::fs::create_dir_all);
            folder.and_then(|()| std::fs::write(&path, text)).map_err(|error| {
                CommandError::File(format!("cannot write {}: {error}", path.display()))
            })?;
        }
        Ok(())
    }

    /// Returns the path without `./`.
    fn display_path(&self, name: &str) -> String {
        let path = self.folder.join(name);
        path.strip_prefix(".").unwrap_or(&path).display().to_string()
    }
}

/// Keeps the items that a second connection lists too. Others may be different in each
/// process.
fn keep_common(mut lists: Vec<ListedItems>, again: &[ListedItems]) -> Vec<ListedItems> {
    for list in &mut lists {
        let second = again.iter().find(|it| it.list == list.list).map(|it| &*it.items);
        let identity = |item: &Value| {
            ["uri", "uriTemplate", "name"]
                .map(|key| item[key].clone())
                .into_iter()
                .find(|it| it.is_string())
        };
        let second = second.unwrap_or_default();
        list.items.retain(|item| second.iter().any(|it| identity(it) == identity(item)));
    }
    lists
}

/// Returns a file name for a server's name.
fn to_file_name(name: &str) -> String {
    let last = name.rsplit('/').next().unwrap_or_default();
    let mut plain = last.replace(|c: char| !(c.is_ascii_alphanumeric() || c == '_'), "-");
    plain.truncate(MAX_NAME_BYTES);
    match plain.trim_matches('-') {
        "" => "server".to_owned(),
        plain => plain.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derives_a_file_name_from_the_servers_name() {
        for (name, expected) in [
            ("mcp-servers/everything", "everything"),
            ("My Server: 2.0", "My-Server--2-0"),
            ("../..", "server"),
            ("", "server"),
            (&"x".repeat(300), &"x".repeat(100)),
        ] {
            assert_eq!(to_file_name(name), expected, "{name}");
        }
    }

    #[test]
    fn leaves_out_items_that_only_one_process_lists() {
        let list = |uris: &[&str]| {
            let items = uris.iter().map(|uri| json!({"name": "log", "uri": uri})).collect();
            vec![ListedItems { list: "resources", items }]
        };
        let common = keep_common(list(&["a:1", "a:log-17"]), &list(&["a:1", "a:log-18"]));
        assert_eq!(common, list(&["a:1"]));
    }
}
