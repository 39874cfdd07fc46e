//! What happens without a request: timers, and what comes after an answer.

use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::{FuturesUnordered, StreamExt as _};
use sparring_peer::server::WeakServer;
use sparring_wire::RawJson;
use tokio::sync::mpsc;

use crate::model::{Kind, Model, Step};
use crate::serve::Mock;

/// One thing that happens.
#[derive(Debug, Clone)]
pub(crate) enum Happening {
    Notify(String, Option<RawJson>),
    List(Kind, String, bool),
    Wait(Duration),
}

/// Lets everything happen in its time, until nobody keeps the server.
pub(crate) async fn run(
    server: WeakServer<Mock>,
    mut later: mpsc::UnboundedReceiver<Vec<Happening>>,
) {
    let Some(mock) = server.upgrade() else { return };
    let mut scenes = mock.handler().scenes();
    drop(mock);
    let mut model = Arc::clone(&scenes.borrow_and_update().model);
    let all = |model: &Arc<Model>| -> FuturesUnordered<_> {
        let timer = |number| on_time(Arc::clone(model), number, &server);
        (0..model.timers.len()).map(timer).collect()
    };
    let mut timers = all(&model);
    let mut lists = FuturesUnordered::new();
    loop {
        tokio::select! {
            list = later.recv() => match list {
                Some(list) => lists.push(one_by_one(list, &server)),
                None => return,
            },
            Some(()) = lists.next() => {}
            Some(()) = timers.next() => {}
            // Another script has timers of its own, which begin now.
            changed = scenes.changed() => match changed {
                Ok(()) => {
                    model = Arc::clone(&scenes.borrow_and_update().model);
                    timers = all(&model);
                }
                Err(_) => return,
            },
        }
    }
}

async fn on_time(model: Arc<Model>, number: usize, server: &WeakServer<Mock>) {
    let Some(timer) = model.timers.get(number) else { return };
    let steps: Vec<Happening> = timer.steps.iter().filter_map(Step::by_itself).collect();
    loop {
        tokio::time::sleep(timer.after).await;
        one_by_one(steps.clone(), server).await;
        if !timer.again {
            return;
        }
    }
}

async fn one_by_one(list: Vec<Happening>, server: &WeakServer<Mock>) {
    for happening in list {
        match happening {
            Happening::Wait(time) => tokio::time::sleep(time).await,
            happening => {
                if let Some(server) = server.upgrade() {
                    server.handler().happen(&happening);
                }
            }
        }
    }
}
