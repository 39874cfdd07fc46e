//! Runs timers, and steps after answers.

use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::{FuturesUnordered, StreamExt as _};
use sparring_peer::server::WeakServer;
use sparring_wire::RawJson;
use tokio::sync::mpsc;

use crate::model::{EntryKind, Model, Step};
use crate::serve::MockHandler;

/// Something that the scheduler does.
#[derive(Debug, Clone)]
pub(crate) enum Action {
    Notify(String, Option<RawJson>),
    SetVisible(EntryKind, String, bool),
    Wait(Duration),
}

/// Runs timers and scheduled actions until the server is dropped.
pub(crate) async fn run(
    server: WeakServer<MockHandler>,
    mut scheduled: mpsc::UnboundedReceiver<Vec<Action>>,
) {
    let Some(mock) = server.upgrade() else { return };
    let mut scripts = mock.handler().watch_script();
    drop(mock);
    let mut model = Arc::clone(&scripts.borrow_and_update().model);
    let start_timers = |model: &Arc<Model>| -> FuturesUnordered<_> {
        let timer = |number| run_timer(Arc::clone(model), number, &server);
        (0..model.timers.len()).map(timer).collect()
    };
    let mut timers = start_timers(&model);
    let mut lists = FuturesUnordered::new();
    loop {
        tokio::select! {
            list = scheduled.recv() => match list {
                Some(list) => lists.push(run_actions(list, &server)),
                None => return,
            },
            Some(()) = lists.next() => {}
            Some(()) = timers.next() => {}
            // Another script has other timers, which start now.
            changed = scripts.changed() => match changed {
                Ok(()) => {
                    model = Arc::clone(&scripts.borrow_and_update().model);
                    timers = start_timers(&model);
                }
                Err(_) => return,
            },
        }
    }
}

async fn run_timer(model: Arc<Model>, number: usize, server: &WeakServer<MockHandler>) {
    let Some(timer) = model.timers.get(number) else { return };
    let steps: Vec<Action> = timer.steps.iter().filter_map(Step::to_timer_action).collect();
    loop {
        tokio::time::sleep(timer.after).await;
        run_actions(steps.clone(), server).await;
        if !timer.repeat {
            return;
        }
    }
}

async fn run_actions(list: Vec<Action>, server: &WeakServer<MockHandler>) {
    for action in list {
        match action {
            Action::Wait(time) => tokio::time::sleep(time).await,
            action => {
                if let Some(server) = server.upgrade() {
                    server.handler().run_action(&action);
                }
            }
        }
    }
}
