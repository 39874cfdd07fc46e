//! `spar init`: writes a first suite. Without a target it also writes a mock that the
//! suite passes on; with one, it derives the suite from the server.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Value, json};
use sparring_peer::client::ListKind;
use sparring_suite::scaffold::{self, FIRST_MOCK, FIRST_SUITE, SCHEMA, SampleCall, ServerFacts};
use sparring_transport::Target;

use crate::args::TargetFlags;
use crate::configured_servers;
use crate::connection::Connection;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Printer, line};

const USAGE: &str = "spar init [OPTIONS] [DIR] [-- <COMMAND>...]\n       spar init [OPTIONS] [DIR] (--url <URL> | --server <NAME>)";

const EXAMPLES: &str = "\
Examples:
  spar init && spar test
  spar init -- npx -y @modelcontextprotocol/server-everything
  spar init tests --url http://127.0.0.1:3001/mcp --bearer \"$TOKEN\"

Existing files are not overwritten. Tools of a server without readOnlyHint are not
called: their tests are skipped until you review them. The suite does not contain
values of --env, --bearer and --header; it reads them from the environment.

With --json: {\"files\":[…]}.";

/// Maximum length of a tool's error in the suite.
const MAX_REASON_COLUMNS: usize = 120;

/// Write a first suite, and a mock that it passes on
#[derive(Args)]
#[command(after_help = EXAMPLES, override_usage = USAGE)]
pub(crate) struct Init {
    /// The folder to write to
    #[arg(value_name = "DIR", default_value = ".")]
    folder: PathBuf,

    #[command(flatten)]
    pub(super) flags: TargetFlags,
}

impl Init {
    /// Returns true if a target is given.
    pub(crate) fn has_target(&self) -> bool {
        self.flags.has_target()
    }

    /// Writes a suite and the mock that it passes on.
    pub(crate) async fn write_example(&self, printer: &Printer) -> Result<Exit, Failure> {
        let files = [
            ("first.mock.yaml", FIRST_MOCK.to_owned()),
            ("first.spar.yaml", FIRST_SUITE.to_owned()),
        ];
        let schemas = [
            (".spar/mock.schema.json", sparring_mock::schema()),
            (SCHEMA, sparring_suite::schema()),
        ];
        self.write(&files, &schemas)?;
        self.print_written(printer, &files, "first.spar.yaml").await
    }

    /// Writes a suite derived from the server.
    pub(super) async fn run(&self, connection: &Connection<'_>) -> Result<Exit, Failure> {
        let client = &connection.client;
        let capabilities = client.capabilities();
        let mut tools: Vec<SampleCall> = Vec::new();
        if capabilities.has(ListKind::Tools.capability()) {
            let listed = client.list(ListKind::Tools).await.map_err(Failure::Request)?;
            let listed = listed.iter().filter_map(|tool| tool.view().deserialize::<Value>().ok());
            tools.extend(listed.map(|tool| SampleCall::from_tool(&tool)));
        }
        for trial in tools.iter_mut().filter(|trial| trial.skip.is_none()) {
            trial.skip = try_tool(connection, trial).await;
        }
        let other = [("resources", ListKind::Resources), ("prompts", ListKind::Prompts)];
        let lists: Vec<&'static str> = other
            .into_iter()
            .filter(|(_, listing)| capabilities.has(listing.capability()))
            .map(|(name, _)| name)
            .collect();
        let info = client.session().and_then(|session| session.server_info.as_ref());
        let name = to_file_name(info.map(|info| &*info.name).unwrap_or_default());
        let target = self.flags.target_template().unwrap_or(&connection.target);
        let target = self.with_absolute_cwd(target.clone());
        let found = ServerFacts {
            server: &name,
            target: &target,
            protocol: self.flags.revision(),
            tools: &tools,
            lists: &lists,
        };
        let text = configured_servers::restore_variables(
            &scaffold::suite(&found).map_err(Failure::Usage)?,
        );
        let file = format!("{name}.spar.yaml");
        let files = [(&*file, text)];
        self.write(&files, &[(SCHEMA, sparring_suite::schema())])?;
        let called = tools.iter().filter(|trial| trial.skip.is_none()).count();
        let note =
            format!("the suite calls {called} of {} tools and skips the others", tools.len());
        connection.printer.note(&note).await;
        self.print_written(connection.printer, &files, &file).await
    }

    /// Makes the command's working directory absolute, so that it does not depend on the
    /// suite's folder.
    fn with_absolute_cwd(&self, mut target: Target) -> Target {
        if let Target::Child(child) = &mut target
            && self.folder != Path::new(".")
        {
            let here = child.cwd.clone().unwrap_or_default();
            child.cwd = std::path::absolute(here.join(".")).ok();
        }
        target
    }

    /// Writes all files or none. Existing files are not overwritten, except schemas,
    /// which only this verb writes.
    fn write(&self, files: &[(&str, String)], schemas: &[(&str, Value)]) -> Result<(), Failure> {
        for (name, _) in files {
            let path = self.folder.join(name);
            if path.symlink_metadata().is_ok() {
                return Err(Failure::File(format!("{} already exists", self.display_path(name))));
            }
        }
        let schemas = schemas.iter().map(|(name, schema)| (*name, format!("{schema:#}\n")));
        let files = files.iter().map(|(name, text)| (*name, text.clone()));
        for (name, text) in schemas.chain(files) {
            let path = self.folder.join(name);
            let folder = path.parent().map_or(Ok(()), std::fs::create_dir_all);
            folder.and_then(|()| std::fs::write(&path, text)).map_err(|error| {
                Failure::File(format!("cannot write {}: {error}", path.display()))
            })?;
        }
        Ok(())
    }

    /// Returns the path without `./`.
    fn display_path(&self, name: &str) -> String {
        let path = self.folder.join(name);
        path.strip_prefix(".").unwrap_or(&path).display().to_string()
    }

    async fn print_written(
        &self,
        printer: &Printer,
        files: &[(&str, String)],
        suite: &str,
    ) -> Result<Exit, Failure> {
        let names: Vec<String> = files.iter().map(|(name, _)| self.display_path(name)).collect();
        if printer.is_json() {
            printer.print_json(&json!({"files": names})).await?;
            return Ok(Exit::Success);
        }
        let wrote: String = names.iter().map(|name| format!("wrote {name}\n")).collect();
        let suite = self.display_path(suite);
        let suite = shlex::try_quote(&suite).unwrap_or_else(|_| (&*suite).into());
        printer.print(&format!("{wrote}next: spar test {suite}\n")).await?;
        Ok(Exit::Success)
    }
}

/// Calls a tool with generated arguments, and returns the reason if it fails.
async fn try_tool(connection: &Connection<'_>, trial: &SampleCall) -> Option<String> {
    let answered = connection.client.call_tool(&trial.tool, trial.arguments.clone()).await;
    let why = match answered {
        Ok(response) if !response.is_error() => return None,
        Ok(response) => response.content(),
        Err(error) => error.to_string(),
    };
    let why =
        line::truncate(&line::clean(why.lines().next().unwrap_or_default()), MAX_REASON_COLUMNS);
    Some(format!("the tool rejects these arguments: {why}"))
}

/// Returns a file name for a server's name.
fn to_file_name(name: &str) -> String {
    let last = name.rsplit('/').next().unwrap_or_default();
    let plain = last.replace(|c: char| !(c.is_ascii_alphanumeric() || c == '_'), "-");
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
        ] {
            assert_eq!(to_file_name(name), expected, "{name}");
        }
    }
}
