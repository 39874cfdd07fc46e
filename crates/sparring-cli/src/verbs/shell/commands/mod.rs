//! The commands below `/mcp`, one file each.

mod call;
mod connect;
mod disconnect;
mod log;
mod permissions;
mod prompt;
mod prompts;
mod read;
mod reconnect;
mod reload;
mod resources;
mod servers;
mod status;
mod tools;

use super::command::Command;

/// All of them, in the order in which they are shown.
pub(super) const ALL: [Command; 14] = [
    status::COMMAND,
    servers::COMMAND,
    connect::COMMAND,
    disconnect::COMMAND,
    reconnect::COMMAND,
    tools::COMMAND,
    resources::COMMAND,
    read::COMMAND,
    prompts::COMMAND,
    prompt::COMMAND,
    call::COMMAND,
    reload::COMMAND,
    log::COMMAND,
    permissions::COMMAND,
];
