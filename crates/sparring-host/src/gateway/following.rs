//! Tells clients what changes at the servers: their lists, soon and once for many
//! changes that come together, and the resources that somebody wants to hear of.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use sparring_peer::Server;
use sparring_peer::client::{Client, Listing};
use sparring_wire::Revision;
use sparring_wire::types::LogLevel;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};

use super::{Gateway, resources};
use crate::manager::{Event, State};
use crate::registry;

/// How long after a change clients are told; what changes meanwhile is told with
/// it.
const SOON: Duration = Duration::from_millis(50);

/// How long a change of a resource is waited for before it is waited for again.
const LONG: Duration = Duration::from_secs(24 * 60 * 60);

/// Tells clients of a gateway what changes, for as long as somebody waits for it
/// or until the manager is gone. Its registry is to follow the manager too.
pub async fn follow(server: &Server<Gateway>) {
    let gateway = server.handler();
    let mut events = gateway.manager.subscribe();
    let mut rules = gateway.registry.subscribe();
    let mut watched = server.watched();
    let mut level = server.log_level();
    let told = server.downgrade();
    gateway.logs.tell_all(move |message| {
        if let Some(server) = told.upgrade() {
            server.log(message.logger.as_deref(), message.level, &message.data);
        }
    });
    hear_all(gateway);
    let mut asking = JoinSet::new();
    let mut changed = Changed::default();
    let mut heard = Heard::default();
    loop {
        let due = async {
            match changed.due {
                Some(at) => sleep_until(at).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            event = events.next() => match event {
                Some(event) => {
                    if matches!(event, Event::State { .. } | Event::Missed(_)) {
                        hear_all(gateway);
                        ask_for_messages(server, *level.borrow(), &mut asking);
                    }
                    changed.heed(&event);
                }
                None => return,
            },
            // Others are notes.
            Some(event) = rules.next() => match event {
                registry::Event::Note(_) => {}
                _ => changed.note(|kinds| kinds.tools = true),
            },
            Ok(()) = watched.changed() => heard.keep(server, &watched.borrow_and_update().clone()),
            Some(_) = heard.tasks.join_next() => {}
            Ok(()) = level.changed() => {
                let level = *level.borrow_and_update();
                ask_for_messages(server, level, &mut asking);
            }
            Some(_) = asking.join_next() => {}
            () = due => {
                std::mem::take(&mut changed.kinds).tell(server);
                changed.due = None;
                heard.keep(server, &watched.borrow_and_update().clone());
            }
        }
    }
}

/// Hears the log messages of all servers that are connected.
fn hear_all(gateway: &Gateway) {
    let connections = gateway.manager.list();
    gateway.logs.keep(&connections);
    for connection in &connections {
        gateway.logs.hear(connection);
    }
}

/// Tells servers which log messages clients want, if any has said.
fn ask_for_messages(server: &Server<Gateway>, level: Option<LogLevel>, asking: &mut JoinSet<()>) {
    let Some(level) = level else { return };
    for connection in server.handler().manager.list() {
        let logs = Arc::clone(&server.handler().logs);
        asking.spawn(async move { logs.ask_for(&connection, level, false).await });
    }
}

/// What clients are to be told soon. A list that is as it was by then is told too:
/// somebody may have seen it as it was in between.
#[derive(Default)]
struct Changed {
    kinds: Kinds,
    due: Option<Instant>,
    /// What the connected servers have besides tools.
    connected: HashMap<Arc<str>, Kinds>,
}

/// Kinds of lists.
#[derive(Default, Clone, Copy)]
struct Kinds {
    tools: bool,
    resources: bool,
    prompts: bool,
    instructions: bool,
}

impl Changed {
    fn heed(&mut self, event: &Event) {
        match event {
            Event::State { server, state: State::Connected(connection) } => {
                let lists = connection.lists();
                let has = Kinds {
                    tools: false,
                    resources: !(lists.resources.items.is_empty()
                        && lists.templates.items.is_empty()),
                    prompts: !lists.prompts.items.is_empty(),
                    instructions: connection.instructions().is_some(),
                };
                self.connected.insert(Arc::clone(server), has);
                self.note(|kinds| kinds.add(has));
            }
            Event::State { server, .. } => {
                if let Some(had) = self.connected.remove(server) {
                    self.note(|kinds| kinds.add(had));
                }
            }
            Event::Listed { server, what } => {
                let has = match what {
                    Listing::Resources | Listing::ResourceTemplates => {
                        Kinds { resources: true, ..Kinds::default() }
                    }
                    Listing::Prompts => Kinds { prompts: true, ..Kinds::default() },
                    // The registry tells of these.
                    Listing::Tools => return,
                };
                if let Some(known) = self.connected.get_mut(server) {
                    known.add(has);
                }
                self.note(|kinds| kinds.add(has));
            }
            Event::Missed(_) => {
                let all = Kinds { tools: true, resources: true, prompts: true, instructions: true };
                self.note(|kinds| *kinds = all);
            }
            _ => {}
        }
    }

    fn note(&mut self, what: impl FnOnce(&mut Kinds)) {
        what(&mut self.kinds);
        self.due.get_or_insert_with(|| Instant::now() + SOON);
    }
}

impl Kinds {
    fn add(&mut self, other: Kinds) {
        self.tools |= other.tools;
        self.resources |= other.resources;
        self.prompts |= other.prompts;
        self.instructions |= other.instructions;
    }

    fn tell(self, server: &Server<Gateway>) {
        if self.instructions {
            server.renew();
        }
        if self.tools {
            server.tools_changed();
        }
        if self.resources {
            server.resources_changed();
        }
        if self.prompts {
            server.prompts_changed();
        }
    }
}

/// The resources that servers were asked to tell of.
#[derive(Default)]
struct Heard {
    /// By the URI here: on which connection, under which URI there, and what ends
    /// it.
    places: BTreeMap<String, (u64, String, tokio::task::AbortHandle)>,
    tasks: JoinSet<()>,
}

impl Heard {
    /// Subscribes to what is wanted and has a server, once each, and to nothing
    /// else. A server that came back is asked again.
    fn keep(&mut self, server: &Server<Gateway>, wanted: &Arc<BTreeSet<String>>) {
        let manager = &server.handler().manager;
        let mut places = BTreeMap::new();
        for uri in wanted.iter() {
            let Ok(place) = resources::find(manager, uri, Revision::LATEST) else { continue };
            let number = place.connection.number();
            let known = self.places.remove(uri);
            let known = known.filter(|(connection, inner, task)| {
                let same = *connection == number && *inner == place.uri && !task.is_finished();
                if !same {
                    task.abort();
                }
                same
            });
            let place = known.unwrap_or_else(|| {
                let hearing =
                    hear(place.connection.client(), place.uri.clone(), server.clone(), uri.clone());
                (number, place.uri.clone(), self.tasks.spawn(hearing))
            });
            places.insert(uri.clone(), place);
        }
        for (_, _, task) in std::mem::replace(&mut self.places, places).into_values() {
            task.abort();
        }
    }
}

/// Passes on that a resource has changed, until its server does not tell of it
/// any more.
async fn hear(client: Client, inner: String, server: Server<Gateway>, uri: String) {
    let Ok(mut subscription) = client.subscribe(&inner).await else { return };
    loop {
        match subscription.next(LONG).await {
            Ok(_) => server.resource_updated(&uri),
            Err(sparring_peer::client::Error::Timeout { .. }) => {}
            Err(_) => return,
        }
    }
}
