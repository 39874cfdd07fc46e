//! `spar config check`: reports all problems of the config files.

use clap::Args;
use serde_json::{Value, json};
use sparring_host::config::{Config, ConfiguredServer, EntryState, FileProblem, Rules};
use sparring_host::permissions::Permissions;
use sparring_script::Problems;

use super::list::state_name;
use crate::args::OutputFlags;
use crate::command_error::CommandError;
use crate::configured_servers;
use crate::environment::Environment;
use crate::exit::Exit;
use crate::output::{Printer, line};

const EXAMPLES: &str = "\
Examples:
  spar config check
  spar config check --json

Exits with 2 if there are problems. Starts no server and asks for no inputs.

With --json: {\"files\":[{\"file\":…,\"trusted\":…,\"servers\":[{\"name\":…,\"state\":…}]}],
\"problems\":[{\"file\":…,\"line\":…,\"column\":…,\"message\":…,\"help\":…}],\"notes\":[…]}.";

/// Report all problems of the config files
#[derive(Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Check {
    #[command(flatten)]
    pub(super) output_flags: OutputFlags,
}

impl Check {
    pub(super) async fn run(
        &self,
        printer: &Printer,
        environment: &Environment,
    ) -> Result<Exit, CommandError> {
        let mut config = configured_servers::read_without_asking(environment, printer);
        let (_, findings) = Permissions::from_config(&config, Rules::default());
        for (rule, error) in findings.errors {
            let problems_of_rule =
                config.pattern_problems(rule.entry.as_deref(), &rule.pattern, &error.to_string());
            config.faults.extend(problems_of_rule.into_iter().map(FileProblem::Invalid));
        }
        config.notes.extend(findings.notes);
        let exit = if config.is_valid() { Exit::Success } else { Exit::Usage };
        if printer.is_json() {
            printer.print_json(&to_json(&config)).await?;
            return Ok(exit);
        }
        for fault in &config.faults {
            if let FileProblem::Unreadable { .. } = fault {
                printer.print_error(&CommandError::File(fault.to_string())).await;
            }
        }
        let problems: Vec<Problems> = all_problems(&config).cloned().collect();
        if !problems.is_empty() {
            printer.print_error(&CommandError::Script(problems)).await;
        }
        for note in &config.notes {
            printer.note(note).await;
        }
        printer.print(&render_summary(&config)).await?;
        if config.files.iter().all(|file| !file.is_there) {
            let looked: Vec<String> =
                config.files.iter().map(|file| file.location.file.display().to_string()).collect();
            printer.note(&format!("no config file found; looked for {}", looked.join(", "))).await;
        }
        Ok(exit)
    }
}

/// Renders a line for each file that could be read, with its servers.
fn render_summary(config: &Config) -> String {
    let mut text = String::new();
    for file in config.files.iter().filter(|file| file.is_there) {
        let servers: Vec<String> = servers_of_file(config, &file.location.file)
            .map(|(name, it)| format!("{} ({})", line::clean(name), state_name(it)))
            .collect();
        let path = file.location.file.display().to_string();
        match servers.is_empty() {
            false => text += &format!("{path}: {}\n", servers.join(", ")),
            // Its problems were printed.
            true if config
                .faults
                .iter()
                .any(|fault| configured_servers::fault_file(fault) == path) => {}
            true => text += &format!("{path}: no servers\n"),
        }
    }
    text
}

fn servers_of_file<'a>(
    config: &'a Config,
    file: &'a std::path::Path,
) -> impl Iterator<Item = (&'a String, &'a ConfiguredServer)> {
    config.servers.iter().filter(move |(_, it)| it.origin.file == file)
}

fn all_problems(config: &Config) -> impl Iterator<Item = &Problems> {
    let of_files = config.faults.iter().filter_map(|fault| match fault {
        FileProblem::Invalid(problems) => Some(problems),
        FileProblem::Unreadable { .. } => None,
    });
    let of_servers = config.servers.values().filter_map(|it| match &it.state {
        EntryState::Invalid(problems) => Some(problems),
        _ => None,
    });
    of_files.chain(of_servers)
}

fn to_json(config: &Config) -> Value {
    let files = config.files.iter().filter(|file| file.is_there).map(|file| {
        let servers = servers_of_file(config, &file.location.file);
        let servers: Vec<Value> =
            servers.map(|(name, it)| json!({"name": name, "state": state_name(it)})).collect();
        let path = file.location.file.display().to_string();
        json!({"file": path, "trusted": file.is_trusted, "servers": servers})
    });
    let unreadable = config.faults.iter().filter_map(|fault| match fault {
        FileProblem::Unreadable { file, why } => {
            Some(json!({"file": file.display().to_string(), "message": why}))
        }
        FileProblem::Invalid(_) => None,
    });
    let wrong = all_problems(config).flat_map(|problems| {
        problems.iter().map(|problem| {
            let position = problems.source().position(problem.span.start);
            json!({
                "file": problems.source().name(),
                "line": position.line,
                "column": position.column,
                "message": problem.message,
                "help": problem.help,
            })
        })
    });
    json!({
        "files": files.collect::<Vec<_>>(),
        "problems": unreadable.chain(wrong).collect::<Vec<_>>(),
        "notes": config.notes,
    })
}
