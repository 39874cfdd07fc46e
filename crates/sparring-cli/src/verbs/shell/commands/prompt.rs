//! `/mcp prompt`: gets a prompt.

use serde_json::json;
use sparring_wire::RawJson;
use sparring_wire::types::GetPromptResult;

use super::super::super::prompt::show;
use super::super::command::{Argument, Command, Tells, good};
use super::super::desk::Desk;
use super::call::pairs;
use crate::args::pair;
use crate::failure::Failure;

pub(super) const COMMAND: Command = Command {
    name: "prompt",
    takes: "SERVER NAME [KEY=STRING]...",
    arguments: &[Argument::Server, Argument::Prompt, Argument::PromptPairs],
    needs: 2,
    about: "get a prompt of a server",
    more: "",
    tells: Tells::Nobody,
    run: |desk, words| good(run(desk, &words[0], &words[1], &words[2..])),
};

async fn run(desk: &Desk<'_>, server: &str, name: &str, words: &[String]) -> Result<(), Failure> {
    let connection = desk.connection(server)?;
    let mut params = RawJson::from(json!({"name": name}));
    if !words.is_empty() {
        let arguments = pair::object(&pairs(words, pair::string)?, None);
        params = params.with_member("arguments", arguments.view());
    }
    let request = connection.request("prompts/get", params);
    let request = desk.asking.with(connection.server(), request);
    let response = request.await.map_err(Failure::Request)?;
    let result = response.to::<GetPromptResult>().map_err(Failure::Request)?;
    show(&result, desk.printer).await
}
