//! A script that is being served: its model and mutable state. After a reload, the old one lives
//! as long as requests use it.

use std::sync::{Arc, PoisonError, RwLock};

use serde_json::Value;

use super::template_state::TemplateState;
use crate::model::{Entry, Model, Tool};

/// A script that is being served.
#[derive(Debug)]
pub(crate) struct ScriptState {
    pub(crate) model: Arc<Model>,
    /// The current tools, including hidden ones.
    tools: RwLock<Arc<Vec<Arc<Tool>>>>,
    pub(super) template_state: TemplateState,
}

/// The entries that clients can list; templates count as resources.
#[derive(Debug, PartialEq)]
pub(super) struct VisibleLists {
    pub(super) tools: Vec<Value>,
    pub(super) resources: Vec<Value>,
    pub(super) prompts: Vec<Value>,
}

impl ScriptState {
    /// Creates the initial state of a script.
    pub(crate) fn new(model: Arc<Model>) -> Self {
        let tools = RwLock::new(Arc::new(model.tools.clone()));
        ScriptState { tools, template_state: TemplateState::new(model.seed), model }
    }

    /// Creates the state of a script that replaces another. Tools registered at run time stay,
    /// and so do enqueued replies of tools that still exist.
    pub(super) fn replacing(model: Arc<Model>, before: &ScriptState) -> Self {
        let script = ScriptState::new(model);
        for old in before.tools().iter() {
            match script.find_tool(&old.entry.id) {
                _ if old.registered_at_runtime => script.put_tool(Arc::clone(old)),
                Some(tool) => tool.entry.queued().append(&mut old.entry.queued()),
                None => {}
            }
        }
        script
    }

    /// The current tools, including hidden ones.
    pub(crate) fn tools(&self) -> Arc<Vec<Arc<Tool>>> {
        Arc::clone(&self.tools.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Finds a visible tool by name.
    pub(super) fn visible_tool(&self, name: &str) -> Option<Arc<Tool>> {
        self.find_tool(name).filter(|tool| tool.entry.is_visible())
    }

    /// Finds a tool by name, even if it is hidden.
    pub(super) fn find_tool(&self, name: &str) -> Option<Arc<Tool>> {
        let tools = self.tools.read().unwrap_or_else(PoisonError::into_inner);
        tools.iter().find(|tool| tool.entry.id == name).cloned()
    }

    /// Counts the tools that clients have registered, without the one with this name.
    pub(super) fn count_client_tools(&self, except: &str) -> usize {
        let tools = self.tools();
        tools.iter().filter(|tool| tool.reserved.is_some() && tool.entry.id != except).count()
    }

    /// Adds a tool or replaces the one with its name.
    pub(super) fn put_tool(&self, tool: Arc<Tool>) {
        self.update_tools(|tools| match tools.iter_mut().find(|it| it.entry.id == tool.entry.id) {
            Some(existing) => *existing = tool,
            None => tools.push(tool),
        });
    }

    /// Removes a tool.
    pub(super) fn remove_tool(&self, name: &str) {
        self.update_tools(|tools| tools.retain(|tool| tool.entry.id != name));
    }

    /// Restores the initial state.
    pub(super) fn reset(&self) {
        self.update_tools(|tools| *tools = self.model.tools.clone());
        let tools = self.model.tools.iter().map(|tool| &tool.entry);
        let templates = self.model.templates.iter().map(|(_, entry)| entry);
        let others = self.model.resources.iter().chain(&self.model.prompts).chain(templates);
        tools.chain(others).for_each(|entry| entry.reset());
        self.model.interactions.reset();
        self.template_state.reset(self.model.seed);
    }

    /// Returns the entries that clients can list.
    pub(super) fn visible_lists(&self) -> VisibleLists {
        let tools = self.tools();
        let templates = self.model.templates.iter().map(|(_, entry)| entry);
        VisibleLists {
            tools: visible_definitions(tools.iter().map(|tool| &tool.entry)),
            resources: visible_definitions(self.model.resources.iter().chain(templates)),
            prompts: visible_definitions(self.model.prompts.iter()),
        }
    }

    fn update_tools(&self, update: impl FnOnce(&mut Vec<Arc<Tool>>)) {
        let mut tools = self.tools.write().unwrap_or_else(PoisonError::into_inner);
        update(Arc::make_mut(&mut tools));
    }
}

fn visible_definitions<'a>(entries: impl Iterator<Item = &'a Entry>) -> Vec<Value> {
    entries.filter(|entry| entry.is_visible()).map(|entry| entry.definition.clone()).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Weak;

    use super::*;
    use crate::MockServer;

    #[test]
    fn a_replaced_script_is_dropped() {
        let script = || MockServer::from_yaml("tools: [{name: a, text: x}]", ".").unwrap();
        let mock = script();
        let before: Vec<Weak<ScriptState>> = (0..10)
            .map(|_| {
                let now = Arc::downgrade(&mock.server().handler().script());
                mock.reload(script());
                now
            })
            .collect();
        assert!(before.iter().all(|script| script.upgrade().is_none()));
    }
}
