//! One item of a list, which can be checked.

use std::ops::Deref;

use serde_json::Value;
use sparring_wire::types::{Prompt, Resource};

use super::{Item, differ, listed};
use crate::Content;
use crate::diff::{self, Extent};
use crate::scene::Scene;

/// A tool, a resource, a template or a prompt that was found. It dereferences to
/// what the server said of it.
///
/// ```
/// # use sparring::{blocking::Wait as _, Client, MockServer};
/// # let mock = MockServer::from_yaml(
/// #     "tools: [{name: weather, description: Weather of a city, text: rain}]",
/// #     ".",
/// # )?;
/// # let client = Client::in_memory(mock).wait()?;
/// let tools = client.list_tools().wait()?;
/// let weather = tools.find("weather");
/// assert_eq!(weather.name, "weather");
/// weather.assert_description("city");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Found<'a, T> {
    item: &'a T,
    scene: &'a Scene,
}

impl<'a, T: Item> Found<'a, T> {
    pub(super) fn new(item: &'a T, scene: &'a Scene) -> Self {
        Found { item, scene }
    }

    /// Checks what its description is like.
    ///
    /// ```
    /// # use sparring::{blocking::Wait as _, Client, MockServer};
    /// # let mock = MockServer::from_yaml(
    /// #     "tools: [{name: weather, description: Weather of a city, text: rain}]",
    /// #     ".",
    /// # )?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// let tools = client.list_tools().wait()?;
    /// tools.find("weather").assert_description("weather of a city");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// When it does not fit, or there is none.
    #[track_caller]
    pub fn assert_description(&self, expected: impl Into<Content>) -> &Self {
        let expected = expected.into();
        let Some(description) = self.item.description() else {
            self.fail(format_args!("expected a description: {expected}\nfound: none"));
        };
        if let Err(mismatch) = expected.matches(description) {
            self.fail(format_args!("the description is another\n{mismatch}"));
        }
        self
    }

    /// Checks that these names are there and no others.
    #[track_caller]
    pub(super) fn expect_names<'n>(
        &self,
        what: &str,
        expected: impl IntoIterator<Item = &'n str>,
        found: &[&str],
    ) -> &Self {
        let expected: Vec<&str> = expected.into_iter().collect();
        if let Some(told) = differ(&expected, found) {
            let found = listed(found);
            self.fail(format_args!("other {what} than expected\n{told}\n{what}: {found}"));
        }
        self
    }

    /// Checks that a value is there, and how it is.
    #[track_caller]
    pub(super) fn expect_value(
        &self,
        what: &str,
        expected: &Value,
        found: Option<&Value>,
        extent: Extent,
    ) -> &Self {
        let Some(found) = found else {
            self.fail(format_args!("expected {what} {}\nfound: none", diff::short(expected)));
        };
        if let Some(told) = diff::values(expected, found, extent) {
            self.fail(format_args!("{what} differs\n{told}\nfound: {}", diff::short(found)));
        }
        self
    }

    #[track_caller]
    pub(super) fn fail(&self, what: impl std::fmt::Display) -> ! {
        self.scene.fail(format_args!("{} {:?}: {what}", T::KIND, self.item.key()))
    }
}

impl Found<'_, Prompt> {
    /// Checks that these arguments must be given, and no others, in any order.
    ///
    /// ```
    /// # use sparring::{blocking::Wait as _, Client, MockServer};
    /// # let mock = MockServer::from_yaml(
    /// #     "prompts: [{name: trip, arguments: [{name: city, required: true}, \
    /// #      {name: day}], text: go}]",
    /// #     ".",
    /// # )?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// client.list_prompts().wait()?.find("trip").assert_required(["city"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// When one is missing, or there is another.
    #[track_caller]
    pub fn assert_required<'n>(&self, names: impl IntoIterator<Item = &'n str>) -> &Self {
        let required = self.arguments.iter().filter(|argument| argument.required);
        let required: Vec<&str> = required.map(|argument| &*argument.name).collect();
        self.expect_names("required arguments", names, &required)
    }

    /// Checks that it takes these arguments and no others, in any order.
    ///
    /// ```
    /// # use sparring::{blocking::Wait as _, Client, MockServer};
    /// # let mock = MockServer::from_yaml(
    /// #     "prompts: [{name: trip, arguments: [{name: city, required: true}, \
    /// #      {name: day}], text: go}]",
    /// #     ".",
    /// # )?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// client.list_prompts().wait()?.find("trip").assert_arguments(["day", "city"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// When one is missing, or there is another.
    #[track_caller]
    pub fn assert_arguments<'n>(&self, names: impl IntoIterator<Item = &'n str>) -> &Self {
        let arguments: Vec<&str> = self.arguments.iter().map(|argument| &*argument.name).collect();
        self.expect_names("arguments", names, &arguments)
    }
}

impl Found<'_, Resource> {
    /// Checks its MIME type.
    ///
    /// ```
    /// # use sparring::{blocking::Wait as _, Client, MockServer};
    /// # let mock = MockServer::from_yaml(
    /// #     "resources: [{uri: 'memo:1', mime_type: text/plain, text: milk}]",
    /// #     ".",
    /// # )?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// client.list_resources().wait()?.find("memo:1").assert_mime_type("text/plain");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// When it is another, or none.
    #[track_caller]
    pub fn assert_mime_type(&self, expected: &str) -> &Self {
        if self.mime_type.as_deref() != Some(expected) {
            let found = self.mime_type.as_deref().unwrap_or("none");
            self.fail(format_args!("expected the MIME type {expected}, found {found}"));
        }
        self
    }
}

impl<T> Deref for Found<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.item
    }
}
