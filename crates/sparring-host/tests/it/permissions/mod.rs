//! Permissions: rules, grants, questions and the audit log.

mod audit;
mod configured;
mod fingerprint;
mod gate;
mod grants;
mod prompt;
mod rules;

use std::time::Duration;

use sparring_host::config::{Origin, Reconnect, Rules, Scope, ServerConfig};
use sparring_peer::Protocol;
use sparring_transport::{ChildTarget, Target};

/// A server of the user that starts that program.
pub(crate) fn server(name: &str, program: &str) -> ServerConfig {
    ServerConfig {
        name: name.to_owned(),
        origin: Origin { file: "/mcp.yaml".into(), scope: Scope::User, line: 1, column: 1 },
        target: Target::Child(ChildTarget::new(program)),
        protocol: Protocol::default(),
        enabled: true,
        auto_connect: true,
        timeout: Duration::from_secs(30),
        reconnect: Reconnect::default(),
        rules: Rules::default(),
    }
}

/// Rules with these denied, asked and allowed patterns.
pub(crate) fn rules(deny: &[&str], ask: &[&str], allow: &[&str]) -> Rules {
    let [deny, ask, allow] =
        [deny, ask, allow].map(|patterns| patterns.iter().map(|&text| text.to_owned()).collect());
    Rules { deny, ask, allow }
}
