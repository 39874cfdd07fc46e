//! What a server lists, in a test: tools, resources, templates and prompts, which
//! can be counted, found and checked.

mod found;
mod tool;

use std::ops::Deref;

use sparring_peer::client::TypedList;
use sparring_wire::types::{Prompt, Resource, ResourceTemplate, Tool};

pub use found::Found;

use crate::scene::Scene;

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
pub type Tools = Listed<Tool>;

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
pub type Resources = Listed<Resource>;

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
pub type ResourceTemplates = Listed<ResourceTemplate>;

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
pub type Prompts = Listed<Prompt>;

/// All items of a list, in the server's order; it dereferences to a slice of
/// them. Tools and prompts go by their names, resources by their URIs, templates
/// by their patterns. A malformed item is left out, and costs none of the others:
/// see [`Listed::malformed`].
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
#[must_use = "a list says nothing until it is checked"]
pub struct Listed<T> {
    list: TypedList<T>,
    scene: Scene,
}

/// Something that a server lists.
///
/// ```
/// # use sparring::{blocking::Wait as _, Client, MockServer, listed::Item};
/// # let mock = MockServer::from_yaml("tools: [{name: now, text: noon}]", ".")?;
/// # let client = Client::in_memory(mock).wait()?;
/// fn undescribed<T: Item>(items: &[T]) -> Vec<&str> {
///     items.iter().filter(|item| item.description().is_none()).map(Item::key).collect()
/// }
/// assert_eq!(undescribed(&client.list_tools().wait()?), ["now"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Item {
    /// What it is, in the protocol's word.
    const KIND: &'static str;

    /// What it goes by.
    fn key(&self) -> &str;

    /// What it says of itself.
    fn description(&self) -> Option<&str>;
}

impl<T: Item> Listed<T> {
    pub(crate) fn new(list: TypedList<T>, scene: Scene) -> Self {
        Listed { list, scene }
    }

    /// The malformed items, which are left out of the list: the place of each, and what is
    /// wrong with it. [`Listed::assert_count`] and [`Listed::assert_names`] fail where there
    /// is one.
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

    /// What the items go by, in the server's order.
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

    /// The item that goes by this name.
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
    /// When there is none; the message lists those there are.
    #[track_caller]
    pub fn find(&self, name: &str) -> Found<'_, T> {
        match self.list.iter().find(|item| item.key() == name) {
            Some(item) => Found::new(item, &self.scene),
            None => self.fail(format_args!("no {} {name:?}{}", T::KIND, self.nearest(name))),
        }
    }

    /// Checks that there is one of this name.
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
    /// When there is none; the message lists those there are.
    #[track_caller]
    pub fn assert_has(&self, name: &str) -> &Self {
        self.find(name);
        self
    }

    /// Checks that there is none of this name.
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
    /// When there is one.
    #[track_caller]
    pub fn assert_lacks(&self, name: &str) -> &Self {
        if self.list.iter().any(|item| item.key() == name) {
            self.fail(format_args!("expected no {} {name:?}, it is there", T::KIND));
        }
        self
    }

    /// Checks how many there are, and that none is malformed.
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
    /// When there are more or fewer, or one is malformed.
    #[track_caller]
    pub fn assert_count(&self, count: usize) -> &Self {
        if self.len() != count || !self.malformed().is_empty() {
            let (kind, found) = (plural::<T>(count), self.len());
            self.fail(format_args!("expected {count} {kind}, found {found}"));
        }
        self
    }

    /// Checks that there are these and no others, in any order, and that none is malformed.
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
    /// When one is missing, there is another, or one is malformed; the message names them.
    #[track_caller]
    pub fn assert_names<'a>(&self, names: impl IntoIterator<Item = &'a str>) -> &Self {
        let names: Vec<&str> = names.into_iter().collect();
        let told = differ(&names, &self.names());
        if told.is_some() || !self.malformed().is_empty() {
            let told = told.map(|told| format!("\n{told}")).unwrap_or_default();
            self.fail(format_args!("other {} than expected{told}", plural::<T>(2)));
        }
        self
    }

    /// `; did you mean "a"?`, where there is one alike.
    fn nearest(&self, name: &str) -> String {
        match sparring_script::nearest(name, self.names()).first() {
            Some(best) => format!("; did you mean {best:?}?"),
            None => String::new(),
        }
    }

    #[track_caller]
    fn fail(&self, what: impl std::fmt::Display) -> ! {
        let malformed = self.list.malformed_summary();
        let malformed = malformed.map(|why| format!("\nmalformed: {why}")).unwrap_or_default();
        self.scene.fail(format_args!("{what}\navailable: {}{malformed}", listed(&self.names())))
    }
}

fn plural<T: Item>(count: usize) -> String {
    format!("{}{}", T::KIND, if count == 1 { "" } else { "s" })
}

/// Names beside each other.
fn listed(names: &[&str]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

/// Which of the names are missing and which are too many; nothing where none is.
fn differ(expected: &[&str], found: &[&str]) -> Option<String> {
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
    let others = (!others.is_empty()).then(|| format!("  not expected: {others}"));
    let told: Vec<String> = missing.into_iter().chain(others).collect();
    (!told.is_empty()).then(|| told.join("\n"))
}

impl<T> Deref for Listed<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.list
    }
}

impl<T> IntoIterator for Listed<T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.into_iter()
    }
}

impl<'a, T> IntoIterator for &'a Listed<T> {
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
