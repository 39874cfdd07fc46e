//! `spar complete`: asks what an argument of a prompt or a template may become.

use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use sparring_peer::client::Error;
use sparring_wire::RawJson;
use sparring_wire::types::Completion;

use crate::args::Shared;
use crate::args::pair::{self, Pair};
use crate::connect::Session;
use crate::exit::Exit;
use crate::failure::Failure;

const METHOD: &str = "completion/complete";

const USAGE: &str = "spar complete [OPTIONS] <prompt|template> <NAME> <ARGUMENT> <VALUE> [KEY=VALUE]... (-- <COMMAND>... | --url <URL> | --unix <PATH> | --server <NAME>)";

const EXAMPLES: &str = "\
Examples:
  spar complete prompt greeting tone fo -- python server.py
  spar complete template 'file:///{path}' path src/ --url http://127.0.0.1:3001/mcp
  spar complete prompt review framework '' language=python --json --unix /tmp/server.sock";

/// Complete an argument of a prompt or of a resource template
#[derive(Args)]
#[command(after_help = EXAMPLES, override_usage = USAGE)]
pub(crate) struct Complete {
    /// What the argument belongs to
    #[arg(value_name = "WHAT")]
    kind: Kind,

    /// The prompt's name, or the template's URI
    name: String,

    /// The argument's name
    argument: String,

    /// What of its value is there already
    value: String,

    /// Arguments that have their value already
    #[arg(value_name = "KEY=VALUE", value_parser = pair::string)]
    context: Vec<Pair>,

    #[command(flatten)]
    pub(super) shared: Shared,
}

/// What has arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    Prompt,
    Template,
}

impl Complete {
    pub(super) async fn run(&self, session: Session<'_>) -> Result<Exit, Failure> {
        let response = session.client.request(METHOD, Some(self.params()));
        let response = response.await.map_err(Failure::Request)?;
        let result: Value = response.to().map_err(Failure::Request)?;
        let completion = result.get("completion").cloned().unwrap_or_default();
        let completion: Completion = serde_json::from_value(completion).map_err(|error| {
            let reason = format!("completion: {error}");
            Failure::Request(Error::Unusable { method: METHOD.to_owned(), reason })
        })?;
        let printer = session.printer;
        if printer.json() {
            printer.print_result(&response).await?;
            return Ok(Exit::Good);
        }
        let shown = |value: &String| format!("{}\n", printer.paint().foreign(value));
        printer.print(&completion.values.iter().map(shown).collect::<String>()).await?;
        let count = completion.values.len() as u64;
        let note = match completion.total {
            Some(total) if total > count => format!("{count} of {total} values"),
            _ if completion.has_more == Some(true) => "there are more values".to_owned(),
            _ if count == 0 => "there is nothing to complete it with".to_owned(),
            _ => return Ok(Exit::Good),
        };
        printer.note(&note).await;
        Ok(Exit::Good)
    }

    fn params(&self) -> RawJson {
        let reference = match self.kind {
            Kind::Prompt => json!({"type": "ref/prompt", "name": self.name}),
            Kind::Template => json!({"type": "ref/resource", "uri": self.name}),
        };
        let argument = json!({"name": self.argument, "value": self.value});
        let params = RawJson::from(json!({"ref": reference, "argument": argument}));
        if self.context.is_empty() {
            return params;
        }
        // Since 2025-06-18, server/utilities/completion#requesting-completions.
        let arguments = pair::object(&self.context, None);
        let context = RawJson::empty_object().with_member("arguments", arguments.view());
        params.with_member("context", context.view())
    }
}
