//! Renders structs with their constructors and setters, and enums.

use super::fits_line;
use crate::model::{Body, Field, Module, NamedType, Struct, Type};
use crate::server_text;

/// The maximum number of parameters of `new`. A struct with more required fields has no `new`.
const MAX_PARAMETERS: usize = 7;

/// The maximum width of a generic parameter type.
const MAX_PARAMETER_WIDTH: usize = 80;

/// Returns true if a type has additional members.
pub(super) fn has_additional(named: &NamedType) -> bool {
    matches!(&named.body, Body::Struct(Struct { additional: Some(_), .. }))
}

/// Renders a struct or an enum.
pub(super) fn render_type(named: &NamedType, module: &Module) -> String {
    let description = named.description.as_deref().filter(|text| !text.trim().is_empty());
    let docs = match description {
        Some(description) => server_text::doc_comment("", description),
        None => server_text::doc_line("", &named.role),
    };
    let name = &named.name;
    match &named.body {
        Body::Enum(variants) => format!("{docs}{}", render_enum(name, variants)),
        Body::Struct(body) => {
            let renderer = StructRenderer { body, types: &module.types };
            let functions = (!named.is_output).then(|| renderer.render_impl(name));
            format!("{docs}{}{}", renderer.render_definition(name), functions.unwrap_or_default())
        }
    }
}

fn render_enum(name: &str, variants: &[(String, String)]) -> String {
    let mut text = format!(
        "#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]\n\
         #[serde(crate = \"sparring::typed::serde\")]\n\
         pub enum {name} {{\n"
    );
    for (wire, variant) in variants {
        text.push_str(&server_text::doc_line("    ", &server_text::inline_code(wire)));
        if wire != variant {
            text.push_str(&format!(
                "    #[serde(rename = {})]\n",
                server_text::string_literal(wire)
            ));
        }
        text.push_str(&format!("    {variant},\n"));
    }
    text.push_str("}\n");
    text
}

/// Renders one struct.
struct StructRenderer<'a> {
    body: &'a Struct,
    types: &'a [NamedType],
}

impl StructRenderer<'_> {
    fn render_definition(&self, name: &str) -> String {
        let default = if self.has_default() { ", Default" } else { "" };
        let mut text = format!(
            "#[derive(Debug, Clone, PartialEq{default}, Serialize, Deserialize)]\n\
             #[serde(crate = \"sparring::typed::serde\")]\n"
        );
        if self.body.is_closed {
            text.push_str("#[serde(deny_unknown_fields)]\n");
        }
        text.push_str(&format!("pub struct {name} {{\n"));
        for field in &self.body.fields {
            text.push_str(&self.render_field(field));
        }
        if let Some((name, value)) = &self.body.additional {
            text.push_str("    /// Additional members by name.\n    #[serde(flatten)]\n");
            text.push_str(&render_member(
                name,
                &format!("BTreeMap<String, {}>", value.to_rust(self.types)),
            ));
        }
        text.push_str("}\n");
        text
    }

    fn render_field(&self, field: &Field) -> String {
        let mut text = self.field_docs(field);
        if field.wire != field.name {
            text.push_str(&format!(
                "    #[serde(rename = {})]\n",
                server_text::string_literal(&field.wire)
            ));
        }
        if !field.is_required {
            text.push_str("    #[serde(default, skip_serializing_if = \"Option::is_none\")]\n");
        } else if matches!(field.value, Type::Nullable(_)) {
            // It is required, but may be null.
            text.push_str("    #[serde(deserialize_with = \"Option::deserialize\")]\n");
        }
        text.push_str(&render_member(&field.name, &self.field_type(field)));
        text
    }

    /// Renders the doc comment of a field.
    fn field_docs(&self, field: &Field) -> String {
        let indent = "    ";
        let mut text = match field.description.as_deref().filter(|text| !text.trim().is_empty()) {
            Some(description) => server_text::doc_comment(indent, description),
            None => server_text::doc_line(
                indent,
                &format!("{}.", server_text::inline_code(&field.wire)),
            ),
        };
        if let Some(default) = &field.default {
            let default = server_text::inline_code(default);
            text.push_str(&format!("    ///\n    /// Default: {default}.\n"));
        }
        text
    }

    /// Renders the `impl` block: `new`, if it has few parameters, and a setter for each
    /// optional field.
    fn render_impl(&self, name: &str) -> String {
        let mut functions = Vec::new();
        functions.extend(self.render_constructor());
        let optional = self.body.fields.iter().filter(|field| !field.is_required);
        functions.extend(optional.map(|field| self.render_setter(field)));
        if let Some((name, value)) = &self.body.additional {
            functions.push(self.render_additional_setter(name, value));
        }
        match functions.is_empty() {
            true => String::new(),
            false => format!("\nimpl {name} {{\n{}}}\n", functions.join("\n")),
        }
    }

    fn render_constructor(&self) -> Option<String> {
        if self.has_default() {
            return Some(
                "    /// Creates a value without any of its optional fields.\n    \
                     pub fn new() -> Self {\n        \
                         Self::default()\n    \
                     }\n"
                .to_owned(),
            );
        }
        let required: Vec<&Field> =
            self.body.fields.iter().filter(|field| field.is_required).collect();
        let parameters: Vec<String> = required
            .iter()
            .map(|field| format!("{}: {}", field.name, self.parameter_type(field)))
            .collect();
        let initializers: Vec<String> =
            required.iter().map(|field| self.field_initializer(field)).collect();
        let indented = parameters.iter().map(|parameter| format!("        {parameter},"));
        let all_fit = indented.chain(initializers.iter().cloned()).all(|line| fits_line(&line));
        if required.len() > MAX_PARAMETERS || !all_fit {
            return None;
        }
        let mut text = "    /// Creates a value with all required fields.\n".to_owned();
        let line = format!("    pub fn new({}) -> Self {{", parameters.join(", "));
        if fits_line(&line) {
            text.push_str(&format!("{line}\n"));
        } else {
            text.push_str("    pub fn new(\n");
            for parameter in &parameters {
                text.push_str(&format!("        {parameter},\n"));
            }
            text.push_str("    ) -> Self {\n");
        }
        // With a comment, every setting of `rustfmt` keeps each field in a separate line.
        text.push_str("        Self {\n            // Required.\n");
        for line in &initializers {
            text.push_str(&format!("{line}\n"));
        }
        let mut absent: Vec<String> = Vec::new();
        let optional = self.body.fields.iter().filter(|field| !field.is_required);
        absent.extend(optional.map(|field| format!("            {}: None,\n", field.name)));
        let additional = self.body.additional.iter();
        absent
            .extend(additional.map(|(name, _)| format!("            {name}: BTreeMap::new(),\n")));
        if !absent.is_empty() {
            text.push_str("            // Optional.\n");
            text.push_str(&absent.concat());
        }
        text.push_str("        }\n    }\n");
        Some(text)
    }

    /// Renders the line of a field in the constructor.
    fn field_initializer(&self, field: &Field) -> String {
        let expression = self.stored_expression(field, &field.name);
        match expression == field.name {
            true => format!("            {expression},"),
            false => format!("            {}: {expression},", field.name),
        }
    }

    fn render_setter(&self, field: &Field) -> String {
        let mut text = self.field_docs(field);
        text.push_str("    #[must_use]\n");
        text.push_str(&render_setter_signature(&field.name, &self.parameter_type(field)));
        // A setter cannot set null: null and absent are the same here.
        let expression = self.stored_expression(field, "value");
        text.push_str(&render_assignment(&field.name, &expression));
        text.push_str("        self\n    }\n");
        text
    }

    /// Renders the setter of additional members, which adds one member.
    fn render_additional_setter(&self, name: &str, value: &Type) -> String {
        let is_plain = !matches!(value, Type::String | Type::Float | Type::Any);
        let value = value.to_rust(self.types);
        let parameter_type = if is_plain { value } else { format!("impl Into<{value}>") };
        let mut text = "    /// Adds a member.\n    #[must_use]\n".to_owned();
        let parameters = format!("name: impl Into<String>, value: {parameter_type}");
        let line = format!("    pub fn {name}(mut self, {parameters}) -> Self {{");
        match fits_line(&line) {
            true => text.push_str(&format!("{line}\n")),
            false => text.push_str(&format!(
                "    pub fn {name}(\n        mut self,\n        name: impl Into<String>,\n        \
                 value: {parameter_type},\n    ) -> Self {{\n"
            )),
        }
        let expression = if is_plain { "value" } else { "value.into()" };
        text.push_str(&format!("        self.{name}.insert(name.into(), {expression});\n"));
        text.push_str("        self\n    }\n");
        text
    }

    /// Returns the type of a field.
    fn field_type(&self, field: &Field) -> String {
        let inner = self.inner_type(field);
        match field.is_required && !matches!(field.value, Type::Nullable(_)) {
            true => inner,
            false => format!("Option<{inner}>"),
        }
    }

    /// Returns the type of a field without `Option`.
    fn inner_type(&self, field: &Field) -> String {
        let text = field.non_null_value().to_rust(self.types);
        if field.is_boxed { format!("Box<{text}>") } else { text }
    }

    /// Returns the type of the parameter that sets a field.
    fn parameter_type(&self, field: &Field) -> String {
        let stored = self.inner_type(field);
        if field.is_required && matches!(field.value, Type::Nullable(_)) {
            return format!("Option<{stored}>");
        }
        let parameter_type = match field.non_null_value() {
            Type::String => "impl Into<String>".to_owned(),
            Type::Float => "impl Into<f64>".to_owned(),
            Type::Any => "impl Into<Value>".to_owned(),
            Type::List(inner) if **inner == Type::String => {
                "impl IntoIterator<Item = impl Into<String>>".to_owned()
            }
            Type::List(inner) => format!("impl IntoIterator<Item = {}>", inner.to_rust(self.types)),
            Type::Map(inner) => {
                let value = inner.to_rust(self.types);
                format!("impl IntoIterator<Item = (impl Into<String>, impl Into<{value}>)>")
            }
            _ if field.is_boxed => format!("impl Into<{stored}>"),
            _ => return stored,
        };
        if parameter_type.len() > MAX_PARAMETER_WIDTH { stored } else { parameter_type }
    }

    /// Returns the expression that converts the parameter to the type of the field.
    fn stored_expression(&self, field: &Field, name: &str) -> String {
        let parameter_type = self.parameter_type(field);
        let is_string_list =
            matches!(field.non_null_value(), Type::List(inner) if **inner == Type::String);
        let expression = match parameter_type.strip_prefix("impl ") {
            None => name.to_owned(),
            Some(into) if into.starts_with("Into<") => format!("{name}.into()"),
            Some(_) if is_string_list => format!("typed::to_strings({name})"),
            Some(_) if matches!(field.non_null_value(), Type::Map(_)) => {
                format!("typed::to_map({name})")
            }
            Some(_) => format!("Vec::from_iter({name})"),
        };
        if field.is_required { expression } else { format!("Some({expression})") }
    }

    fn has_default(&self) -> bool {
        !self.body.fields.iter().any(|field| field.is_required)
    }
}

impl Field {
    /// Returns the type of the value if it is not null.
    fn non_null_value(&self) -> &Type {
        match &self.value {
            Type::Nullable(inner) => inner,
            other => other,
        }
    }
}

/// Renders the line of a field in a struct.
fn render_member(name: &str, value: &str) -> String {
    let line = format!("    pub {name}: {value},");
    match fits_line(&line) {
        true => format!("{line}\n"),
        false => format!("    pub {name}:\n        {value},\n"),
    }
}

fn render_setter_signature(name: &str, parameter_type: &str) -> String {
    let line = format!("    pub fn {name}(mut self, value: {parameter_type}) -> Self {{");
    match fits_line(&line) {
        true => format!("{line}\n"),
        false => format!(
            "    pub fn {name}(\n        mut self,\n        value: {parameter_type},\n    ) -> Self {{\n"
        ),
    }
}

fn render_assignment(name: &str, expression: &str) -> String {
    format!("        self.{name} = {expression};\n")
}
