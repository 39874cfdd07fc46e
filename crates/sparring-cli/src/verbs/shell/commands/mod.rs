//! The commands below `/mcp`.

mod call;
mod connection;
mod log;
mod permissions;
mod prompts;
mod reload;
mod resources;
mod status;
mod tools;

use super::command::Command;

/// All commands, in the order of `/help`.
pub(super) const ALL: [Command; 14] = [
    status::STATUS,
    status::SERVERS,
    connection::CONNECT,
    connection::DISCONNECT,
    connection::RECONNECT,
    tools::COMMAND,
    resources::RESOURCES,
    resources::READ,
    prompts::PROMPTS,
    prompts::PROMPT,
    call::COMMAND,
    reload::COMMAND,
    log::COMMAND,
    permissions::COMMAND,
];
