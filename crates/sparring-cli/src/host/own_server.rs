//! A server of the command line (`spar shell -- COMMAND`), which needs no config file.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;
use sparring_host::config::{
    ConfiguredServer, EntryState, Origin, Reconnect, Rules, Scope, ServerConfig,
};
use sparring_peer::Protocol;
use sparring_transport::Target;

/// The name of the server.
pub(super) const NAME: &str = "server";

/// The timeout of connecting and of each request, as for configured servers.
const TIMEOUT: Duration = Duration::from_secs(30);

/// A server of the command line.
#[derive(Debug, Clone)]
pub(super) struct OwnServer(ServerConfig);

impl OwnServer {
    /// Creates the server. All its tools are allowed, since the user named it.
    pub(super) fn new(target: Target) -> OwnServer {
        let file = PathBuf::from("(command line)");
        OwnServer(ServerConfig {
            name: NAME.to_owned(),
            origin: Origin { file, scope: Scope::User, line: 1, column: 1 },
            target,
            protocol: Protocol::Auto,
            enabled: true,
            auto_connect: true,
            timeout: TIMEOUT,
            reconnect: Reconnect::default(),
            rules: Rules { allow: vec!["*".to_owned()], ..Rules::default() },
        })
    }

    /// Returns the server like one of a config file.
    pub(super) fn to_configured(&self) -> ConfiguredServer {
        let (transport, spelled) = match &self.0.target {
            Target::Child(child) => {
                let words = std::iter::once(&child.program).chain(&child.args);
                let words = words.map(String::as_str);
                ("stdio", words.collect::<Vec<_>>().join(" "))
            }
            Target::Http(http) => ("http", http.url.clone()),
            _ => ("?", String::new()),
        };
        ConfiguredServer {
            origin: self.0.origin.clone(),
            transport,
            spelled,
            entry: Value::Null,
            enabled: true,
            state: EntryState::Ready(Box::new(self.0.clone())),
        }
    }
}
