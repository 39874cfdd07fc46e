//! Lists of a server, with all their pages, within limits.

use std::collections::HashSet;
use std::ops::Deref;

use serde::de::DeserializeOwned;
use serde_json::json;
use sparring_wire::mirrored_headers::MirroredArguments;
use sparring_wire::types::{Prompt, Resource, ResourceTemplate, Tool};
use sparring_wire::{JsonKind, RawJson, Revision};

use super::list_bytes::MAX_TOTAL_BYTES;
use super::{Client, Error};
use crate::link::LinkKind;

/// A kind of list that a server offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListKind {
    /// Tools.
    Tools,
    /// Resources.
    Resources,
    /// Resource templates.
    ResourceTemplates,
    /// Prompts.
    Prompts,
}

impl ListKind {
    /// Returns the method that lists it.
    pub fn method(self) -> &'static str {
        match self {
            ListKind::Tools => "tools/list",
            ListKind::Resources => "resources/list",
            ListKind::ResourceTemplates => "resources/templates/list",
            ListKind::Prompts => "prompts/list",
        }
    }

    /// Returns the capability that a server with such a list declares.
    pub fn capability(self) -> &'static str {
        match self {
            ListKind::Tools => "tools",
            ListKind::Resources | ListKind::ResourceTemplates => "resources",
            ListKind::Prompts => "prompts",
        }
    }

    /// Returns the member of the result that holds the list.
    pub fn field(self) -> &'static str {
        match self {
            ListKind::Tools => "tools",
            ListKind::Resources => "resources",
            ListKind::ResourceTemplates => "resourceTemplates",
            ListKind::Prompts => "prompts",
        }
    }
}

impl Client {
    /// Lists all tools; none if the server does not declare tools.
    ///
    /// Over HTTP the list lacks tools that ask for impossible headers
    /// (2026-07-28, server/tools#x-mcp-header). The transcript has the reason.
    ///
    /// # Errors
    /// If the request fails, or the list exceeds a limit.
    pub async fn list_tools(&self) -> Result<TypedList<Tool>, Error> {
        let mut tools: TypedList<Tool> = self.list_as(ListKind::Tools).await?;
        if self.handle.shared.kind == LinkKind::Streams
            && self.revision().is_some_and(Revision::is_modern)
        {
            tools.items.retain(|tool| {
                MirroredArguments::from_schema(RawJson::from(tool.input_schema.clone()).view())
                    .is_ok()
            });
        }
        Ok(tools)
    }

    /// Lists all resources; none if the server does not declare resources.
    ///
    /// # Errors
    /// If the request fails, or the list exceeds a limit.
    pub async fn list_resources(&self) -> Result<TypedList<Resource>, Error> {
        self.list_as(ListKind::Resources).await
    }

    /// Lists all resource templates; none if the server does not declare
    /// resources.
    ///
    /// # Errors
    /// If the request fails, or the list exceeds a limit.
    pub async fn list_resource_templates(&self) -> Result<TypedList<ResourceTemplate>, Error> {
        self.list_as(ListKind::ResourceTemplates).await
    }

    /// Lists all prompts; none if the server does not declare prompts.
    ///
    /// # Errors
    /// If the request fails, or the list exceeds a limit.
    pub async fn list_prompts(&self) -> Result<TypedList<Prompt>, Error> {
        self.list_as(ListKind::Prompts).await
    }

    /// Lists all items as the server wrote them; none if the server does not
    /// declare the capability.
    ///
    /// # Errors
    /// If the request fails, or the list exceeds a limit.
    pub async fn list(&self, what: ListKind) -> Result<Vec<RawJson>, Error> {
        let (method, field) = (what.method(), what.field());
        if self.session().is_some_and(|session| !session.capabilities.has(what.capability())) {
            return Ok(Vec::new());
        }
        let endless = |reason: String| Error::EndlessList { method: method.to_owned(), reason };
        let unusable = |reason: String| Error::InvalidResult { method: method.to_owned(), reason };
        let options = &self.handle.shared.options;
        let (mut items, mut bytes) = (Vec::new(), 0);
        let mut fetched = self.handle.shared.list_bytes.fetch();
        let mut cursors = HashSet::new();
        let mut cursor: Option<String> = None;
        for _ in 0..options.max_pages {
            let params = cursor.as_ref().map(|cursor| RawJson::from(json!({"cursor": cursor})));
            let response = self.request(method, params).await?;
            let page = response.require_result()?;
            let found = page.get(field).filter(|found| found.kind() == JsonKind::Array);
            let found = found.ok_or_else(|| unusable(format!("`{field}` is not an array")))?;
            bytes += page.bytes().len();
            if bytes > options.max_list_bytes {
                return Err(endless(format!("more than {} bytes", options.max_list_bytes)));
            }
            if !fetched.add(page.bytes().len()) {
                let limit = MAX_TOTAL_BYTES;
                return Err(Error::ListsTooLarge { method: method.to_owned(), limit });
            }
            for item in found.items() {
                if items.len() >= options.max_items {
                    return Err(endless(format!("more than {} items", options.max_items)));
                }
                items.push(RawJson::from(item));
            }
            let Some(next) = page.get("nextCursor") else {
                fetched.keep(what);
                return Ok(items);
            };
            let Some(next) = next.as_str() else {
                return Err(unusable(format!("nextCursor: {next} is not a string")));
            };
            if !cursors.insert(next.to_string()) {
                return Err(endless(format!("cursor {next:?} repeats")));
            }
            cursor = Some(next.into_owned());
        }
        Err(endless(format!("more than {} pages", options.max_pages)))
    }

    async fn list_as<T: DeserializeOwned>(&self, what: ListKind) -> Result<TypedList<T>, Error> {
        Ok(TypedList::parse(what, &self.list(what).await?))
    }
}

/// The typed items of a list. Dereferences to a slice of them.
///
/// Items that do not fit the type are left out, such as an array or an object
/// with a duplicate member. One such item must not make the others unusable, and
/// must not go unnoticed.
#[derive(Debug, Clone, PartialEq)]
pub struct TypedList<T> {
    /// The items, in the server's order.
    pub items: Vec<T>,
    /// One line for each item that was left out: its index in the list, and the
    /// error.
    pub malformed: Vec<String>,
}

/// The number of malformed items in a summary.
const MAX_SUMMARIZED: usize = 3;

impl<T: DeserializeOwned> TypedList<T> {
    fn parse(what: ListKind, items: &[RawJson]) -> Self {
        let mut list = TypedList { items: Vec::with_capacity(items.len()), malformed: Vec::new() };
        for (index, item) in items.iter().enumerate() {
            match item.view().deserialize() {
                Ok(item) => list.items.push(item),
                Err(error) => list.malformed.push(format!("{}[{index}]: {error}", what.field())),
            }
        }
        list
    }
}

impl<T> TypedList<T> {
    /// Describes the malformed items in one line, if there are any.
    pub fn malformed_summary(&self) -> Option<String> {
        let mut shown = self.malformed.iter().take(MAX_SUMMARIZED).cloned().collect::<Vec<_>>();
        match self.malformed.len().saturating_sub(MAX_SUMMARIZED) {
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
