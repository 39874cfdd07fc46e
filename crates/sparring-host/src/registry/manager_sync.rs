//! Keeps the registry in sync with a manager's servers.

use sparring_peer::client::ListKind;

use super::Registry;
use crate::manager::{Event, Manager};

impl Registry {
    /// Registers the tools of all connected servers and removes those of
    /// others.
    pub fn sync(&self, manager: &Manager) {
        let connected = manager.connections();
        let is_connected = |server: &str| connected.iter().any(|one| **one.server() == *server);
        let known: Vec<_> = self.lock().servers.keys().cloned().collect();
        for server in known.iter().filter(|server| !is_connected(server)) {
            self.unregister(server);
        }
        for connection in &connected {
            self.register(connection.server(), connection.tools().items.iter().cloned());
        }
    }

    /// Keeps the registry in sync until the manager is gone or the future is
    /// dropped.
    pub async fn follow_manager(&self, manager: &Manager) {
        let mut events = manager.subscribe();
        self.sync(manager);
        while let Some(event) = events.next().await {
            match event {
                Event::State { server, .. }
                | Event::ListChanged { server, what: ListKind::Tools } => {
                    self.sync_server(manager, &server);
                }
                Event::Missed(_) => self.sync(manager),
                _ => {}
            }
        }
    }

    /// Does the same as [`Registry::sync`] for one server.
    pub(crate) fn sync_server(&self, manager: &Manager, server: &str) {
        match manager.get(server) {
            Some(connection) => {
                self.register(server, connection.tools().items.iter().cloned());
            }
            None => {
                self.unregister(server);
            }
        }
    }
}
