//! Whether that is there which a suite needs.

use crate::model::Suite;
use crate::run::World;
use crate::run::open::absolute;

/// The first thing that a suite needs and that is not there, as a reason to
/// skip it.
pub(super) fn missing(suite: &Suite, world: &World) -> Option<String> {
    let needs = &suite.needs;
    let path = world.variables.get("PATH");
    let folder = suite.folder();
    let folder = absolute(folder);
    let has = |program: &&String| which::which_in(program, path, &folder).is_ok();
    if let Some(program) = needs.programs.iter().find(|program| !has(program)) {
        return Some(format!("{program} is not installed"));
    }
    let set = |name: &&String| world.variables.get(*name).is_some_and(|value| !value.is_empty());
    if let Some(name) = needs.env.iter().find(|name| !set(name)) {
        return Some(format!("{name} is not set"));
    }
    let file = needs.files.iter().find(|file| !folder.join(file).exists());
    file.map(|file| format!("{file} is not there"))
}
