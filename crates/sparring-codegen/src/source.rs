//! What a module is made from, and how: tools as a server lists them.

use serde_json::Value;

use crate::boxes;
use crate::model::{Method, Module};
use crate::names::{KNOWN_TYPES, Names, all_snake, camel, snake};
use crate::schema::Reader;
use crate::write;

/// A server and its tools.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// What the server calls itself.
    pub server: &'a str,
    /// Its version; nothing where it says none.
    pub version: &'a str,
    /// What the module's client is called, where that is not to be made from
    /// the server's name: a [type's name](crate::is_type_name).
    pub name: Option<&'a str>,
    /// The flags that the same module is made by again, beside the target.
    pub flags: &'a str,
    /// The tools as the server lists them, in any order.
    pub tools: &'a [Value],
}

/// A tool that no method can be made of.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("tool '{tool}': {}{reason}", at(pointer))]
pub struct Unusable {
    /// The tool's name, or which one of the list it is.
    pub tool: String,
    /// Where in the tool, as a JSON pointer; empty for the whole.
    pub pointer: String,
    /// What is wrong there.
    pub reason: String,
}

fn at(pointer: &str) -> String {
    match pointer {
        "" => String::new(),
        pointer => format!("{pointer}: "),
    }
}

/// The module's text. It is the same for the same tools, in whichever order
/// these are, and in whichever order the members of their schemas.
///
/// # Errors
/// When a tool has no name, or another's, or a schema that cannot be read.
pub fn module(source: &Source<'_>) -> Result<String, Unusable> {
    let mut tools = named(source.tools)?;
    tools.sort_by_key(|(name, _)| *name);
    if let Some(twice) = tools.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        let (tool, reason) = (twice[0].0.to_owned(), "it is listed twice".to_owned());
        return Err(Unusable { tool, pointer: String::new(), reason });
    }
    let client = match source.name {
        Some(name) => name.to_owned(),
        None => client_name(source.server),
    };
    let mut types = Vec::new();
    let mut type_names = Names::without(&KNOWN_TYPES);
    let client = type_names.take(&client);
    let tool_names: Vec<&str> = tools.iter().map(|(tool, _)| *tool).collect();
    let method_names = all_snake(&tool_names, "tool");
    let mut methods = Vec::new();
    for ((tool, listed), name) in tools.into_iter().zip(method_names) {
        let first = types.len();
        // Method and types have the same number, where they need one.
        let own = if name == snake(tool, "tool") { tool } else { &name };
        let reader = Reader::new(tool, camel(own, "Tool"), &mut types, &mut type_names);
        let (arguments, output) = reader.read(listed)?;
        let text = |name: &str| listed.get(name).and_then(Value::as_str).map(str::to_owned);
        methods.push(Method {
            tool: tool.to_owned(),
            name,
            description: text("description").or_else(|| text("title")),
            arguments,
            output,
            types: first..types.len(),
        });
    }
    boxes::put(&mut types);
    Ok(write::module(source, &client, &Module { types, methods }))
}

/// What a client is called whose server is called so: the last part of a path.
fn client_name(server: &str) -> String {
    let last = server.rsplit('/').find(|part| !part.is_empty()).unwrap_or_default();
    let name = camel(last, "Server");
    let name: String = name.chars().take(40).collect();
    format!("{name}Client")
}

fn named(tools: &[Value]) -> Result<Vec<(&str, &Value)>, Unusable> {
    let named = tools.iter().enumerate().map(|(index, tool)| match tool["name"].as_str() {
        Some(name) => Ok((name, tool)),
        None => Err(Unusable {
            tool: format!("tools[{index}]"),
            pointer: "/name".to_owned(),
            reason: "it has no name".to_owned(),
        }),
    });
    named.collect()
}
