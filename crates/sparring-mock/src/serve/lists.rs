//! Pages of lists, and the visibility of entries.

use std::sync::atomic::Ordering;

use serde_json::{Map, Value};
use sparring_peer::server::{Context, HandlerResult};
use sparring_wire::ErrorObject;

use super::{MockHandler, ScriptState};
use crate::model::{Entry, EntryKind};

impl ScriptState {
    /// Returns one page of a list.
    pub(super) fn page<'a>(
        &self,
        field: &str,
        cursor: Option<&str>,
        entries: impl Iterator<Item = &'a Entry>,
        cx: &Context,
    ) -> HandlerResult {
        let visible: Vec<&Entry> = entries.filter(|entry| entry.is_visible()).collect();
        let start = match cursor {
            None => 0,
            Some(cursor) => cursor
                .parse()
                .ok()
                .filter(|start| *start > 0 && *start < visible.len())
                .ok_or_else(|| ErrorObject::invalid_params(format!("unknown cursor '{cursor}'")))?,
        };
        let size = self.model.page_size.unwrap_or(usize::MAX);
        let page = visible.iter().skip(start).take(size).map(|entry| entry.definition.clone());
        let mut result = Map::from_iter([(field.to_owned(), page.collect())]);
        let end = start.saturating_add(size);
        if end < visible.len() {
            result.insert("nextCursor".to_owned(), end.to_string().into());
        }
        if let Some(cache) = self.model.cache.filter(|_| cx.revision().is_modern()) {
            cache.add_to(&mut result);
        }
        Ok(Value::Object(result).into())
    }
}

impl MockHandler {
    /// Adds an entry to its list or removes it, and notifies clients.
    pub(crate) fn set_visible(&self, kind: EntryKind, id: &str, visible: bool) {
        let script = self.script();
        let (model, tools) = (&script.model, script.tools());
        let entry = match kind {
            EntryKind::Tool => tools.iter().map(|tool| &tool.entry).find(|it| it.id == id),
            EntryKind::Resource => model.resources.iter().find(|entry| entry.id == id),
            EntryKind::Template => {
                model.templates.iter().map(|(_, entry)| entry).find(|entry| entry.id == id)
            }
            EntryKind::Prompt => model.prompts.iter().find(|entry| entry.id == id),
        };
        let changed =
            entry.is_some_and(|it| it.hidden.swap(!visible, Ordering::Relaxed) == visible);
        if changed {
            self.notify(kind.list_changed_method(), None);
        }
    }
}

impl Entry {
    pub(super) fn is_visible(&self) -> bool {
        !self.hidden.load(Ordering::Relaxed)
    }
}
