//! The tools, one file each. Arguments and answers are Rust types, and the schemas that
//! clients see are generated from them.

mod arguments;
mod get;
mod instruction_summary;
mod route;
mod search;
mod switch;

use std::sync::Arc;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use sparring::types::{CallToolResult, Tool};
use sparring_script::Schema;

use crate::library::Library;
use crate::server::ServerState;

/// A tool.
trait ToolDefinition {
    /// The name that clients call.
    const NAME: &'static str;
    /// The title for people.
    const TITLE: &'static str;
    /// The description for models.
    const DESCRIPTION: &'static str;
    /// True if the tool changes nothing.
    const READS_ONLY: bool = true;
    /// The arguments.
    type Arguments: DeserializeOwned + JsonSchema;
    /// The structured result.
    type Answer: Serialize + JsonSchema;

    /// Runs the tool. An `Err` becomes a tool error with this text.
    fn answer(
        arguments: Self::Arguments,
        library: &Library,
        state: &ServerState,
    ) -> Result<Self::Answer, String>;

    /// The answer as a text.
    fn text(answer: &Self::Answer) -> String;
}

/// A tool that can be called.
pub struct Entry {
    /// The definition in the list of tools.
    pub definition: Tool,
    input_schema: Schema,
    call: fn(Value, &Library, &ServerState) -> Result<CallToolResult, String>,
}

/// All tools, in the order of the list.
pub fn all() -> Vec<Entry> {
    vec![
        entry::<route::Route>(),
        entry::<get::Get>(),
        entry::<search::Search>(),
        entry::<switch::Switch>(),
    ]
}

impl Entry {
    /// Calls the tool. Wrong arguments become a tool error that names them.
    pub fn call(&self, arguments: &Value, state: &ServerState) -> CallToolResult {
        let library: Arc<Library> = state.library();
        let done = arguments::check(&self.input_schema, &self.definition.input_schema, arguments)
            .and_then(|()| (self.call)(arguments.clone(), &library, state));
        done.unwrap_or_else(|why| {
            CallToolResult::failure(format!("{}: {why}", self.definition.name))
        })
    }
}

fn entry<T: ToolDefinition>() -> Entry {
    let mut definition =
        Tool::new(T::NAME).described(T::DESCRIPTION).taking(schema::<T::Arguments>());
    definition.output_schema = Some(schema::<T::Answer>());
    definition.rest.insert("title".to_owned(), T::TITLE.into());
    let hints = match T::READS_ONLY {
        true => json!({"readOnlyHint": true, "openWorldHint": false}),
        false => json!({
            "readOnlyHint": false, "destructiveHint": false,
            "idempotentHint": true, "openWorldHint": false
        }),
    };
    definition.rest.insert("annotations".to_owned(), hints);
    let input_schema =
        Schema::new(&definition.input_schema).expect("schemars generates a valid schema");
    Entry { definition, input_schema, call: call::<T> }
}

fn call<T: ToolDefinition>(
    arguments: Value,
    library: &Library,
    state: &ServerState,
) -> Result<CallToolResult, String> {
    let arguments = serde_json::from_value(arguments).map_err(|error| error.to_string())?;
    let answer = T::answer(arguments, library, state)?;
    let mut result = CallToolResult::text(T::text(&answer));
    result.structured_content =
        Some(serde_json::to_value(&answer).map_err(|error| error.to_string())?);
    Ok(result)
}

/// The JSON Schema of a type, without its title.
fn schema<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    schema.remove("title");
    schema.to_value()
}
