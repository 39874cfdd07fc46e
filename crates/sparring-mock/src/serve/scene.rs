//! A script at work: its model, and what of it changes while it is served. When
//! another script takes its place it stays for as long as requests need it.

use std::sync::{Arc, PoisonError, RwLock};

use serde_json::Value;

use super::memory::Memory;
use crate::model::{Entry, Model, Tool};

/// A script at work.
#[derive(Debug)]
pub(crate) struct Scene {
    pub(crate) model: Arc<Model>,
    /// The tools that there are now, hidden ones included.
    tools: RwLock<Arc<Vec<Arc<Tool>>>>,
    pub(super) memory: Memory,
}

/// What clients see; templates are among the resources.
#[derive(Debug, PartialEq)]
pub(super) struct Lists {
    pub(super) tools: Vec<Value>,
    pub(super) resources: Vec<Value>,
    pub(super) prompts: Vec<Value>,
}

impl Scene {
    /// A script that nobody has asked for anything yet.
    pub(crate) fn new(model: Arc<Model>) -> Self {
        let tools = RwLock::new(Arc::new(model.tools.clone()));
        Scene { tools, memory: Memory::new(model.seed), model }
    }

    /// The same script after another one: what was said at run time stays, which
    /// is tools that came and replies that wait for those that are still there.
    pub(super) fn after(model: Arc<Model>, before: &Scene) -> Self {
        let scene = Scene::new(model);
        for old in before.tools().iter() {
            match scene.find(&old.entry.id) {
                _ if old.came_later => scene.put(Arc::clone(old)),
                Some(tool) => tool.entry.queued().append(&mut old.entry.queued()),
                None => {}
            }
        }
        scene
    }

    /// The tools that there are now, hidden ones included.
    pub(crate) fn tools(&self) -> Arc<Vec<Arc<Tool>>> {
        Arc::clone(&self.tools.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// The tool of that name, if it is in the list.
    pub(super) fn tool(&self, name: &str) -> Option<Arc<Tool>> {
        self.find(name).filter(|tool| tool.entry.is_shown())
    }

    /// The tool of that name, in the list or not.
    pub(super) fn find(&self, name: &str) -> Option<Arc<Tool>> {
        let tools = self.tools.read().unwrap_or_else(PoisonError::into_inner);
        tools.iter().find(|tool| tool.entry.id == name).cloned()
    }

    /// Adds a tool, or puts it in the place of one that has its name.
    pub(super) fn put(&self, tool: Arc<Tool>) {
        self.change(|tools| match tools.iter_mut().find(|it| it.entry.id == tool.entry.id) {
            Some(known) => *known = tool,
            None => tools.push(tool),
        });
    }

    /// Takes a tool away.
    pub(super) fn take(&self, name: &str) {
        self.change(|tools| tools.retain(|tool| tool.entry.id != name));
    }

    /// Makes everything as it was at first.
    pub(super) fn reset(&self) {
        self.change(|tools| *tools = self.model.tools.clone());
        let tools = self.model.tools.iter().map(|tool| &tool.entry);
        let templates = self.model.templates.iter().map(|(_, entry)| entry);
        let others = self.model.resources.iter().chain(&self.model.prompts).chain(templates);
        tools.chain(others).for_each(|entry| entry.reset());
        self.model.interactions.reset();
        self.memory.reset(self.model.seed);
    }

    /// What clients see in its lists.
    pub(super) fn lists(&self) -> Lists {
        let tools = self.tools();
        let templates = self.model.templates.iter().map(|(_, entry)| entry);
        Lists {
            tools: shown(tools.iter().map(|tool| &tool.entry)),
            resources: shown(self.model.resources.iter().chain(templates)),
            prompts: shown(self.model.prompts.iter()),
        }
    }

    fn change(&self, work: impl FnOnce(&mut Vec<Arc<Tool>>)) {
        let mut tools = self.tools.write().unwrap_or_else(PoisonError::into_inner);
        work(Arc::make_mut(&mut tools));
    }
}

fn shown<'a>(entries: impl Iterator<Item = &'a Entry>) -> Vec<Value> {
    entries.filter(|entry| entry.is_shown()).map(|entry| entry.listed.clone()).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Weak;

    use super::*;
    use crate::MockServer;

    #[test]
    fn a_script_that_has_gone_is_kept_by_nobody() {
        let script = || MockServer::from_yaml("tools: [{name: a, text: x}]", ".").unwrap();
        let mock = script();
        let before: Vec<Weak<Scene>> = (0..10)
            .map(|_| {
                let now = Arc::downgrade(&mock.server().handler().scene());
                mock.reload(script());
                now
            })
            .collect();
        assert!(before.iter().all(|scene| scene.upgrade().is_none()));
    }
}
