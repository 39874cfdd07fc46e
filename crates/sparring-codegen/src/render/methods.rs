//! Renders the client struct and a method for each tool.

use super::fits_line;
use crate::generate::ModuleSource;
use crate::model::{Method, Module};
use crate::server_text;

/// Renders the client with all of its methods.
pub(super) fn render_client(source: &ModuleSource<'_>, name: &str, module: &Module) -> String {
    let server = match server_text::escape_inline(source.server) {
        server if server.is_empty() => "a server".to_owned(),
        server => server,
    };
    let docs = server_text::doc_line("", &format!("The tools of {server}, each as a method."));
    let mut text = format!(
        "{docs}#[derive(Debug, Clone)]\n\
         pub struct {name} {{\n    \
             /// The connection, for all other requests.\n    \
             pub client: Client,\n\
         }}\n\n\
         impl {name} {{\n    \
             /// Creates a client that calls tools over this connection.\n    \
             pub fn new(client: Client) -> Self {{\n        \
                 Self {{ client }}\n    \
             }}\n"
    );
    for method in &module.methods {
        text.push('\n');
        text.push_str(&render_method(method, module));
    }
    text.push_str("}\n");
    text
}

/// Renders the method of one tool.
fn render_method(method: &Method, module: &Module) -> String {
    let indent = "    ";
    let mut text = match method.description.as_deref().filter(|text| !text.trim().is_empty()) {
        Some(description) => server_text::doc_comment(indent, description),
        None => server_text::doc_line(
            indent,
            &format!("Calls {}.", server_text::inline_code(&method.tool)),
        ),
    };
    text.push_str("    #[track_caller]\n");
    let returns = match &method.output {
        Some(output) => format!("TypedCall<{}>", output.to_rust(&module.types)),
        None => "Call".to_owned(),
    };
    let arguments = method.arguments.map(|index| &module.types[index].name);
    let arguments = arguments.map(|name| format!("arguments: {name}"));
    let parameters: Vec<&str> = std::iter::once("&self").chain(arguments.as_deref()).collect();
    let name = &method.name;
    let line = format!("    pub fn {name}({}) -> {returns} {{", parameters.join(", "));
    if fits_line(&line) {
        text.push_str(&format!("{line}\n"));
    } else {
        text.push_str(&format!("    pub fn {name}(\n"));
        for parameter in &parameters {
            text.push_str(&format!("        {parameter},\n"));
        }
        text.push_str(&format!("    ) -> {returns} {{\n"));
    }
    text.push_str(&render_tool_binding(&server_text::string_literal(&method.tool)));
    let call = if method.output.is_some() { "call_for" } else { "call" };
    let arguments = if method.arguments.is_some() { "arguments" } else { "typed::NoArguments" };
    text.push_str(&format!("        typed::{call}(&self.client, tool, {arguments})\n    }}\n"));
    text
}

/// Renders the variable with the tool's name, on the next line if it only fits there.
fn render_tool_binding(literal: &str) -> String {
    let (same, next) =
        (format!("        let tool = {literal};"), format!("            {literal};"));
    match !fits_line(&same) && fits_line(&next) {
        true => format!("        let tool =\n{next}\n"),
        false => format!("{same}\n"),
    }
}
