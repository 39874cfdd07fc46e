//! Lists, page by page, and what is in them.

use std::sync::atomic::Ordering;

use serde_json::{Map, Value};
use sparring_peer::server::{Answer, Context};
use sparring_wire::ErrorObject;

use super::{Mock, Scene};
use crate::model::{Entry, Kind};

impl Scene {
    /// One page of a list.
    pub(super) fn page<'a>(
        &self,
        field: &str,
        cursor: Option<&str>,
        entries: impl Iterator<Item = &'a Entry>,
        cx: &Context,
    ) -> Answer {
        self.page_of(field, cursor, entries.filter(|entry| entry.is_shown()).collect(), cx)
    }

    fn page_of(
        &self,
        field: &str,
        cursor: Option<&str>,
        shown: Vec<&Entry>,
        cx: &Context,
    ) -> Answer {
        let start = match cursor {
            None => 0,
            Some(cursor) => {
                cursor.parse().ok().filter(|start| *start > 0 && *start < shown.len()).ok_or_else(
                    || ErrorObject::invalid_params(format!("unknown cursor '{cursor}'")),
                )?
            }
        };
        let size = self.model.page_size.unwrap_or(usize::MAX);
        let page = shown.iter().skip(start).take(size).map(|entry| entry.listed.clone());
        let mut result = Map::from_iter([(field.to_owned(), page.collect())]);
        let end = start.saturating_add(size);
        if end < shown.len() {
            result.insert("nextCursor".to_owned(), end.to_string().into());
        }
        if let Some(cache) = self.model.cache.filter(|_| cx.revision().is_modern()) {
            cache.add_to(&mut result);
        }
        Ok(Value::Object(result).into())
    }
}

impl Mock {
    /// Puts an entry into its list or takes it out; who wants to know is told.
    pub(crate) fn set_shown(&self, kind: Kind, id: &str, shown: bool) {
        let scene = self.scene();
        let (model, tools) = (&scene.model, scene.tools());
        let entry = match kind {
            Kind::Tool => tools.iter().map(|tool| &tool.entry).find(|it| it.id == id),
            Kind::Resource => model.resources.iter().find(|entry| entry.id == id),
            Kind::Template => {
                model.templates.iter().map(|(_, entry)| entry).find(|entry| entry.id == id)
            }
            Kind::Prompt => model.prompts.iter().find(|entry| entry.id == id),
        };
        let changed = entry.is_some_and(|it| it.hidden.swap(!shown, Ordering::Relaxed) == shown);
        if changed {
            self.tell(kind.changed(), None);
        }
    }
}

impl Entry {
    pub(super) fn is_shown(&self) -> bool {
        !self.hidden.load(Ordering::Relaxed)
    }
}
