//! Generates a module from the tools of a server.

use serde_json::Value;

use crate::model::{Method, Module};
use crate::names::{NameAllocator, RESERVED_TYPES, camel_name, snake_name, unique_snake_names};
use crate::recursive_types;
use crate::render;
use crate::schema::SchemaReader;

/// A server and its tools.
#[derive(Debug, Clone, Copy)]
pub struct ModuleSource<'a> {
    /// The name of the server.
    pub server: &'a str,
    /// The version of the server; may be empty.
    pub version: &'a str,
    /// The name of the generated client, which must be a
    /// [type name](crate::is_type_name) (default: derived from the server's name).
    pub name: Option<&'a str>,
    /// The flags of `spar codegen` that regenerate the module, without the target.
    pub flags: &'a str,
    /// The tools as the server lists them, in any order.
    pub tools: &'a [Value],
}

/// The error of a tool for which no method can be generated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("tool '{tool}': {}{reason}", pointer_prefix(pointer))]
pub struct ToolError {
    /// The name of the tool, or its position in the list.
    pub tool: String,
    /// The JSON pointer into the tool; empty for the whole tool.
    pub pointer: String,
    /// The description of the error.
    pub reason: String,
}

fn pointer_prefix(pointer: &str) -> String {
    match pointer {
        "" => String::new(),
        pointer => format!("{pointer}: "),
    }
}

/// Generates the source of a module. It does not depend on the order of the tools, nor on
/// the order of the members in their schemas.
///
/// # Errors
/// Returns an error if a tool has no name or a duplicate one, or if its schema is malformed.
pub fn generate_module(source: &ModuleSource<'_>) -> Result<String, ToolError> {
    let mut tools = with_names(source.tools)?;
    tools.sort_by_key(|(name, _)| *name);
    if let Some(pair) = tools.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        let (tool, reason) = (pair[0].0.to_owned(), "listed twice".to_owned());
        return Err(ToolError { tool, pointer: String::new(), reason });
    }
    let client = match source.name {
        Some(name) => name.to_owned(),
        None => client_name(source.server),
    };
    let mut types = Vec::new();
    let mut type_names = NameAllocator::with_reserved(&RESERVED_TYPES);
    let client = type_names.allocate(&client);
    let tool_names: Vec<&str> = tools.iter().map(|(tool, _)| *tool).collect();
    let method_names = unique_snake_names(&tool_names, "tool");
    let mut methods = Vec::new();
    for ((tool, listed), name) in tools.into_iter().zip(method_names) {
        let first = types.len();
        // If the method's name needs a number, its types get the same one.
        let base = if name == snake_name(tool, "tool") { tool } else { &name };
        let reader = SchemaReader::new(tool, camel_name(base, "Tool"), &mut types, &mut type_names);
        let (arguments, output) = reader.read_tool(listed)?;
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
    recursive_types::box_recursive_fields(&mut types);
    Ok(render::render_module(source, &client, &Module { types, methods }))
}

/// Derives the name of the client from the last part of the server's name.
fn client_name(server: &str) -> String {
    let last = server.rsplit('/').find(|part| !part.is_empty()).unwrap_or_default();
    let name = camel_name(last, "Server");
    let name: String = name.chars().take(40).collect();
    format!("{name}Client")
}

/// Returns each tool with its name.
fn with_names(tools: &[Value]) -> Result<Vec<(&str, &Value)>, ToolError> {
    let named = tools.iter().enumerate().map(|(index, tool)| match tool["name"].as_str() {
        Some(name) => Ok((name, tool)),
        None => Err(ToolError {
            tool: format!("tools[{index}]"),
            pointer: "/name".to_owned(),
            reason: "the tool has no name".to_owned(),
        }),
    });
    named.collect()
}
