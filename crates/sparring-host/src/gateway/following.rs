//! Tells clients what changes at the servers: their lists, soon and once for many
//! changes that come together, and the resources that somebody wants to hear of.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use sparring_peer::Server;
use sparring_peer::client::Client;
use sparring_peer::server::Handler as _;
use sparring_wire::Revision;
use sparring_wire::types::{Prompt, Resource, ResourceTemplate};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};

use super::{Gateway, resources};
use crate::manager::{Event, Offered};
use crate::registry::Registered;

/// How long after a change clients are told; what changes meanwhile is told with
/// it.
const SOON: Duration = Duration::from_millis(50);

/// How long a change of a resource is waited for before it is waited for again.
const LONG: Duration = Duration::from_secs(24 * 60 * 60);

/// Tells clients of a gateway what changes, for as long as somebody waits for it
/// or until the manager is gone.
pub async fn follow(server: &Server<Gateway>) {
    let gateway = server.handler();
    let mut changes = gateway.manager.subscribe();
    let mut rules = gateway.registry.subscribe();
    let mut watched = server.watched();
    let mut told = Lists::of(gateway);
    let mut heard = Heard::default();
    let mut due = None;
    let registry = gateway.registry.follow(&gateway.manager);
    let mut registry = std::pin::pin!(registry);
    loop {
        let flush = async {
            match due {
                Some(at) => sleep_until(at).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = &mut registry => return,
            event = changes.next() => match event {
                None => return,
                Some(Event::Stale { .. } | Event::NotListening { .. } | Event::Left { .. }) => {}
                Some(_) => due = due.or_else(|| Some(Instant::now() + SOON)),
            },
            Some(_) = rules.next() => due = due.or_else(|| Some(Instant::now() + SOON)),
            Ok(()) = watched.changed() => heard.keep(server, &watched.borrow_and_update().clone()),
            Some(_) = heard.tasks.join_next() => {}
            () = flush => {
                due = None;
                told.tell(server);
                heard.keep(server, &watched.borrow_and_update().clone());
            }
        }
    }
}

/// What clients were told that there is.
struct Lists {
    tools: Vec<Registered>,
    resources: Vec<Offered<Resource>>,
    templates: Vec<Offered<ResourceTemplate>>,
    prompts: Vec<Offered<Prompt>>,
    instructions: Option<String>,
}

impl Lists {
    fn of(gateway: &Gateway) -> Lists {
        Lists {
            tools: gateway.registry.tools(),
            resources: gateway.manager.resources(),
            templates: gateway.manager.templates(),
            prompts: gateway.manager.prompts(),
            instructions: gateway.instructions(),
        }
    }

    fn tell(&mut self, server: &Server<Gateway>) {
        let before = std::mem::replace(self, Lists::of(server.handler()));
        if self.instructions != before.instructions {
            server.renew();
        }
        if self.tools != before.tools {
            server.tools_changed();
        }
        if self.resources != before.resources || self.templates != before.templates {
            server.resources_changed();
        }
        if self.prompts != before.prompts {
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
