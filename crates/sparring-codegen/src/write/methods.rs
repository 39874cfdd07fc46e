//! The client, and a method for each of its tools.

use super::fits;
use crate::documentation;
use crate::literal;
use crate::model::{Method, Module};
use crate::source::Source;

/// The client with all of its methods.
pub(super) fn client(source: &Source<'_>, name: &str, module: &Module) -> String {
    let server = match documentation::inline(source.server) {
        server if server.is_empty() => "a server".to_owned(),
        server => server,
    };
    let told = documentation::line("", &format!("The tools of {server}, each as a method."));
    let mut text = format!(
        "{told}#[derive(Debug, Clone)]\n\
         pub struct {name} {{\n    \
             /// The connection, for all that is no call of these tools.\n    \
             pub client: Client,\n\
         }}\n\n\
         impl {name} {{\n    \
             /// Calls tools over this connection.\n    \
             pub fn new(client: Client) -> Self {{\n        \
                 Self {{ client }}\n    \
             }}\n"
    );
    for method in &module.methods {
        text.push('\n');
        text.push_str(&one(method, module));
    }
    text.push_str("}\n");
    text
}

/// The method of one tool.
fn one(method: &Method, module: &Module) -> String {
    let indent = "    ";
    let mut text = match method.description.as_deref().filter(|text| !text.trim().is_empty()) {
        Some(description) => documentation::comment(indent, description),
        None => {
            documentation::line(indent, &format!("Calls {}.", documentation::code(&method.tool)))
        }
    };
    text.push_str("    #[track_caller]\n");
    let gives = match &method.output {
        Some(output) => format!("TypedCall<{}>", output.text(&module.types)),
        None => "Call".to_owned(),
    };
    let takes = method.arguments.map(|index| &module.types[index].name);
    let takes = takes.map(|name| format!("arguments: {name}"));
    let parameters: Vec<&str> = std::iter::once("&self").chain(takes.as_deref()).collect();
    let name = &method.name;
    let line = format!("    pub fn {name}({}) -> {gives} {{", parameters.join(", "));
    if fits(&line) {
        text.push_str(&format!("{line}\n"));
    } else {
        text.push_str(&format!("    pub fn {name}(\n"));
        for parameter in &parameters {
            text.push_str(&format!("        {parameter},\n"));
        }
        text.push_str(&format!("    ) -> {gives} {{\n"));
    }
    text.push_str(&assigned(&literal::string(&method.tool)));
    let call = if method.output.is_some() { "call_for" } else { "call" };
    let arguments = if method.arguments.is_some() { "arguments" } else { "typed::Nothing" };
    text.push_str(&format!("        typed::{call}(&self.client, tool, {arguments})\n    }}\n"));
    text
}

/// The tool's name as a variable: on the next line where it only fits there.
fn assigned(literal: &str) -> String {
    let (same, next) =
        (format!("        let tool = {literal};"), format!("            {literal};"));
    match !fits(&same) && fits(&next) {
        true => format!("        let tool =\n{next}\n"),
        false => format!("{same}\n"),
    }
}
