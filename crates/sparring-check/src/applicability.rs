//! The rules of ordinary traffic that do not apply to a server.

use sparring_wire::Rule;

use crate::context::Context;

/// Returns the reason why a rule of ordinary traffic does not apply to this server.
pub(crate) fn reason_against(context: &Context, rule: Rule) -> Option<String> {
    let (area, _) = rule.id().split_once('/')?;
    let needs = |capability: &str| {
        let declares = context.facts().declares(capability);
        (!declares).then(|| format!("the server does not declare `{capability}`"))
    };
    match area {
        "http" if context.target().http().is_none() => {
            Some("the server is not reached over HTTP".to_owned())
        }
        "tools" => needs("tools"),
        "prompts" => needs("prompts"),
        "logging" => needs("logging"),
        "tasks" => needs("tasks"),
        _ => None,
    }
}
