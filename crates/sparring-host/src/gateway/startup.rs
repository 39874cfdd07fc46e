//! Requests during startup: each waits, for a limited time, only for the servers
//! that it may need.

use std::time::Duration;

use sparring_wire::Json;
use tokio::time::{Instant, timeout, timeout_at};

use super::{Gateway, prompts, resources};
use crate::manager::{Connection, Event, ServerState};
use crate::names::may_be_name_of;

/// Maximum wait of a request for servers that are being connected at startup.
const STARTUP_TIMEOUT: Duration = Duration::from_secs(10);

impl Gateway {
    /// Ends the startup: all servers are connected or have failed. Until then
    /// requests wait for the servers that they may need.
    pub fn finish_startup(&self) {
        self.registry.sync(&self.manager);
        self.started.send_replace(true);
    }

    /// Waits for all servers, as a list needs them.
    pub(super) async fn wait_until_started(&self) {
        if *self.started.borrow() {
            return;
        }
        let mut started = self.started.subscribe();
        // After the timeout the client gets the items that are available.
        let _ = timeout(STARTUP_TIMEOUT, started.wait_for(|started| *started)).await;
    }

    /// Waits for the server that a tool may belong to.
    pub(super) async fn wait_for_tool(&self, tool: &str) {
        let is_known = || {
            // The registry follows the manager in another task.
            self.registry.get(tool).is_some() || {
                let connections = self.manager.connections();
                let servers = connections.iter().map(Connection::server);
                for server in servers.filter(|server| may_be_name_of(server, tool)) {
                    self.registry.sync_server(&self.manager, server);
                }
                self.registry.get(tool).is_some()
            }
        };
        self.wait_for(is_known, |server| may_be_name_of(server, tool)).await;
    }

    /// Waits for the server that a prompt may belong to.
    pub(super) async fn wait_for_prompt(&self, prompt: &str) {
        let is_known = || prompts::find_prompt(&self.manager, prompt).is_ok();
        self.wait_for(is_known, |server| may_be_name_of(server, prompt)).await;
    }

    /// Waits for the servers that may have a resource. A resource that a
    /// connected server lists, by itself or by a template, needs no other server.
    pub(super) async fn wait_for_resource(&self, uri: &str) {
        let is_known = || resources::is_listed(&self.manager, uri);
        self.wait_for(is_known, |server| resources::may_have_uri(server, uri)).await;
    }

    /// Waits for the server of a completion reference.
    pub(super) async fn wait_for_completion(&self, reference: Json<'_>) {
        let text = |name| reference.get(name).and_then(Json::as_str);
        let is_known = || prompts::find_completion(&self.manager, reference).is_ok();
        let may_have = |server: &str| match (text("name"), text("uri")) {
            (Some(name), _) => may_be_name_of(server, &name),
            (None, Some(uri)) => resources::may_have_uri(server, &uri),
            (None, None) => false,
        };
        self.wait_for(is_known, may_have).await;
    }

    /// Waits until an item is known or no server that may have it is being
    /// connected, at most [`STARTUP_TIMEOUT`].
    async fn wait_for(&self, is_known: impl Fn() -> bool, may_have: impl Fn(&str) -> bool) {
        if *self.started.borrow() {
            return;
        }
        let deadline = Instant::now() + STARTUP_TIMEOUT;
        let mut events = self.manager.subscribe();
        let mut started = self.started.subscribe();
        // A server is idle until its first attempt begins.
        let is_coming = |state: &ServerState| {
            matches!(state, ServerState::Idle | ServerState::Connecting { .. })
        };
        loop {
            let servers = self.manager.servers();
            let mut coming = servers.iter().filter(|it| is_coming(&it.state));
            // Checked after the states: a server is connected before its items
            // are known here.
            let is_needed = coming.any(|it| may_have(&it.config.name));
            if is_known() || !is_needed {
                return;
            }
            // Many requests can wait for many servers, so each looks only at the events of
            // those that it needs.
            let changed = async {
                loop {
                    match events.next().await {
                        Some(Event::State { server, .. } | Event::ListChanged { server, .. })
                            if !may_have(&server) => {}
                        event => break event.is_some(),
                    }
                }
            };
            let next = async {
                tokio::select! {
                    changed = changed => changed,
                    _ = started.wait_for(|started| *started) => false,
                }
            };
            if !timeout_at(deadline, next).await.unwrap_or(false) {
                return;
            }
        }
    }
}
