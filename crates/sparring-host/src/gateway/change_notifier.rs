//! Notifies clients of changes at the servers: of lists that they have read, once
//! for changes that come together, and of resources with subscriptions.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use sparring_peer::Server;
use sparring_peer::client::{Client, ListKind};
use sparring_peer::server::Reply;
use sparring_wire::Revision;
use sparring_wire::types::LogLevel;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};

use super::{Gateway, resources};
use crate::manager::{Event, ServerState};
use crate::registry;

/// The delay between a change and its notification; changes within it share one
/// notification.
const NOTIFY_DELAY: Duration = Duration::from_millis(50);

/// The delay between an announcement and its repetition.
const REPEAT_DELAY: Duration = Duration::from_secs(1);

/// The timeout of one wait for a resource update; the wait is then repeated.
const NEXT_UPDATE_TIMEOUT: Duration = Duration::from_secs(24 * 60 * 60);

/// Notifies the clients of a gateway until the future is dropped or the manager
/// is gone. The gateway's registry must follow the manager too.
pub async fn notify_clients(server: &Server<Gateway>) {
    let gateway = server.handler();
    let mut events = gateway.manager.subscribe();
    let mut rules = gateway.registry.subscribe();
    let mut watched = server.subscribed_resources();
    let mut level = server.log_level();
    let weak_server = server.downgrade();
    gateway.logs.broadcast_with(move |message| {
        if let Some(server) = weak_server.upgrade() {
            server.log(message.logger.as_deref(), message.level, &message.data);
        }
    });
    attach_log_handlers(gateway);
    let mut level_requests = JoinSet::new();
    let mut changed = PendingChanges::default();
    let mut subscriptions = ResourceSubscriptions::default();
    loop {
        let due = async {
            match changed.next_time() {
                Some(at) => sleep_until(at).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            event = events.next() => match event {
                Some(event) => {
                    if matches!(event, Event::State { .. } | Event::Missed(_)) {
                        attach_log_handlers(gateway);
                        set_log_levels(server, *level.borrow(), &mut level_requests);
                    }
                    changed.record(&event);
                }
                None => return,
            },
            // Notes are not for clients.
            Some(event) = rules.next() => match event {
                registry::Event::Note(_) => {}
                _ => changed.mark(|lists| lists.tools = true),
            },
            Ok(()) = watched.changed() => subscriptions.update(server, &watched.borrow_and_update().clone()),
            Some(_) = subscriptions.tasks.join_next() => {}
            Ok(()) = level.changed() => {
                let level = *level.borrow_and_update();
                set_log_levels(server, level, &mut level_requests);
            }
            Some(_) = level_requests.join_next() => {}
            () = due => {
                changed.announce(server);
                subscriptions.update(server, &watched.borrow_and_update().clone());
            }
        }
    }
}

/// Forwards the log messages of all connected servers.
fn attach_log_handlers(gateway: &Gateway) {
    let connections = gateway.manager.connections();
    gateway.logs.retain(&connections);
    for connection in &connections {
        gateway.logs.attach(connection);
    }
}

/// Sets the log level that clients have requested at all servers.
fn set_log_levels(
    server: &Server<Gateway>,
    level: Option<LogLevel>,
    level_requests: &mut JoinSet<()>,
) {
    let Some(level) = level else { return };
    for connection in server.handler().manager.connections() {
        let logs = Arc::clone(&server.handler().logs);
        level_requests.spawn(async move { logs.set_level(&connection, level, false).await });
    }
}

/// The changes that clients will be notified of. A list that changed back is
/// included: a client may have read it in between.
#[derive(Default)]
struct PendingChanges {
    lists: ListSet,
    due: Option<Instant>,
    /// The time of the second announcement, and its lists.
    repeat: Option<(Instant, ListSet)>,
    /// The lists of each connected server that are not empty, without tools.
    connected: HashMap<Arc<str>, ListSet>,
}

/// A set of lists.
#[derive(Default, Clone, Copy)]
struct ListSet {
    tools: bool,
    resources: bool,
    prompts: bool,
    instructions: bool,
}

impl PendingChanges {
    fn record(&mut self, event: &Event) {
        match event {
            Event::State { server, state: ServerState::Connected(connection) } => {
                let lists = connection.lists();
                let has = ListSet {
                    tools: false,
                    resources: !(lists.resources.items.is_empty()
                        && lists.templates.items.is_empty()),
                    prompts: !lists.prompts.items.is_empty(),
                    instructions: connection.instructions().is_some(),
                };
                self.connected.insert(Arc::clone(server), has);
                self.mark(|lists| *lists = lists.with(has));
            }
            Event::State { server, .. } => {
                if let Some(had) = self.connected.remove(server) {
                    self.mark(|lists| *lists = lists.with(had));
                }
            }
            Event::ListChanged { server, what } => {
                let has = match what {
                    ListKind::Resources | ListKind::ResourceTemplates => {
                        ListSet { resources: true, ..ListSet::default() }
                    }
                    ListKind::Prompts => ListSet { prompts: true, ..ListSet::default() },
                    // The registry sends events for tools.
                    ListKind::Tools => return,
                };
                if let Some(known) = self.connected.get_mut(server) {
                    *known = known.with(has);
                }
                self.mark(|lists| *lists = lists.with(has));
            }
            Event::Missed(_) => {
                let all =
                    ListSet { tools: true, resources: true, prompts: true, instructions: true };
                self.mark(|lists| *lists = all);
            }
            _ => {}
        }
    }

    fn mark(&mut self, what: impl FnOnce(&mut ListSet)) {
        what(&mut self.lists);
        self.due.get_or_insert_with(|| Instant::now() + NOTIFY_DELAY);
    }

    /// The time of the next announcement.
    fn next_time(&self) -> Option<Instant> {
        self.due.into_iter().chain(self.repeat.map(|(at, _)| at)).min()
    }

    /// Announces the lists. Announces them a second time later, for clients that
    /// were being sent a former list during the first announcement.
    fn announce(&mut self, server: &Server<Gateway>) {
        let now = Instant::now();
        if let Some((_, lists)) = self.repeat.take_if(|(at, _)| *at <= now) {
            server.announce_lists(&lists.current(server.handler()), false);
        }
        if self.due.take_if(|at| *at <= now).is_none() {
            return;
        }
        let lists = std::mem::take(&mut self.lists);
        if lists.instructions {
            server.refresh_description();
        }
        server.announce_lists(&lists.current(server.handler()), true);
        let before = self.repeat.map(|(_, lists)| lists).unwrap_or_default();
        self.repeat = Some((now + REPEAT_DELAY, before.with(lists)));
    }
}

impl ListSet {
    fn with(self, other: ListSet) -> ListSet {
        ListSet {
            tools: self.tools || other.tools,
            resources: self.resources || other.resources,
            prompts: self.prompts || other.prompts,
            instructions: self.instructions || other.instructions,
        }
    }

    /// The current lists.
    fn current(self, gateway: &Gateway) -> Vec<(ListKind, Reply)> {
        let mut lists = Vec::new();
        if self.tools {
            lists.push((ListKind::Tools, gateway.current_tools()));
        }
        if self.resources {
            lists.push((ListKind::Resources, gateway.current_resources()));
            lists.push((ListKind::ResourceTemplates, gateway.current_templates()));
        }
        if self.prompts {
            lists.push((ListKind::Prompts, gateway.current_prompts()));
        }
        lists
    }
}

/// Subscriptions to resources of servers.
#[derive(Default)]
struct ResourceSubscriptions {
    /// By the gateway's URI: the number of the connection, the server's URI,
    /// and the handle of the forwarding task.
    active: BTreeMap<String, (u64, String, tokio::task::AbortHandle)>,
    tasks: JoinSet<()>,
}

impl ResourceSubscriptions {
    /// Subscribes to each wanted resource that has a server, and ends all other
    /// subscriptions. Subscribes again after a reconnect.
    fn update(&mut self, server: &Server<Gateway>, wanted: &Arc<BTreeSet<String>>) {
        let manager = &server.handler().manager;
        let mut active = BTreeMap::new();
        for uri in wanted.iter() {
            let Ok(location) = resources::find_resource(manager, uri, Revision::LATEST) else {
                continue;
            };
            let number = location.connection.number();
            let known = self.active.remove(uri);
            let known = known.filter(|(connection, inner, task)| {
                let same = *connection == number && *inner == location.uri && !task.is_finished();
                if !same {
                    task.abort();
                }
                same
            });
            let subscription = known.unwrap_or_else(|| {
                let forwarding = forward_updates(
                    location.connection.client(),
                    location.uri.clone(),
                    server.clone(),
                    uri.clone(),
                );
                (number, location.uri.clone(), self.tasks.spawn(forwarding))
            });
            active.insert(uri.clone(), subscription);
        }
        for (_, _, task) in std::mem::replace(&mut self.active, active).into_values() {
            task.abort();
        }
    }
}

/// Forwards updates of a resource until the subscription ends.
async fn forward_updates(client: Client, inner: String, server: Server<Gateway>, uri: String) {
    let Ok(mut subscription) = client.subscribe(&inner).await else { return };
    loop {
        match subscription.next(NEXT_UPDATE_TIMEOUT).await {
            Ok(_) => server.resource_updated(&uri),
            Err(sparring_peer::client::Error::Timeout { .. }) => {}
            Err(_) => return,
        }
    }
}
