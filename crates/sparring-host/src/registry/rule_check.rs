//! Finds permission rules that match no tool.

use sparring_script::nearest_names;
use sparring_wire::types::Tool;

use super::{PROMPTS_GET, RESOURCES_READ, Registry};
use crate::names::{sanitize, visible_tool_names};
use crate::permissions::{ToolPattern, Verdict};
use crate::text::{escape_control, truncate};

/// The maximum number of characters of a name in a message.
const MAX_NAME_CHARS: usize = 100;

impl Registry {
    /// Returns a note for each rule that matches no tool of a server with
    /// registered tools, with a suggestion. Rules use the servers' names of
    /// tools; those that deny may also use the registered names.
    pub fn unmatched_rules(&self) -> Vec<String> {
        let permissions = self.gate().permissions();
        let servers = self.lock().servers.clone();
        let mut notes = vec![];
        for (server, tools) in servers.iter().filter(|(_, tools)| !tools.is_empty()) {
            for (verdict, glob, rule) in permissions.rules_for(server) {
                let mut requests = [RESOURCES_READ, PROMPTS_GET].into_iter();
                let denies_visible = |tool: &Tool| {
                    let mut names = visible_tool_names(server, &tool.name).into_iter();
                    verdict == Verdict::Deny && names.any(|name| glob.matches(&name))
                };
                if tools.iter().any(|tool| glob.matches(&tool.name) || denies_visible(tool))
                    || requests.any(|name| glob.matches(name))
                {
                    continue;
                }
                let suggestion = suggest_tool(glob, tools.iter().map(|tool| &**tool));
                let suggestion =
                    suggestion.map(|name| truncate(&escape_control(name), MAX_NAME_CHARS));
                let suggestion =
                    suggestion.map(|name| format!("; did you mean its tool '{name}'?"));
                let suggestion = suggestion.unwrap_or_default();
                notes.push(format!("rule {rule} matches no tool of '{server}'{suggestion}"));
            }
        }
        notes
    }
}

/// The tool whose registered name matches, or the most similar one.
fn suggest_tool<'a>(
    glob: &ToolPattern,
    tools: impl Iterator<Item = &'a Tool> + Clone,
) -> Option<&'a str> {
    let names = tools.map(|tool| tool.name.as_str());
    let by_registered_name = names.clone().find(|name| glob.matches(&sanitize(name)));
    by_registered_name.or_else(|| nearest_names(&glob.to_string(), names).first().copied())
}
