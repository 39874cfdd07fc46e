//! Lists, all their pages, within bounds.

use std::collections::HashSet;
use std::ops::Deref;

use serde::de::DeserializeOwned;
use serde_json::json;
use sparring_wire::mirror::Mirrored;
use sparring_wire::types::{Prompt, Resource, ResourceTemplate, Tool};
use sparring_wire::{JsonKind, RawJson, Revision};

use super::{Client, Error};
use crate::link::LinkKind;

/// What a server can list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listing {
    /// Tools.
    Tools,
    /// Resources.
    Resources,
    /// Resource templates.
    ResourceTemplates,
    /// Prompts.
    Prompts,
}

impl Listing {
    /// The method that asks for it.
    pub fn method(self) -> &'static str {
        match self {
            Listing::Tools => "tools/list",
            Listing::Resources => "resources/list",
            Listing::ResourceTemplates => "resources/templates/list",
            Listing::Prompts => "prompts/list",
        }
    }

    /// The capability without which there is no such list.
    pub fn capability(self) -> &'static str {
        match self {
            Listing::Tools => "tools",
            Listing::Resources | Listing::ResourceTemplates => "resources",
            Listing::Prompts => "prompts",
        }
    }

    /// The name of the list in its result.
    pub fn field(self) -> &'static str {
        match self {
            Listing::Tools => "tools",
            Listing::Resources => "resources",
            Listing::ResourceTemplates => "resourceTemplates",
            Listing::Prompts => "prompts",
        }
    }
}

impl Client {
    /// All tools; none where the server does not declare tools.
    ///
    /// Over HTTP those are left out that ask for headers which cannot be made
    /// (2026-07-28, server/tools#x-mcp-header); the transcript says why.
    ///
    /// # Errors
    /// When there is no answer, the server refuses, or the list does not end.
    pub async fn list_tools(&self) -> Result<TypedList<Tool>, Error> {
        let mut tools: TypedList<Tool> = self.list_as(Listing::Tools).await?;
        if self.handle.shared.kind == LinkKind::Streams
            && self.revision().is_some_and(Revision::is_modern)
        {
            tools.items.retain(|tool| {
                Mirrored::read(RawJson::from(tool.input_schema.clone()).view()).is_ok()
            });
        }
        Ok(tools)
    }

    /// All resources; none where the server does not declare resources.
    ///
    /// # Errors
    /// When there is no answer, the server refuses, or the list does not end.
    pub async fn list_resources(&self) -> Result<TypedList<Resource>, Error> {
        self.list_as(Listing::Resources).await
    }

    /// All resource templates; none where the server does not declare resources.
    ///
    /// # Errors
    /// When there is no answer, the server refuses, or the list does not end.
    pub async fn list_resource_templates(&self) -> Result<TypedList<ResourceTemplate>, Error> {
        self.list_as(Listing::ResourceTemplates).await
    }

    /// All prompts; none where the server does not declare prompts.
    ///
    /// # Errors
    /// When there is no answer, the server refuses, or the list does not end.
    pub async fn list_prompts(&self) -> Result<TypedList<Prompt>, Error> {
        self.list_as(Listing::Prompts).await
    }

    /// All items of a list as the server spelled them; none where it does not
    /// declare them.
    ///
    /// # Errors
    /// When there is no answer, the server refuses, or the list does not end.
    pub async fn list(&self, what: Listing) -> Result<Vec<RawJson>, Error> {
        let (method, field) = (what.method(), what.field());
        if self.session().is_some_and(|session| !session.capabilities.has(what.capability())) {
            return Ok(Vec::new());
        }
        let endless = |reason: String| Error::EndlessList { method: method.to_owned(), reason };
        let unusable = |reason: String| Error::Unusable { method: method.to_owned(), reason };
        let options = &self.handle.shared.options;
        let mut items = Vec::new();
        let mut cursors = HashSet::new();
        let mut cursor: Option<String> = None;
        for _ in 0..options.max_pages {
            let params = cursor.as_ref().map(|cursor| RawJson::from(json!({"cursor": cursor})));
            let response = self.request(method, params).await?;
            let page = response.good_result()?;
            let found = page.get(field).filter(|found| found.kind() == JsonKind::Array);
            let found = found.ok_or_else(|| unusable(format!("{field} is not a list")))?;
            items.extend(found.items().map(RawJson::from));
            if items.len() > options.max_items {
                return Err(endless(format!("more than {} items", options.max_items)));
            }
            let Some(next) = page.get("nextCursor") else { return Ok(items) };
            let Some(next) = next.as_str() else {
                return Err(unusable(format!("nextCursor: {next} is not a string")));
            };
            if !cursors.insert(next.to_string()) {
                return Err(endless(format!("the cursor {next:?} came twice")));
            }
            cursor = Some(next.into_owned());
        }
        Err(endless(format!("more than {} pages", options.max_pages)))
    }

    async fn list_as<T: DeserializeOwned>(&self, what: Listing) -> Result<TypedList<T>, Error> {
        Ok(TypedList::read(what, &self.list(what).await?))
    }
}

/// The items of a list by their type; it dereferences to a slice of them.
///
/// An item that its type cannot be read from is left out: it has a member twice that the
/// type names, say, or is an array. One such item must not cost the others, and must not
/// go unnoticed.
#[derive(Debug, Clone, PartialEq)]
pub struct TypedList<T> {
    /// The items, in the server's order.
    pub items: Vec<T>,
    /// One line for each item that was left out: its place in the list, and what is wrong
    /// with it.
    pub malformed: Vec<String>,
}

/// The most malformed items that a summary shows.
const SUMMARIZED: usize = 3;

impl<T: DeserializeOwned> TypedList<T> {
    fn read(what: Listing, items: &[RawJson]) -> Self {
        let mut list = TypedList { items: Vec::with_capacity(items.len()), malformed: Vec::new() };
        for (index, item) in items.iter().enumerate() {
            match item.view().to() {
                Ok(item) => list.items.push(item),
                Err(error) => list.malformed.push(format!("{}[{index}]: {error}", what.field())),
            }
        }
        list
    }
}

impl<T> TypedList<T> {
    /// What was left out, in one line; none where nothing was.
    pub fn malformed_summary(&self) -> Option<String> {
        let mut shown = self.malformed.iter().take(SUMMARIZED).cloned().collect::<Vec<_>>();
        match self.malformed.len().saturating_sub(SUMMARIZED) {
            0 => {}
            more => shown.push(format!("and {more} more")),
        }
        (!shown.is_empty()).then(|| shown.join("; "))
    }
}

impl<T> Deref for TypedList<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.items
    }
}

impl<T> IntoIterator for TypedList<T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.into_iter()
    }
}
