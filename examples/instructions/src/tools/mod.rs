//! The tools, one file each: what is asked, what is answered, and how that reads.
//! Both are Rust types, and the schemas that clients see are made from these.

mod arguments;
mod get;
mod route;
mod search;
mod shown;
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
use crate::server::Desk;

/// What a tool is.
trait Answering {
    /// What it is called by.
    const NAME: &'static str;
    /// What it is called for people.
    const TITLE: &'static str;
    /// What it does, for a model.
    const DESCRIPTION: &'static str;
    /// Whether it changes nothing.
    const READS_ONLY: bool = true;
    /// What it takes.
    type Arguments: DeserializeOwned + JsonSchema;
    /// What it gives.
    type Answer: Serialize + JsonSchema;

    /// Does it. An `Err` is what the caller is told instead of an answer.
    fn answer(
        arguments: Self::Arguments,
        library: &Library,
        desk: &Desk,
    ) -> Result<Self::Answer, String>;

    /// The answer as a text.
    fn text(answer: &Self::Answer) -> String;
}

/// A tool that can be called.
pub struct Entry {
    /// As it is listed.
    pub listed: Tool,
    takes: Schema,
    call: fn(Value, &Library, &Desk) -> Result<CallToolResult, String>,
}

/// All tools, in the order in which they are listed.
pub fn all() -> Vec<Entry> {
    vec![
        entry::<route::Route>(),
        entry::<get::Get>(),
        entry::<search::Search>(),
        entry::<switch::Switch>(),
    ]
}

impl Entry {
    /// Calls it. Whatever is wrong with the arguments is a failure that names them.
    pub fn call(&self, arguments: &Value, desk: &Desk) -> CallToolResult {
        let library: Arc<Library> = desk.library();
        let done = arguments::check(&self.takes, &self.listed.input_schema, arguments)
            .and_then(|()| (self.call)(arguments.clone(), &library, desk));
        done.unwrap_or_else(|why| CallToolResult::failure(format!("{}: {why}", self.listed.name)))
    }
}

fn entry<T: Answering>() -> Entry {
    let mut listed = Tool::new(T::NAME).described(T::DESCRIPTION).taking(schema::<T::Arguments>());
    listed.output_schema = Some(schema::<T::Answer>());
    listed.rest.insert("title".to_owned(), T::TITLE.into());
    let hints = match T::READS_ONLY {
        true => json!({"readOnlyHint": true, "openWorldHint": false}),
        false => json!({
            "readOnlyHint": false, "destructiveHint": false,
            "idempotentHint": true, "openWorldHint": false
        }),
    };
    listed.rest.insert("annotations".to_owned(), hints);
    let takes =
        Schema::new(&listed.input_schema).expect("what schemars makes of a Rust type is a schema");
    Entry { listed, takes, call: call::<T> }
}

fn call<T: Answering>(
    arguments: Value,
    library: &Library,
    desk: &Desk,
) -> Result<CallToolResult, String> {
    let arguments = serde_json::from_value(arguments).map_err(|error| error.to_string())?;
    let answer = T::answer(arguments, library, desk)?;
    let mut result = CallToolResult::text(T::text(&answer));
    result.structured_content =
        Some(serde_json::to_value(&answer).map_err(|error| error.to_string())?);
    Ok(result)
}

/// The schema of a type, with everything in its place.
fn schema<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    schema.remove("title");
    schema.to_value()
}
