//! Lists, all their pages, within bounds.

use std::collections::HashSet;

use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use sparring_wire::mirror::Mirrored;
use sparring_wire::types::{Prompt, Resource, ResourceTemplate, Tool};
use sparring_wire::{RawJson, Revision};

use super::{Client, Error};
use crate::link::LinkKind;

impl Client {
    /// All tools; none where the server does not declare tools.
    ///
    /// Over HTTP those are left out that ask for headers which cannot be made
    /// (2026-07-28, server/tools#x-mcp-header); the transcript says why.
    ///
    /// # Errors
    /// When there is no answer, the server refuses, or the list does not end.
    pub async fn list_tools(&self) -> Result<Vec<Tool>, Error> {
        let mut tools: Vec<Tool> = self.list("tools/list", "tools", "tools").await?;
        if self.shared.kind == LinkKind::Streams && self.revision().is_some_and(Revision::is_modern)
        {
            tools.retain(|tool| {
                Mirrored::read(RawJson::from(tool.input_schema.clone()).view()).is_ok()
            });
        }
        Ok(tools)
    }

    /// All resources; none where the server does not declare resources.
    ///
    /// # Errors
    /// When there is no answer, the server refuses, or the list does not end.
    pub async fn list_resources(&self) -> Result<Vec<Resource>, Error> {
        self.list("resources/list", "resources", "resources").await
    }

    /// All resource templates; none where the server does not declare resources.
    ///
    /// # Errors
    /// When there is no answer, the server refuses, or the list does not end.
    pub async fn list_resource_templates(&self) -> Result<Vec<ResourceTemplate>, Error> {
        self.list("resources/templates/list", "resources", "resourceTemplates").await
    }

    /// All prompts; none where the server does not declare prompts.
    ///
    /// # Errors
    /// When there is no answer, the server refuses, or the list does not end.
    pub async fn list_prompts(&self) -> Result<Vec<Prompt>, Error> {
        self.list("prompts/list", "prompts", "prompts").await
    }

    /// Every page of one list.
    async fn list<T: DeserializeOwned>(
        &self,
        method: &'static str,
        capability: &str,
        field: &str,
    ) -> Result<Vec<T>, Error> {
        if self.session().is_some_and(|session| !session.capabilities.has(capability)) {
            return Ok(Vec::new());
        }
        let endless = |reason: String| Error::EndlessList { method: method.to_owned(), reason };
        let unusable = |reason: String| Error::Unusable { method: method.to_owned(), reason };
        let options = &self.shared.options;
        let mut items = Vec::new();
        let mut cursors = HashSet::new();
        let mut cursor: Option<String> = None;
        for _ in 0..options.max_pages {
            let params = cursor.as_ref().map(|cursor| RawJson::from(json!({"cursor": cursor})));
            let mut page: Value = self.request(method, params).await?.to()?;
            let found = page.get_mut(field).map(Value::take);
            let Some(Value::Array(found)) = found else {
                return Err(unusable(format!("{field} is not a list")));
            };
            for (index, item) in found.into_iter().enumerate() {
                let item = serde_json::from_value(item);
                items.push(item.map_err(|error| unusable(format!("{field}[{index}]: {error}")))?);
            }
            if items.len() > options.max_items {
                return Err(endless(format!("more than {} items", options.max_items)));
            }
            let next = match page.get("nextCursor") {
                None => return Ok(items),
                Some(Value::String(next)) => next,
                Some(other) => {
                    return Err(unusable(format!("nextCursor: {other} is not a string")));
                }
            };
            if !cursors.insert(next.clone()) {
                return Err(endless(format!("the cursor {next:?} came twice")));
            }
            cursor = Some(next.clone());
        }
        Err(endless(format!("more than {} pages", options.max_pages)))
    }
}
