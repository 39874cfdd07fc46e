//! A list of a server's items, and its checks.

use std::ops::Deref;

use sparring_peer::client::TypedList;
use sparring_wire::types::{Prompt, Resource, ResourceTemplate, Tool};

use super::found_item::FoundItem;
use crate::failure_context::FailureContext;

/// All tools of a server.
///
/// ```
/// # use sparring::{blocking::Wait as _, Client, MockServer, Tools};
/// # let mock = MockServer::from_yaml("tools: [{name: now, text: noon}]", ".")?;
/// # let client = Client::in_memory(mock).wait()?;
/// let tools: Tools = client.list_tools().wait()?;
/// tools.assert_tool("now");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type Tools = ItemList<Tool>;

/// All resources of a server.
///
/// ```
/// # use sparring::{blocking::Wait as _, Client, MockServer, Resources};
/// # let mock = MockServer::from_yaml("resources: [{uri: 'memo:1', text: milk}]", ".")?;
/// # let client = Client::in_memory(mock).wait()?;
/// let resources: Resources = client.list_resources().wait()?;
/// resources.assert_has("memo:1");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type Resources = ItemList<Resource>;

/// All resource templates of a server.
///
/// ```
/// # use sparring::{blocking::Wait as _, Client, MockServer, ResourceTemplates};
/// # let mock = MockServer::from_yaml(
/// #     "templates: [{uri_template: 'memo:{id}', text: milk}]",
/// #     ".",
/// # )?;
/// # let client = Client::in_memory(mock).wait()?;
/// let templates: ResourceTemplates = client.list_resource_templates().wait()?;
/// templates.assert_has("memo:{id}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type ResourceTemplates = ItemList<ResourceTemplate>;

/// All prompts of a server.
///
/// ```
/// # use sparring::{blocking::Wait as _, Client, MockServer, Prompts};
/// # let mock = MockServer::from_yaml("prompts: [{name: trip, text: go}]", ".")?;
/// # let client = Client::in_memory(mock).wait()?;
/// let prompts: Prompts = client.list_prompts().wait()?;
/// prompts.assert_has("trip");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type Prompts = ItemList<Prompt>;

/// All items of a list, in the server's order. It dereferences to a slice of them.
/// The key of a tool or prompt is its name, of a resource its URI, of a template its
/// URI template. Malformed items are left out; see [`ItemList::malformed`].
///
/// ```
/// # use sparring::{Client, MockServer};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let mock = MockServer::from_yaml(
/// #     "tools: [{name: weather, description: Weather of a city, input: {city: string}, text: rain}]",
/// #     ".",
/// # )?;
/// let client = Client::in_memory(mock).await?;
/// let tools = client.list_tools().await?;
/// tools.assert_count(1).assert_no_tool("forecast");
/// tools.find_tool("weather").assert_description("city").assert_required(["city"]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
#[must_use = "check the list"]
pub struct ItemList<T> {
    list: TypedList<T>,
    context: FailureContext,
}

/// An item of a list.
///
/// ```
/// # use sparring::{blocking::Wait as _, Client, MockServer, lists::Item};
/// # let mock = MockServer::from_yaml("tools: [{name: now, text: noon}]", ".")?;
/// # let client = Client::in_memory(mock).wait()?;
/// fn undescribed<T: Item>(items: &[T]) -> Vec<&str> {
///     items.iter().filter(|item| item.description().is_none()).map(Item::key).collect()
/// }
/// assert_eq!(undescribed(&client.list_tools().wait()?), ["now"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Item {
    /// The protocol's word for it.
    const KIND: &'static str;

    /// The name, URI or URI template.
    fn key(&self) -> &str;

    /// The description, if it has one.
    fn description(&self) -> Option<&str>;
}

impl<T: Item> ItemList<T> {
    pub(crate) fn new(list: TypedList<T>, context: FailureContext) -> Self {
        ItemList { list, context }
    }

    /// Describes the malformed items, which are not in the list: path and problem of
    /// each. [`ItemList::assert_count`] and [`ItemList::assert_names`] fail if there are any.
    ///
    /// ```
    /// # use sparring::{blocking::Wait as _, Client, MockServer};
    /// # let mock = MockServer::from_yaml("tools: [{name: now, text: noon}]", ".")?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// assert!(client.list_tools().wait()?.malformed().is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn malformed(&self) -> &[String] {
        &self.list.malformed
    }

    /// Returns the keys of the items, in the server's order.
    ///
    /// ```
    /// # use sparring::{blocking::Wait as _, Client, MockServer};
    /// # let mock = MockServer::from_yaml(
    /// #     "tools: [{name: now, text: noon}, {name: copy, text: done}]",
    /// #     ".",
    /// # )?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// assert_eq!(client.list_tools().wait()?.names(), ["now", "copy"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn names(&self) -> Vec<&str> {
        self.list.iter().map(Item::key).collect()
    }

    /// Finds the item with this key.
    ///
    /// ```
    /// # use sparring::{blocking::Wait as _, Client, MockServer};
    /// # let mock = MockServer::from_yaml(
    /// #     "resources: [{uri: 'memo:1', mime_type: text/plain, text: milk}]",
    /// #     ".",
    /// # )?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// let resources = client.list_resources().wait()?;
    /// assert_eq!(resources.find("memo:1").mime_type.as_deref(), Some("text/plain"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// When there is no such item. The message lists the available ones.
    #[track_caller]
    pub fn find(&self, name: &str) -> FoundItem<'_, T> {
        match self.list.iter().find(|item| item.key() == name) {
            Some(item) => FoundItem::new(item, &self.context),
            None => self.fail(format_args!("no {} {name:?}{}", T::KIND, self.suggest_name(name))),
        }
    }

    /// Checks that the list has an item with this key.
    ///
    /// ```
    /// # use sparring::{blocking::Wait as _, Client, MockServer};
    /// # let mock = MockServer::from_yaml("prompts: [{name: trip, text: go}]", ".")?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// client.list_prompts().wait()?.assert_has("trip");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// When there is no such item. The message lists the available ones.
    #[track_caller]
    pub fn assert_has(&self, name: &str) -> &Self {
        self.find(name);
        self
    }

    /// Checks that the list has no item with this key.
    ///
    /// ```
    /// # use sparring::{blocking::Wait as _, Client, MockServer};
    /// # let mock = MockServer::from_yaml("prompts: [{name: trip, text: go}]", ".")?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// client.list_prompts().wait()?.assert_lacks("holiday");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// When the list has one.
    #[track_caller]
    pub fn assert_lacks(&self, name: &str) -> &Self {
        if self.list.iter().any(|item| item.key() == name) {
            self.fail(format_args!("expected no {} {name:?}, but the list has it", T::KIND));
        }
        self
    }

    /// Checks the number of items, and that none is malformed.
    ///
    /// ```
    /// # use sparring::{blocking::Wait as _, Client, MockServer};
    /// # let mock = MockServer::from_yaml(
    /// #     "tools: [{name: now, text: noon}, {name: copy, text: done}]",
    /// #     ".",
    /// # )?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// client.list_tools().wait()?.assert_count(2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// When the number differs, or an item is malformed.
    #[track_caller]
    pub fn assert_count(&self, count: usize) -> &Self {
        if self.len() != count || !self.malformed().is_empty() {
            let (kind, found) = (plural_kind::<T>(count), self.len());
            self.fail(format_args!("expected {count} {kind}, found {found}"));
        }
        self
    }

    /// Checks that the list has exactly these keys, in any order, and that no item is
    /// malformed.
    ///
    /// ```
    /// # use sparring::{Client, MockServer};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let mock = MockServer::from_yaml("resources: [{uri: 'memo:1', text: milk}]", ".")?;
    /// # let client = Client::in_memory(mock).await?;
    /// client.list_resources().await?.assert_names(["memo:1"]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Panics
    /// When a key is missing or unexpected, or an item is malformed. The message names
    /// them.
    #[track_caller]
    pub fn assert_names<'a>(&self, names: impl IntoIterator<Item = &'a str>) -> &Self {
        let names: Vec<&str> = names.into_iter().collect();
        let diff = render_name_diff(&names, &self.names());
        if diff.is_some() || !self.malformed().is_empty() {
            let diff = diff.map(|diff| format!("\n{diff}")).unwrap_or_default();
            self.fail(format_args!("the {} differ{diff}", plural_kind::<T>(2)));
        }
        self
    }

    /// Renders `; did you mean "a"?` if a similar key exists.
    fn suggest_name(&self, name: &str) -> String {
        match sparring_script::nearest_names(name, self.names()).first() {
            Some(best) => format!("; did you mean {best:?}?"),
            None => String::new(),
        }
    }

    #[track_caller]
    fn fail(&self, message: impl std::fmt::Display) -> ! {
        let malformed = self.list.malformed_summary();
        let malformed = malformed.map(|why| format!("\nmalformed: {why}")).unwrap_or_default();
        self.context
            .fail(format_args!("{message}\navailable: {}{malformed}", join_names(&self.names())))
    }
}

fn plural_kind<T: Item>(count: usize) -> String {
    format!("{}{}", T::KIND, if count == 1 { "" } else { "s" })
}

pub(super) fn join_names(names: &[&str]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

/// Renders the missing and the unexpected names; `None` if there are none.
pub(super) fn render_name_diff(expected: &[&str], found: &[&str]) -> Option<String> {
    let without = |names: &[&str], others: &[&str]| {
        let mut others = others.to_vec();
        let mut rest = names.to_vec();
        rest.retain(|name| match others.iter().position(|other| other == name) {
            Some(index) => {
                others.swap_remove(index);
                false
            }
            None => true,
        });
        rest.join(", ")
    };
    let (missing, others) = (without(expected, found), without(found, expected));
    let missing = (!missing.is_empty()).then(|| format!("  missing: {missing}"));
    let others = (!others.is_empty()).then(|| format!("  unexpected: {others}"));
    let lines: Vec<String> = missing.into_iter().chain(others).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

impl<T> Deref for ItemList<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.list
    }
}

impl<T> IntoIterator for ItemList<T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.into_iter()
    }
}

impl<'a, T> IntoIterator for &'a ItemList<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.iter()
    }
}

impl Item for Tool {
    const KIND: &'static str = "tool";

    fn key(&self) -> &str {
        &self.name
    }

    fn description(&self) -> Option<&str> {
        self.description.as_deref()
    }
}

impl Item for Resource {
    const KIND: &'static str = "resource";

    fn key(&self) -> &str {
        &self.uri
    }

    fn description(&self) -> Option<&str> {
        self.description.as_deref()
    }
}

impl Item for ResourceTemplate {
    const KIND: &'static str = "resource template";

    fn key(&self) -> &str {
        &self.uri_template
    }

    fn description(&self) -> Option<&str> {
        self.rest.get("description").and_then(serde_json::Value::as_str)
    }
}

impl Item for Prompt {
    const KIND: &'static str = "prompt";

    fn key(&self) -> &str {
        &self.name
    }

    fn description(&self) -> Option<&str> {
        self.description.as_deref()
    }
}
