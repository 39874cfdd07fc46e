//! Structs with their constructors and setters, and enums.

use super::fits;
use crate::documentation;
use crate::literal;
use crate::model::{Body, Field, Module, Own, Struct, Type};

/// How many parameters `new` may have; who has more to give names the fields.
const MOST_PARAMETERS: usize = 7;

/// The widest parameter that is taken in more than one form.
const WIDEST: usize = 80;

/// Whether a type has members without names of their own.
pub(super) fn has_additional(own: &Own) -> bool {
    matches!(&own.body, Body::Struct(Struct { additional: Some(_), .. }))
}

/// A type of the module's own.
pub(super) fn own(own: &Own, module: &Module) -> String {
    let described = own.description.as_deref().filter(|text| !text.trim().is_empty());
    let told = match described {
        Some(description) => documentation::comment("", description),
        None => documentation::line("", &own.role),
    };
    let name = &own.name;
    match &own.body {
        Body::Enum(variants) => format!("{told}{}", an_enum(name, variants)),
        Body::Struct(body) => {
            let written = Written { body, types: &module.types };
            let functions = (!own.is_output).then(|| written.functions(name));
            format!("{told}{}{}", written.definition(name), functions.unwrap_or_default())
        }
    }
}

fn an_enum(name: &str, variants: &[(String, String)]) -> String {
    let mut text = format!(
        "#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]\n\
         #[serde(crate = \"sparring::typed::serde\")]\n\
         pub enum {name} {{\n"
    );
    for (wire, variant) in variants {
        text.push_str(&documentation::line("    ", &documentation::code(wire)));
        if wire != variant {
            text.push_str(&format!("    #[serde(rename = {})]\n", literal::string(wire)));
        }
        text.push_str(&format!("    {variant},\n"));
    }
    text.push_str("}\n");
    text
}

/// A struct on its way to text.
struct Written<'a> {
    body: &'a Struct,
    types: &'a [Own],
}

impl Written<'_> {
    fn definition(&self, name: &str) -> String {
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
            text.push_str(&self.field(field));
        }
        if let Some((name, value)) = &self.body.additional {
            text.push_str("    /// What else there is, by its name.\n    #[serde(flatten)]\n");
            text.push_str(&member(name, &format!("BTreeMap<String, {}>", value.text(self.types))));
        }
        text.push_str("}\n");
        text
    }

    fn field(&self, field: &Field) -> String {
        let mut text = self.told(field);
        if field.wire != field.name {
            text.push_str(&format!("    #[serde(rename = {})]\n", literal::string(&field.wire)));
        }
        if !field.is_required {
            text.push_str("    #[serde(default, skip_serializing_if = \"Option::is_none\")]\n");
        } else if matches!(field.value, Type::Nullable(_)) {
            // It may be null, and must be there.
            text.push_str("    #[serde(deserialize_with = \"Option::deserialize\")]\n");
        }
        text.push_str(&member(&field.name, &self.stored(field)));
        text
    }

    /// What is said of a field.
    fn told(&self, field: &Field) -> String {
        let indent = "    ";
        let mut text = match field.description.as_deref().filter(|text| !text.trim().is_empty()) {
            Some(description) => documentation::comment(indent, description),
            None => documentation::line(indent, &format!("{}.", documentation::code(&field.wire))),
        };
        if let Some(default) = &field.default {
            let default = documentation::code(default);
            text.push_str(&format!("    ///\n    /// Default: {default}.\n"));
        }
        text
    }

    /// `new`, where that says clearly what it takes, and a setter for each field
    /// that can be left out.
    fn functions(&self, name: &str) -> String {
        let mut functions = Vec::new();
        functions.extend(self.constructor());
        let optional = self.body.fields.iter().filter(|field| !field.is_required);
        functions.extend(optional.map(|field| self.setter(field)));
        if let Some((name, value)) = &self.body.additional {
            functions.push(self.collector(name, value));
        }
        match functions.is_empty() {
            true => String::new(),
            false => format!("\nimpl {name} {{\n{}}}\n", functions.join("\n")),
        }
    }

    fn constructor(&self) -> Option<String> {
        if self.has_default() {
            return Some(
                "    /// With nothing; all of it may be left out.\n    \
                     pub fn new() -> Self {\n        \
                         Self::default()\n    \
                     }\n"
                .to_owned(),
            );
        }
        let required: Vec<&Field> =
            self.body.fields.iter().filter(|field| field.is_required).collect();
        let parameters: Vec<String> =
            required.iter().map(|field| format!("{}: {}", field.name, self.taken(field))).collect();
        let initialized: Vec<String> =
            required.iter().map(|field| self.initialized(field)).collect();
        let indented = parameters.iter().map(|parameter| format!("        {parameter},"));
        let all_fit = indented.chain(initialized.iter().cloned()).all(|line| fits(&line));
        if required.len() > MOST_PARAMETERS || !all_fit {
            return None;
        }
        let mut text = "    /// With all that is required; the rest is left out.\n".to_owned();
        let line = format!("    pub fn new({}) -> Self {{", parameters.join(", "));
        if fits(&line) {
            text.push_str(&format!("{line}\n"));
        } else {
            text.push_str("    pub fn new(\n");
            for parameter in &parameters {
                text.push_str(&format!("        {parameter},\n"));
            }
            text.push_str("    ) -> Self {\n");
        }
        // A comment keeps each field on a line of its own by every setting.
        text.push_str("        Self {\n            // Always sent.\n");
        for line in &initialized {
            text.push_str(&format!("{line}\n"));
        }
        let mut left_out: Vec<String> = Vec::new();
        let optional = self.body.fields.iter().filter(|field| !field.is_required);
        left_out.extend(optional.map(|field| format!("            {}: None,\n", field.name)));
        let additional = self.body.additional.iter();
        left_out
            .extend(additional.map(|(name, _)| format!("            {name}: BTreeMap::new(),\n")));
        if !left_out.is_empty() {
            text.push_str("            // Left out unless set.\n");
            text.push_str(&left_out.concat());
        }
        text.push_str("        }\n    }\n");
        Some(text)
    }

    /// A line of the constructor.
    fn initialized(&self, field: &Field) -> String {
        let given = self.given(field, &field.name);
        match given == field.name {
            true => format!("            {given},"),
            false => format!("            {}: {given},", field.name),
        }
    }

    fn setter(&self, field: &Field) -> String {
        let mut text = self.told(field);
        text.push_str("    #[must_use]\n");
        text.push_str(&setter_line(&field.name, &self.taken(field)));
        // Null and nothing are the same here.
        let given = self.given(field, "value");
        text.push_str(&assignment(&field.name, &given));
        text.push_str("        self\n    }\n");
        text
    }

    /// The setter of what has no name of its own: it adds to what is there.
    fn collector(&self, name: &str, value: &Type) -> String {
        let is_plain = !matches!(value, Type::Text | Type::Float | Type::Any);
        let value = value.text(self.types);
        let taken = if is_plain { value } else { format!("impl Into<{value}>") };
        let mut text = "    /// Adds something by its name.\n    #[must_use]\n".to_owned();
        let parameters = format!("name: impl Into<String>, value: {taken}");
        let line = format!("    pub fn {name}(mut self, {parameters}) -> Self {{");
        match fits(&line) {
            true => text.push_str(&format!("{line}\n")),
            false => text.push_str(&format!(
                "    pub fn {name}(\n        mut self,\n        name: impl Into<String>,\n        \
                 value: {taken},\n    ) -> Self {{\n"
            )),
        }
        let given = if is_plain { "value" } else { "value.into()" };
        text.push_str(&format!("        self.{name}.insert(name.into(), {given});\n"));
        text.push_str("        self\n    }\n");
        text
    }

    /// The type of a field as it is stored.
    fn stored(&self, field: &Field) -> String {
        let inside = self.inside(field);
        match field.is_required && !matches!(field.value, Type::Nullable(_)) {
            true => inside,
            false => format!("Option<{inside}>"),
        }
    }

    /// The type without what makes it optional.
    fn inside(&self, field: &Field) -> String {
        let value = match &field.value {
            Type::Nullable(of) => of,
            other => other,
        };
        let text = value.text(self.types);
        if field.is_boxed { format!("Box<{text}>") } else { text }
    }

    /// The type of the parameter that a field is set by: what reads well there.
    fn taken(&self, field: &Field) -> String {
        let stored = self.inside(field);
        if field.is_required && matches!(field.value, Type::Nullable(_)) {
            return format!("Option<{stored}>");
        }
        let taken = match field.value_itself() {
            Type::Text => "impl Into<String>".to_owned(),
            Type::Float => "impl Into<f64>".to_owned(),
            Type::Any => "impl Into<Value>".to_owned(),
            Type::List(of) if **of == Type::Text => {
                "impl IntoIterator<Item = impl Into<String>>".to_owned()
            }
            Type::List(of) => format!("impl IntoIterator<Item = {}>", of.text(self.types)),
            Type::Map(of) => {
                let of = of.text(self.types);
                format!("impl IntoIterator<Item = (impl Into<String>, impl Into<{of}>)>")
            }
            _ if field.is_boxed => format!("impl Into<{stored}>"),
            _ => return stored,
        };
        if taken.len() > WIDEST { stored } else { taken }
    }

    /// What is stored of a parameter of that name.
    fn given(&self, field: &Field, name: &str) -> String {
        let taken = self.taken(field);
        let of_texts = matches!(field.value_itself(), Type::List(of) if **of == Type::Text);
        let given = match taken.strip_prefix("impl ") {
            None => name.to_owned(),
            Some(into) if into.starts_with("Into<") => format!("{name}.into()"),
            Some(_) if of_texts => format!("typed::texts({name})"),
            Some(_) if matches!(field.value_itself(), Type::Map(_)) => {
                format!("typed::map({name})")
            }
            Some(_) => format!("Vec::from_iter({name})"),
        };
        if field.is_required { given } else { format!("Some({given})") }
    }

    fn has_default(&self) -> bool {
        !self.body.fields.iter().any(|field| field.is_required)
    }
}

impl Field {
    /// The type of what is there, where something is.
    fn value_itself(&self) -> &Type {
        match &self.value {
            Type::Nullable(of) => of,
            other => other,
        }
    }
}

/// A line of a struct.
fn member(name: &str, value: &str) -> String {
    let line = format!("    pub {name}: {value},");
    match fits(&line) {
        true => format!("{line}\n"),
        false => format!("    pub {name}:\n        {value},\n"),
    }
}

fn setter_line(name: &str, taken: &str) -> String {
    let line = format!("    pub fn {name}(mut self, value: {taken}) -> Self {{");
    match fits(&line) {
        true => format!("{line}\n"),
        false => format!(
            "    pub fn {name}(\n        mut self,\n        value: {taken},\n    ) -> Self {{\n"
        ),
    }
}

fn assignment(name: &str, given: &str) -> String {
    format!("        self.{name} = {given};\n")
}
