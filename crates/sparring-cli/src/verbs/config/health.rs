//! Connects the usable servers of the configuration, for `spar config list --check`.

use std::collections::BTreeMap;
use std::time::Duration;

use sparring_host::config::Config;
use sparring_host::manager::Manager;

use crate::host::HostOptions;
use crate::output::line;

/// Limit for stopping the servers.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(8);

/// The health of a server.
pub(super) enum Health {
    /// It is connected: its revision, and the numbers of its items.
    Connected { revision: String, tools: usize, resources: usize, prompts: usize },
    /// It is not, with the reason.
    Failed(String),
}

/// Connects all servers that are trusted, enabled and valid, and disconnects them again.
pub(super) async fn check_servers(config: &Config) -> BTreeMap<String, Health> {
    let names: Vec<String> = config.ready().map(|server| server.name.clone()).collect();
    let client = HostOptions::default().client;
    let manager = Manager::builder().servers(config.ready().cloned()).client(client).build();
    let connecting = names.iter().map(|name| manager.connect(name));
    let outcomes = futures_util::future::join_all(connecting).await;
    let health = outcomes.into_iter().map(|outcome| match outcome {
        Ok(connection) => {
            let lists = connection.lists();
            Health::Connected {
                revision: connection.revision().map(|it| it.to_string()).unwrap_or_default(),
                tools: lists.tools.items.len(),
                resources: lists.resources.items.len() + lists.templates.items.len(),
                prompts: lists.prompts.items.len(),
            }
        }
        Err(error) => Health::Failed(line::first_line(&error.to_string())),
    });
    let health = names.into_iter().zip(health).collect();
    manager.shut_down(SHUTDOWN_TIMEOUT).await;
    health
}

impl Health {
    /// The health in one line.
    pub(super) fn render(&self) -> String {
        match self {
            Health::Connected { revision, tools, resources, prompts } => {
                let count = |number: &usize, what: &str| match number {
                    1 => format!("1 {what}"),
                    _ => format!("{number} {what}s"),
                };
                format!(
                    "ok: {revision}, {}, {}, {}",
                    count(tools, "tool"),
                    count(resources, "resource"),
                    count(prompts, "prompt")
                )
            }
            Health::Failed(why) => format!("failed: {why}"),
        }
    }
}
