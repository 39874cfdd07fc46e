//! What is changed while a mock serves: tools come and go, replies are given in
//! advance, everything begins anew, another script takes the place of this one.

use std::sync::{Arc, MutexGuard, PoisonError};

use serde_json::Value;
use sparring_script::{Problems, did_you_mean};
use tokio::sync::watch;

use super::scene::Lists;
use super::{Mock, Scene};
use crate::load::{MayRun, load_reply, load_tool};
use crate::model::{Kind, Model, Tool};

/// How many replies may wait for one tool.
const MOST: usize = 100_000;

/// Why something cannot be changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChangeError {
    /// What was given is wrong.
    #[error("{0}")]
    Script(#[from] Problems),
    /// There is no such tool.
    #[error("{0}")]
    NoTool(String),
    /// Too many replies wait already.
    #[error("{0} replies wait for '{1}' already")]
    TooMany(usize, String),
}

/// Who changes a mock while it serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Giver {
    /// Who has it, in Rust.
    Owner,
    /// Somebody over HTTP, who is not to run programs here.
    #[cfg(feature = "http")]
    Visitor,
}

impl Giver {
    fn may_run(self, scene: &Scene) -> MayRun {
        match self {
            Giver::Owner => MayRun::if_so(scene.model.allow_exec),
            #[cfg(feature = "http")]
            Giver::Visitor => MayRun::OnlyTheScripts,
        }
    }
}

impl Mock {
    /// The script that is served now.
    pub(crate) fn scene(&self) -> Arc<Scene> {
        Arc::clone(&self.scene.borrow())
    }

    /// The same, and those that will take its place.
    pub(crate) fn scenes(&self) -> watch::Receiver<Arc<Scene>> {
        self.scene.subscribe()
    }

    /// Adds a tool, or puts it in the place of one that has its name.
    pub(crate) fn register(&self, tool: &Value, giver: Giver) -> Result<(), ChangeError> {
        let _alone = self.change();
        let scene = self.scene();
        let tool = load_tool(tool, &scene.model, names(&scene), giver.may_run(&scene))?;
        scene.put(Arc::new(Tool { came_later: true, ..tool }));
        self.tell(Kind::Tool.changed(), None);
        Ok(())
    }

    /// Takes a tool away.
    pub(crate) fn remove(&self, name: &str) -> Result<(), ChangeError> {
        let _alone = self.change();
        let scene = self.scene();
        if scene.find(name).is_none() {
            return Err(no_tool(&scene, name));
        }
        scene.take(name);
        self.tell(Kind::Tool.changed(), None);
        Ok(())
    }

    /// Gives a tool a reply for its next call, before all others.
    pub(crate) fn enqueue(
        &self,
        tool: &str,
        reply: &Value,
        giver: Giver,
    ) -> Result<(), ChangeError> {
        let _alone = self.change();
        let scene = self.scene();
        let found = scene.find(tool).ok_or_else(|| no_tool(&scene, tool))?;
        let reply = load_reply(reply, &scene.model, names(&scene), giver.may_run(&scene))?;
        let mut queued = found.entry.queued();
        if queued.len() >= MOST {
            return Err(ChangeError::TooMany(MOST, tool.to_owned()));
        }
        queued.push_back(Arc::new(reply));
        Ok(())
    }

    /// Makes everything as it was at first, and forgets what came in. Clients
    /// are told of the lists that are others now.
    pub(crate) fn reset(&self) {
        let _alone = self.change();
        let scene = self.scene();
        let before = scene.lists();
        scene.reset();
        self.pending.clear();
        self.journal.clear();
        #[cfg(feature = "http")]
        self.at_first.issuing.reset();
        self.tell_changed(&before, &scene.lists());
    }

    /// Serves another script from now on. Requests in flight are answered by the
    /// one they came to; clients are told of the lists that are others now.
    pub(crate) fn reload(&self, model: Arc<Model>) {
        let _alone = self.change();
        let before = self.scene();
        let scene = Arc::new(Scene::after(model, &before));
        self.scene.send_replace(Arc::clone(&scene));
        if let Some(server) = self.server() {
            server.renew();
        }
        self.tell_changed(&before.lists(), &scene.lists());
    }

    /// Tells clients which lists are others than they were.
    fn tell_changed(&self, before: &Lists, now: &Lists) {
        let Some(server) = self.server() else { return };
        if before.tools != now.tools {
            server.tools_changed();
        }
        if before.resources != now.resources {
            server.resources_changed();
        }
        if before.prompts != now.prompts {
            server.prompts_changed();
        }
    }

    /// One change at a time, so that none is lost to a script that goes.
    fn change(&self) -> MutexGuard<'_, ()> {
        self.changing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn names(scene: &Scene) -> Vec<String> {
    scene.tools().iter().map(|tool| tool.entry.id.clone()).collect()
}

fn no_tool(scene: &Scene, name: &str) -> ChangeError {
    let names = names(scene);
    let meant = did_you_mean(name, names.iter().map(String::as_str));
    let meant = meant.map(|meant| format!("; {meant}")).unwrap_or_default();
    ChangeError::NoTool(format!("Tool '{name}' not found{meant}"))
}
