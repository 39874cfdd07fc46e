//! The prompts of all servers, under names like those of tools.

use sparring_wire::ErrorObject;
use sparring_wire::types::Prompt;

use super::Of;
use crate::manager::{Manager, Offered};
use crate::names::{Limit, assign};

/// All of them, by server.
pub(super) fn listed(manager: &Manager) -> Vec<Prompt> {
    let prompts = manager.prompts();
    let named = names(&prompts).into_iter().zip(&prompts);
    named.map(|(name, offered)| Prompt { name, ..Prompt::clone(&offered.item) }).collect()
}

/// Whose prompt a name is, and what it is called there.
pub(super) fn find(manager: &Manager, name: &str) -> Of<String> {
    let prompts = manager.prompts();
    let unknown = || ErrorObject::invalid_params(format!("there is no prompt '{name}'"));
    let index = names(&prompts).iter().position(|known| known == name).ok_or_else(unknown)?;
    let Offered { server, item } = &prompts[index];
    let connection = manager.get(server).ok_or_else(unknown)?;
    Ok((connection, item.name.clone()))
}

fn names(prompts: &[Offered<Prompt>]) -> Vec<String> {
    let pairs: Vec<(&str, &str)> =
        prompts.iter().map(|offered| (&*offered.server, offered.item.name.as_str())).collect();
    assign(Limit::default(), &pairs)
}
