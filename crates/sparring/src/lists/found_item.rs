//! One item of a list, and its checks.

use std::ops::Deref;

use serde_json::Value;
use sparring_wire::types::{Prompt, Resource};

use super::item_list::{Item, join_names, render_name_diff};
use crate::Content;
use crate::diff::{self, Comparison};
use crate::failure_context::FailureContext;

/// A tool, resource, template or prompt of a list. It dereferences to the item as the
/// server sent it.
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
pub struct FoundItem<'a, T> {
    item: &'a T,
    context: &'a FailureContext,
}

impl<'a, T: Item> FoundItem<'a, T> {
    pub(super) fn new(item: &'a T, context: &'a FailureContext) -> Self {
        FoundItem { item, context }
    }

    /// Checks the description.
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
    /// When it does not match, or the item has none.
    #[track_caller]
    pub fn assert_description(&self, expected: impl Into<Content>) -> &Self {
        let expected = expected.into();
        let Some(description) = self.item.description() else {
            self.fail(format_args!("expected a description: {expected}\nfound: none"));
        };
        if let Err(mismatch) = expected.matches(description) {
            self.fail(format_args!("the description differs\n{mismatch}"));
        }
        self
    }

    /// Checks that there are exactly these names.
    #[track_caller]
    pub(super) fn expect_names<'n>(
        &self,
        what: &str,
        expected: impl IntoIterator<Item = &'n str>,
        found: &[&str],
    ) -> &Self {
        let expected: Vec<&str> = expected.into_iter().collect();
        if let Some(diff) = render_name_diff(&expected, found) {
            let found = join_names(found);
            self.fail(format_args!("the {what} differ\n{diff}\n{what}: {found}"));
        }
        self
    }

    /// Checks that there is a value, and compares it.
    #[track_caller]
    pub(super) fn expect_value(
        &self,
        what: &str,
        expected: &Value,
        found: Option<&Value>,
        comparison: Comparison,
    ) -> &Self {
        let Some(found) = found else {
            self.fail(format_args!(
                "expected {what} {}\nfound: none",
                diff::render_short(expected)
            ));
        };
        if let Some(differences) = diff::render_json_diff(expected, found, comparison) {
            self.fail(format_args!(
                "{what} differs\n{differences}\nfound: {}",
                diff::render_short(found)
            ));
        }
        self
    }

    #[track_caller]
    pub(super) fn fail(&self, message: impl std::fmt::Display) -> ! {
        self.context.fail(format_args!("{} {:?}: {message}", T::KIND, self.item.key()))
    }
}

impl FoundItem<'_, Prompt> {
    /// Checks that exactly these arguments are required, in any order.
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
    /// When a name is missing or unexpected.
    #[track_caller]
    pub fn assert_required<'n>(&self, names: impl IntoIterator<Item = &'n str>) -> &Self {
        let required = self.arguments.iter().filter(|argument| argument.required);
        let required: Vec<&str> = required.map(|argument| &*argument.name).collect();
        self.expect_names("required arguments", names, &required)
    }

    /// Checks that it has exactly these arguments, in any order.
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
    /// When a name is missing or unexpected.
    #[track_caller]
    pub fn assert_arguments<'n>(&self, names: impl IntoIterator<Item = &'n str>) -> &Self {
        let arguments: Vec<&str> = self.arguments.iter().map(|argument| &*argument.name).collect();
        self.expect_names("arguments", names, &arguments)
    }
}

impl FoundItem<'_, Resource> {
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
    /// When it differs, or the resource has none.
    #[track_caller]
    pub fn assert_mime_type(&self, expected: &str) -> &Self {
        if self.mime_type.as_deref() != Some(expected) {
            let found = self.mime_type.as_deref().unwrap_or("none");
            self.fail(format_args!("expected MIME type {expected}, found {found}"));
        }
        self
    }
}

impl<T> Deref for FoundItem<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.item
    }
}
