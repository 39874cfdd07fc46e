//! `spar init`: a suite to begin with. Without a target it passes at once on a
//! mock that is written beside it; with one it is made from what the server has.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Value, json};
use sparring_peer::client::Listing;
use sparring_suite::scaffold::{self, FIRST_MOCK, FIRST_SUITE, Found, SCHEMA, Trial};
use sparring_transport::Target;

use crate::args::Shared;
use crate::configured;
use crate::connect::Session;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Printer, line};

const USAGE: &str = "spar init [OPTIONS] [DIR] [-- <COMMAND>...]\n       spar init [OPTIONS] [DIR] (--url <URL> | --server <NAME>)";

const EXAMPLES: &str = "\
Examples:
  spar init && spar test
  spar init -- npx -y @modelcontextprotocol/server-everything
  spar init tests --url http://127.0.0.1:3001/mcp --bearer \"$TOKEN\"

Files that are there already are never written over. From a server, a tool that
does not say that it only reads (readOnlyHint) is not called: its test is skipped
until somebody has looked at it. Values of --env, --bearer and --header do not get
into the suite; it takes them from the environment.

With --json: {\"files\":[…]}.";

/// How much of a tool's refusal is told.
const LONGEST: usize = 120;

/// Write a first suite, and a mock that it passes on
#[derive(Args)]
#[command(after_help = EXAMPLES, override_usage = USAGE)]
pub(crate) struct Init {
    /// The folder to write to
    #[arg(value_name = "DIR", default_value = ".")]
    folder: PathBuf,

    #[command(flatten)]
    pub(super) shared: Shared,
}

impl Init {
    /// Whether there is a server to make a suite from.
    pub(crate) fn has_target(&self) -> bool {
        self.shared.has_target()
    }

    /// Writes a suite and the mock that it passes on.
    pub(crate) async fn alone(&self, printer: &Printer) -> Result<Exit, Failure> {
        let files = [
            ("first.mock.yaml", FIRST_MOCK.to_owned()),
            ("first.spar.yaml", FIRST_SUITE.to_owned()),
        ];
        let schemas = [
            (".spar/mock.schema.json", sparring_mock::schema()),
            (SCHEMA, sparring_suite::schema()),
        ];
        self.write(&files, &schemas)?;
        self.tell(printer, &files, "first.spar.yaml").await
    }

    /// Writes a suite that is made from what the server has.
    pub(super) async fn run(&self, session: Session<'_>) -> Result<Exit, Failure> {
        let client = &session.client;
        let capabilities = client.capabilities();
        let mut tools: Vec<Trial> = Vec::new();
        if capabilities.has(Listing::Tools.capability()) {
            let listed = client.list(Listing::Tools).await.map_err(Failure::Request)?;
            let listed = listed.iter().filter_map(|tool| tool.view().to::<Value>().ok());
            tools.extend(listed.map(|tool| Trial::of(&tool)));
        }
        for trial in tools.iter_mut().filter(|trial| trial.skip.is_none()) {
            trial.skip = refused(&session, trial).await;
        }
        let other = [("resources", Listing::Resources), ("prompts", Listing::Prompts)];
        let lists: Vec<&'static str> = other
            .into_iter()
            .filter(|(_, listing)| capabilities.has(listing.capability()))
            .map(|(name, _)| name)
            .collect();
        let info = client.session().and_then(|session| session.server_info.as_ref());
        let name = plain(info.map(|info| &*info.name).unwrap_or_default());
        let target = self.shared.unfilled().unwrap_or(session.target);
        let target = self.placed(target.clone());
        let found = Found {
            server: &name,
            target: &target,
            protocol: self.shared.protocol(),
            tools: &tools,
            lists: &lists,
        };
        let text = configured::with_holes(&scaffold::suite(&found).map_err(Failure::Usage)?);
        let file = format!("{name}.spar.yaml");
        let files = [(&*file, text)];
        self.write(&files, &[(SCHEMA, sparring_suite::schema())])?;
        let called = tools.iter().filter(|trial| trial.skip.is_none()).count();
        let told = format!("{called} of {} tools are called, the others are skipped", tools.len());
        session.printer.note(&told).await;
        self.tell(session.printer, &files, &file).await
    }

    /// A command is run where it was run now, wherever its suite is.
    fn placed(&self, mut target: Target) -> Target {
        if let Target::Child(child) = &mut target
            && self.folder != Path::new(".")
        {
            let here = child.cwd.clone().unwrap_or_default();
            child.cwd = std::path::absolute(here.join(".")).ok();
        }
        target
    }

    /// Writes all files, or none: what is there already is not ours to change.
    /// Schemas are, since nobody else writes them.
    fn write(&self, files: &[(&str, String)], schemas: &[(&str, Value)]) -> Result<(), Failure> {
        for (name, _) in files {
            let path = self.folder.join(name);
            if path.symlink_metadata().is_ok() {
                return Err(Failure::File(format!("{} is there already", self.shown(name))));
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

    /// A file without the `./` that nobody wants to read.
    fn shown(&self, name: &str) -> String {
        let path = self.folder.join(name);
        path.strip_prefix(".").unwrap_or(&path).display().to_string()
    }

    async fn tell(
        &self,
        printer: &Printer,
        files: &[(&str, String)],
        suite: &str,
    ) -> Result<Exit, Failure> {
        let names: Vec<String> = files.iter().map(|(name, _)| self.shown(name)).collect();
        if printer.json() {
            printer.print_json(&json!({"files": names})).await?;
            return Ok(Exit::Good);
        }
        let wrote: String = names.iter().map(|name| format!("wrote {name}\n")).collect();
        let suite = self.shown(suite);
        let suite = shlex::try_quote(&suite).unwrap_or_else(|_| (&*suite).into());
        printer.print(&format!("{wrote}next: spar test {suite}\n")).await?;
        Ok(Exit::Good)
    }
}

/// Why a tool does not take the arguments that were made up for it.
async fn refused(session: &Session<'_>, trial: &Trial) -> Option<String> {
    let answered = session.client.call_tool(&trial.tool, trial.arguments.clone()).await;
    let why = match answered {
        Ok(response) if !response.is_error() => return None,
        Ok(response) => response.content(),
        Err(error) => error.to_string(),
    };
    let why = line::cut(&line::clean(why.lines().next().unwrap_or_default()), LONGEST);
    Some(format!("it does not take these arguments: {why}"))
}

/// A server's name as that of a file.
fn plain(name: &str) -> String {
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
    fn a_servers_name_is_good_for_a_file() {
        for (name, expected) in [
            ("mcp-servers/everything", "everything"),
            ("My Server: 2.0", "My-Server--2-0"),
            ("../..", "server"),
            ("", "server"),
        ] {
            assert_eq!(plain(name), expected, "{name}");
        }
    }
}
