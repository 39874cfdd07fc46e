//! What is changed while a mock serves: tools come and go, replies are given in
//! advance, everything begins anew.

use std::sync::{Arc, PoisonError};

use serde_json::Value;
use sparring_script::{Problems, did_you_mean};

use super::Mock;
use crate::load::{load_reply, load_tool};
use crate::model::{Kind, Tool};

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

impl Mock {
    /// The tools that there are now, hidden ones included.
    pub(crate) fn tools(&self) -> Arc<Vec<Arc<Tool>>> {
        Arc::clone(&self.tools.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// The tool of that name, if it is in the list.
    pub(crate) fn tool(&self, name: &str) -> Option<Arc<Tool>> {
        let tools = self.tools.read().unwrap_or_else(PoisonError::into_inner);
        tools.iter().find(|tool| tool.entry.id == name && tool.entry.is_shown()).cloned()
    }

    /// Adds a tool, or puts it in the place of one that has its name.
    pub(crate) fn register(&self, tool: &Value) -> Result<(), ChangeError> {
        let tool = Arc::new(load_tool(tool, &self.model, self.names())?);
        self.change(|tools| match tools.iter_mut().find(|it| it.entry.id == tool.entry.id) {
            Some(known) => *known = tool,
            None => tools.push(tool),
        });
        self.tell(Kind::Tool.changed(), None);
        Ok(())
    }

    /// Takes a tool away.
    pub(crate) fn remove(&self, name: &str) -> Result<(), ChangeError> {
        if !self.tools().iter().any(|tool| tool.entry.id == name) {
            return Err(self.no_tool(name));
        }
        self.change(|tools| tools.retain(|tool| tool.entry.id != name));
        self.tell(Kind::Tool.changed(), None);
        Ok(())
    }

    /// Gives a tool a reply for its next call, before all others.
    pub(crate) fn enqueue(&self, tool: &str, reply: &Value) -> Result<(), ChangeError> {
        let tools = self.tools();
        let found =
            tools.iter().find(|it| it.entry.id == tool).ok_or_else(|| self.no_tool(tool))?;
        let reply = Arc::new(load_reply(reply, &self.model, self.names())?);
        let mut queued = found.entry.queued();
        if queued.len() >= MOST {
            return Err(ChangeError::TooMany(MOST, tool.to_owned()));
        }
        queued.push_back(reply);
        Ok(())
    }

    /// Makes everything as it was at first, and forgets what came in.
    pub(crate) fn reset(&self) {
        self.change(|tools| *tools = self.model.tools.clone());
        let tools = self.model.tools.iter().map(|tool| &tool.entry);
        let templates = self.model.templates.iter().map(|(_, entry)| entry);
        let others = self.model.resources.iter().chain(&self.model.prompts).chain(templates);
        tools.chain(others).for_each(|entry| entry.reset());
        self.model.interactions.reset();
        self.memory.reset(self.model.seed);
        self.pending.clear();
        self.journal.clear();
        if let Some(issuer) = &self.model.issuer {
            issuer.reset();
        }
        for kind in [Kind::Tool, Kind::Resource, Kind::Prompt] {
            self.tell(kind.changed(), None);
        }
    }

    fn change(&self, work: impl FnOnce(&mut Vec<Arc<Tool>>)) {
        let mut tools = self.tools.write().unwrap_or_else(PoisonError::into_inner);
        work(Arc::make_mut(&mut tools));
    }

    fn names(&self) -> Vec<String> {
        self.tools().iter().map(|tool| tool.entry.id.clone()).collect()
    }

    fn no_tool(&self, name: &str) -> ChangeError {
        let names = self.names();
        let meant = did_you_mean(name, names.iter().map(String::as_str));
        let meant = meant.map(|meant| format!("; {meant}")).unwrap_or_default();
        ChangeError::NoTool(format!("Tool '{name}' not found{meant}"))
    }
}
