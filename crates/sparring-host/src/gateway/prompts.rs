//! The prompts of all servers, under unique names like those of tools, and the
//! servers of completion references.

use sparring_wire::types::Prompt;
use sparring_wire::{ErrorObject, Json, RawJson};

use super::item_check::CheckedItem as _;
use super::{Located, resources};
use crate::manager::{Manager, ServerItem};
use crate::names::{NameLimit, assign_names};

/// All prompts, sorted by server.
pub(super) fn list_prompts(manager: &Manager) -> Vec<Prompt> {
    let prompts = manager.prompts();
    let named = unique_names(&prompts).into_iter().zip(&prompts);
    let named = named.filter(|(_, item)| item.item.problem().is_none());
    named.map(|(name, item)| Prompt { name, ..Prompt::clone(&item.item) }).collect()
}

/// Finds a prompt by its name here; returns its server's name for it.
pub(super) fn find_prompt(manager: &Manager, name: &str) -> Located<String> {
    let prompts = manager.prompts();
    let unknown = || ErrorObject::invalid_params(format!("no prompt named '{name}'"));
    let index =
        unique_names(&prompts).iter().position(|known| known == name).ok_or_else(unknown)?;
    let ServerItem { server, item } = &prompts[index];
    let connection = manager.get(server).ok_or_else(unknown)?;
    Ok((connection, item.name.clone()))
}

/// Finds the server of a completion reference: a prompt or a resource template.
/// Returns the reference in the server's own names.
pub(super) fn find_completion(manager: &Manager, reference: Json<'_>) -> Located<RawJson> {
    let text = |name| reference.get(name).and_then(Json::as_str);
    let (member, (connection, inner)) = match (text("type").as_deref(), text("name"), text("uri")) {
        (Some("ref/prompt"), Some(name), _) => ("name", find_prompt(manager, &name)?),
        (Some("ref/resource"), _, Some(uri)) => ("uri", resources::find_template(manager, &uri)?),
        _ => {
            let message = "ref: expected a ref/prompt with a name or a ref/resource with a uri";
            return Err(ErrorObject::invalid_params(message));
        }
    };
    let reference = RawJson::from(reference).with_member(member, RawJson::string(&inner).view());
    Ok((connection, reference))
}

fn unique_names(prompts: &[ServerItem<Prompt>]) -> Vec<String> {
    let pairs: Vec<(&str, &str)> =
        prompts.iter().map(|item| (&*item.server, item.item.name.as_str())).collect();
    assign_names(NameLimit::default(), &pairs)
}
