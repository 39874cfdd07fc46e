//! Whose argument is to be completed: that of a prompt, or of a template.

use sparring_wire::{ErrorObject, Json, RawJson};

use super::{Of, prompts, resources};
use crate::manager::Manager;

/// The server, and what the reference is there.
pub(super) fn find(manager: &Manager, reference: Json<'_>) -> Of<RawJson> {
    let text = |name| reference.get(name).and_then(Json::as_str);
    let (member, (connection, inner)) = match (text("type").as_deref(), text("name"), text("uri")) {
        (Some("ref/prompt"), Some(name), _) => ("name", prompts::find(manager, &name)?),
        (Some("ref/resource"), _, Some(uri)) => ("uri", resources::find_template(manager, &uri)?),
        _ => {
            let message = "ref: expected a ref/prompt with a name or a ref/resource with a uri";
            return Err(ErrorObject::invalid_params(message));
        }
    };
    let reference = RawJson::from(reference).with_member(member, RawJson::string(&inner).view());
    Ok((connection, reference))
}
