//! The checks of a tool: its arguments, schemas and annotations.

use serde_json::Value;
use sparring_wire::types::Tool;

use super::found_item::FoundItem;
use super::item_list::{ItemList, join_names};
use crate::diff::Comparison;

impl ItemList<Tool> {
    /// Finds the tool with this name.
    ///
    /// ```
    /// # use sparring::{blocking::Wait as _, Client, MockServer};
    /// # let mock = MockServer::from_yaml(
    /// #     "tools: [{name: weather, description: Weather of a city, text: rain}]",
    /// #     ".",
    /// # )?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// let tools = client.list_tools().wait()?;
    /// assert_eq!(tools.find_tool("weather").description.as_deref(), Some("Weather of a city"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// When there is no such tool. The message lists the available ones.
    #[track_caller]
    pub fn find_tool(&self, name: &str) -> FoundItem<'_, Tool> {
        self.find(name)
    }

    /// Checks that the list has a tool with this name.
    ///
    /// ```
    /// # use sparring::{blocking::Wait as _, Client, MockServer};
    /// # let mock = MockServer::from_yaml(
    /// #     "tools: [{name: now, text: noon}, {name: copy, text: done}]",
    /// #     ".",
    /// # )?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// client.list_tools().wait()?.assert_tool("now").assert_tool("copy");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// When there is no such tool. The message lists the available ones.
    #[track_caller]
    pub fn assert_tool(&self, name: &str) -> &Self {
        self.assert_has(name)
    }

    /// Checks that the list has no tool with this name.
    ///
    /// ```
    /// # use sparring::{blocking::Wait as _, Client, MockServer};
    /// # let mock = MockServer::from_yaml("tools: [{name: now, text: noon}]", ".")?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// client.list_tools().wait()?.assert_no_tool("forecast");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// When the list has one.
    #[track_caller]
    pub fn assert_no_tool(&self, name: &str) -> &Self {
        self.assert_lacks(name)
    }
}

impl FoundItem<'_, Tool> {
    /// Checks that exactly these arguments are required, in any order.
    ///
    /// ```
    /// # use sparring::{blocking::Wait as _, Client, MockServer};
    /// # let mock = MockServer::from_yaml(
    /// #     "tools: [{name: weather, input: {city: string, days: \"integer?\"}, \
    /// #      text: rain}]",
    /// #     ".",
    /// # )?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// client.list_tools().wait()?.find_tool("weather").assert_required(["city"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// When a name is missing or unexpected.
    #[track_caller]
    pub fn assert_required<'n>(&self, names: impl IntoIterator<Item = &'n str>) -> &Self {
        self.expect_names("required arguments", names, &self.required())
    }

    /// Checks that these arguments are required; others may be required as well.
    ///
    /// ```
    /// # use sparring::{blocking::Wait as _, Client, MockServer};
    /// # let mock = MockServer::from_yaml(
    /// #     "tools: [{name: weather, input: {city: string, days: integer}, text: rain}]",
    /// #     ".",
    /// # )?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// client.list_tools().wait()?.find_tool("weather").assert_required_includes(["city"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// When one is not required.
    #[track_caller]
    pub fn assert_required_includes<'n>(&self, names: impl IntoIterator<Item = &'n str>) -> &Self {
        let required = self.required();
        let mut missing = names.into_iter().filter(|name| !required.contains(name));
        if let Some(missing) = missing.next() {
            let required = join_names(&required);
            self.fail(format_args!(
                "argument {missing:?} is not required\nrequired arguments: {required}"
            ));
        }
        self
    }

    /// Checks that it has an argument of this name and JSON Schema type.
    ///
    /// ```
    /// # use sparring::{blocking::Wait as _, Client, MockServer};
    /// # let mock = MockServer::from_yaml(
    /// #     "tools: [{name: weather, input: {city: string, days: \"integer?\"}, \
    /// #      text: rain}]",
    /// #     ".",
    /// # )?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// let tools = client.list_tools().wait()?;
    /// let weather = tools.find_tool("weather");
    /// weather.assert_argument("city", "string").assert_argument("days", "integer");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// When it has no such argument, or the type differs.
    #[track_caller]
    pub fn assert_argument(&self, name: &str, kind: &str) -> &Self {
        let arguments = self.input_schema.get("properties").and_then(Value::as_object);
        let Some(schema) = arguments.and_then(|arguments| arguments.get(name)) else {
            let names: Vec<&str> =
                arguments.into_iter().flatten().map(|(name, _)| &**name).collect();
            self.fail(format_args!("no argument {name:?}\narguments: {}", join_names(&names)));
        };
        let found = schema.get("type");
        let fits = match found {
            Some(Value::String(one)) => one == kind,
            Some(Value::Array(several)) => several.iter().any(|one| one == kind),
            _ => false,
        };
        if !fits {
            let found = found.map_or("no type".to_owned(), ToString::to_string);
            self.fail(format_args!("expected argument {name:?} of type {kind:?}\nfound: {found}"));
        }
        self
    }

    /// Checks the whole input schema.
    ///
    /// ```
    /// # use sparring::{blocking::Wait as _, Client, MockServer};
    /// # use serde_json::json;
    /// # let mock = MockServer::from_yaml(
    /// #     "tools: [{name: weather, input_schema: {type: object, \
    /// #      properties: {city: {type: string}}}, text: rain}]",
    /// #     ".",
    /// # )?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}});
    /// client.list_tools().wait()?.find_tool("weather").assert_input_schema(schema);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// When it differs. The message lists the paths.
    #[track_caller]
    pub fn assert_input_schema(&self, expected: Value) -> &Self {
        self.expect_value(
            "the input schema",
            &expected,
            Some(&self.input_schema),
            Comparison::Exact,
        )
    }

    /// Checks the whole output schema.
    ///
    /// ```
    /// # use sparring::{blocking::Wait as _, Client, MockServer};
    /// # use serde_json::json;
    /// # let mock = MockServer::from_yaml(
    /// #     "tools: [{name: weather, output_schema: {type: object, \
    /// #      properties: {city: {type: string}}}, structured: {city: Oslo}}]",
    /// #     ".",
    /// # )?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}});
    /// client.list_tools().wait()?.find_tool("weather").assert_output_schema(schema);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// When it differs, or the tool has none. The message lists the paths.
    #[track_caller]
    pub fn assert_output_schema(&self, expected: Value) -> &Self {
        let found = self.output_schema.as_ref();
        self.expect_value("the output schema", &expected, found, Comparison::Exact)
    }

    /// Checks that the tool has these annotations; it may have others as well.
    ///
    /// ```
    /// # use sparring::{Client, MockServer};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let mock = MockServer::from_yaml(
    /// #     "tools: [{name: now, annotations: {read_only_hint: true}, text: noon}]",
    /// #     ".",
    /// # )?;
    /// # let client = Client::in_memory(mock).await?;
    /// let tools = client.list_tools().await?;
    /// tools.find_tool("now").assert_annotations(serde_json::json!({"readOnlyHint": true}));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Panics
    /// When one differs or is missing.
    #[track_caller]
    pub fn assert_annotations(&self, expected: Value) -> &Self {
        let found = self.rest.get("annotations");
        self.expect_value("annotations", &expected, found, Comparison::Subset)
    }

    /// Returns the names of the required arguments.
    fn required(&self) -> Vec<&str> {
        let names = self.input_schema.get("required").and_then(Value::as_array);
        names.into_iter().flatten().filter_map(Value::as_str).collect()
    }
}
