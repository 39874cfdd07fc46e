//! Checks a suite's prerequisites.

use super::connect::absolute;
use crate::context::RunContext;
use crate::model::Suite;

/// The first missing prerequisite of a suite, as the reason to skip it.
pub(super) fn missing(suite: &Suite, context: &RunContext) -> Option<String> {
    let needs = &suite.needs;
    let path = context.variables.get("PATH");
    let folder = absolute(suite.folder());
    let is_installed = |program: &&String| which::which_in(program, path, &folder).is_ok();
    if let Some(program) = needs.programs.iter().find(|program| !is_installed(program)) {
        return Some(format!("{program} is not installed"));
    }
    let is_set = |name: &&String| context.variables.get(*name).is_some_and(|it| !it.is_empty());
    if let Some(name) = needs.env.iter().find(|name| !is_set(name)) {
        return Some(format!("{name} is not set"));
    }
    let file = needs.files.iter().find(|file| !folder.join(file).exists());
    file.map(|file| format!("{file} does not exist"))
}
