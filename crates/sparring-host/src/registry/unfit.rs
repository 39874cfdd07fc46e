//! Rules that somebody meant something by, and that are about nothing.

use sparring_script::nearest;
use sparring_wire::types::Tool;

use super::Registry;
use crate::names::sanitized;
use crate::permissions::Glob;
use crate::text::{cut, visible};

/// The most of a name that a message shows.
const LONGEST_NAME: usize = 100;

impl Registry {
    /// What somebody should know of rules that fit no tool of a server whose
    /// tools are registered, and what may have been meant: a rule goes by the
    /// names that servers give their tools, and not by those that they have here.
    pub fn unfit_rules(&self) -> Vec<String> {
        let permissions = self.gate().permissions();
        let servers = self.state().servers.clone();
        let mut told = vec![];
        for (server, tools) in servers.iter().filter(|(_, tools)| !tools.is_empty()) {
            for (glob, rule) in permissions.about(server) {
                if tools.iter().any(|tool| glob.matches(&tool.name)) {
                    continue;
                }
                let meant = meant(glob, tools.iter().map(|tool| &**tool));
                let meant = meant.map(|name| cut(&visible(name), LONGEST_NAME));
                let meant = meant.map(|name| format!("; did you mean its tool '{name}'?"));
                let meant = meant.unwrap_or_default();
                told.push(format!("the rule {rule} fits no tool of '{server}'{meant}"));
            }
        }
        told
    }
}

/// The tool that would fit by its name here, or the one that is most like it.
fn meant<'a>(glob: &Glob, tools: impl Iterator<Item = &'a Tool> + Clone) -> Option<&'a str> {
    let names = tools.map(|tool| tool.name.as_str());
    let shown_so = names.clone().find(|name| glob.matches(&sanitized(name)));
    shown_so.or_else(|| nearest(&glob.to_string(), names).first().copied())
}
