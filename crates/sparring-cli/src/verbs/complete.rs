//! `spar complete`: completes an argument of a prompt or a resource template.

use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use sparring_peer::client::Error;
use sparring_wire::RawJson;
use sparring_wire::types::Completion;

use crate::args::TargetFlags;
use crate::args::values::{self, KeyValue};
use crate::command_error::CommandError;
use crate::connection::Connection;
use crate::exit::Exit;

const METHOD: &str = "completion/complete";

const USAGE: &str = "spar complete [OPTIONS] <prompt|template> <NAME> <ARGUMENT> <VALUE> [KEY=VALUE]... (-- <COMMAND>... | --url <URL> | --unix <PATH> | --server <NAME>)";

const EXAMPLES: &str = "\
Examples:
  spar complete prompt greeting tone fo -- python server.py
  spar complete template 'file:///{path}' path src/ --url http://127.0.0.1:3001/mcp
  spar complete prompt review framework '' language=python --json --unix /tmp/server.sock";

/// Complete an argument of a prompt or of a resource template
#[derive(Args)]
#[command(after_long_help = EXAMPLES, override_usage = USAGE)]
pub(crate) struct Complete {
    /// The kind of the reference
    #[arg(value_name = "KIND")]
    kind: ReferenceKind,

    /// The prompt's name, or the template's URI
    name: String,

    /// The argument's name
    argument: String,

    /// The beginning of its value
    value: String,

    /// Arguments that already have a value
    #[arg(value_name = "KEY=VALUE", value_parser = values::parse_key_string)]
    context: Vec<KeyValue>,

    #[command(flatten)]
    pub(super) flags: TargetFlags,
}

/// The kind of a completion reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ReferenceKind {
    Prompt,
    Template,
}

impl Complete {
    pub(super) async fn run(&self, connection: &Connection<'_>) -> Result<Exit, CommandError> {
        let response = connection.client.request(METHOD, Some(self.params()?));
        let response = response.await.map_err(CommandError::Request)?;
        let result: Value = response.to().map_err(CommandError::Request)?;
        let completion = result.get("completion").cloned().unwrap_or_default();
        let completion: Completion = serde_json::from_value(completion).map_err(|error| {
            let reason = format!("completion: {error}");
            CommandError::Request(Error::InvalidResult { method: METHOD.to_owned(), reason })
        })?;
        let printer = connection.printer;
        if printer.is_json() {
            printer.print_result(&response).await?;
            return Ok(Exit::Success);
        }
        let shown = |value: &String| format!("{}\n", printer.paint().untrusted(value));
        printer.print_rendered(&completion.values.iter().map(shown).collect::<String>()).await?;
        let count = completion.values.len() as u64;
        let note = match completion.total {
            Some(total) if total > count => format!("{count} of {total} values"),
            _ if completion.has_more == Some(true) => "more values exist".to_owned(),
            _ if count == 0 => "no completions".to_owned(),
            _ => return Ok(Exit::Success),
        };
        printer.note(&note).await;
        Ok(Exit::Success)
    }

    fn params(&self) -> Result<RawJson, CommandError> {
        let reference = match self.kind {
            ReferenceKind::Prompt => json!({"type": "ref/prompt", "name": self.name}),
            ReferenceKind::Template => json!({"type": "ref/resource", "uri": self.name}),
        };
        let argument = json!({"name": self.argument, "value": self.value});
        let params = RawJson::from(json!({"ref": reference, "argument": argument}));
        if self.context.is_empty() {
            return Ok(params);
        }
        // Since 2025-06-18, server/utilities/completion#requesting-completions.
        let arguments = values::build_object(&self.context, None)?;
        let context = RawJson::empty_object().with_member("arguments", arguments.view());
        Ok(params.with_member("context", context.view()))
    }
}
