//! Converts object schemas: to structs if they list members, otherwise to maps.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::pointer;
use super::reader::{MAX_ATTRIBUTE_WIDTH, SchemaContext, SchemaReader, describe_kind};
use crate::generate::ToolError;
use crate::model::{Field, Struct, Type};
use crate::names::{nested_camel_name, unique_snake_names};
use crate::server_text;

/// Keywords that can allow more members than `properties` lists.
const OPEN_KEYWORDS: [&str; 10] = [
    "$ref",
    "allOf",
    "anyOf",
    "dependencies",
    "dependentSchemas",
    "else",
    "if",
    "oneOf",
    "patternProperties",
    "then",
];

/// The members that a schema lists, and the names of the required ones.
type Members<'a> = (Option<&'a Map<String, Value>>, Vec<&'a str>);

impl<'a> SchemaReader<'a> {
    /// Returns true if a call takes no arguments.
    pub(super) fn takes_no_arguments(
        &self,
        object: &Map<String, Value>,
        pointer: &str,
    ) -> Result<bool, ToolError> {
        let (members, required) = self.listed_members(object, pointer)?;
        let is_closed =
            matches!(object.get("additionalProperties"), None | Some(Value::Bool(false)));
        let has_more = OPEN_KEYWORDS.iter().any(|name| object.contains_key(*name));
        Ok(members.is_none_or(Map::is_empty) && required.is_empty() && is_closed && !has_more)
    }

    /// Returns the type of an object schema.
    pub(super) fn object_type(
        &mut self,
        object: &'a Map<String, Value>,
        context: SchemaContext<'a, '_>,
    ) -> Result<Type, ToolError> {
        let (members, required) = self.listed_members(object, context.pointer)?;
        if members.is_some_and(|members| !members.is_empty()) || !required.is_empty() {
            return Ok(self.struct_type(object, context));
        }
        let value = match object.get("additionalProperties") {
            Some(values @ Value::Object(_)) if !object.contains_key("patternProperties") => {
                let below = pointer::join(context.pointer, "additionalProperties");
                let name = nested_camel_name(context.name, "value");
                let depth = context.depth + 1;
                self.value_type(SchemaContext {
                    schema: values,
                    pointer: &below,
                    name: &name,
                    depth,
                })?
            }
            _ => Type::Any,
        };
        Ok(self.limit_width(value, |value| Type::Map(Box::new(value))))
    }

    /// Returns the body of a struct: required fields in the order of `required`, then the
    /// others by name, since the members of an object have no order.
    pub(super) fn struct_body(
        &mut self,
        index: usize,
        object: &'a Map<String, Value>,
        pointer: &str,
    ) -> Result<Struct, ToolError> {
        let (members, required) = self.listed_members(object, pointer)?;
        let mut optional: Vec<&'a str> =
            members.into_iter().flatten().map(|(name, _)| &**name).collect();
        let required_names: HashSet<&str> = required.iter().copied().collect();
        optional.retain(|name| !required_names.contains(name));
        optional.sort_unstable();
        let properties = pointer::join(pointer, "properties");
        let struct_name = self.types[index].name.clone();
        let mut body = Struct::default();
        let all = required.into_iter().chain(optional);
        let (all, unnamed): (Vec<&str>, Vec<&str>) = all.partition(|name| is_short(name));
        // The last name is for additional members.
        let wanted: Vec<&str> = all.iter().copied().chain(["additional "]).collect();
        let mut names = unique_snake_names(&wanted, "field");
        let additional_name = names.pop();
        for (wire, name) in all.into_iter().zip(names) {
            let schema = members.and_then(|members| members.get(wire));
            let schema = schema.unwrap_or(&Value::Bool(true));
            let type_name = nested_camel_name(&struct_name, wire);
            let pointer = pointer::join(&properties, wire);
            let context = SchemaContext { schema, pointer: &pointer, name: &type_name, depth: 0 };
            let value = self.value_type(context)?;
            body.fields.push(Field {
                wire: wire.to_owned(),
                name,
                value,
                is_required: required_names.contains(wire),
                is_boxed: false,
                description: schema["description"].as_str().map(str::to_owned),
                default: schema.get("default").map(Value::to_string),
            });
        }
        let additional =
            self.additional_type(object, pointer, &struct_name, !unnamed.is_empty())?;
        body.is_closed =
            object.get("additionalProperties") == Some(&Value::Bool(false)) && additional.is_none();
        body.additional = additional_name.zip(additional);
        Ok(body)
    }

    /// Returns the type of additional members if the schema mentions them. Members that it
    /// merely does not forbid get no field.
    fn additional_type(
        &mut self,
        object: &'a Map<String, Value>,
        pointer: &str,
        struct_name: &str,
        has_unnamed: bool,
    ) -> Result<Option<Type>, ToolError> {
        let has_patterns = object.contains_key("patternProperties");
        match object.get("additionalProperties") {
            _ if has_unnamed || has_patterns => Ok(Some(Type::Any)),
            Some(Value::Bool(true)) => Ok(Some(Type::Any)),
            Some(values @ Value::Object(_)) => {
                let below = pointer::join(pointer, "additionalProperties");
                let name = nested_camel_name(struct_name, "value");
                let context =
                    SchemaContext { schema: values, pointer: &below, name: &name, depth: 1 };
                let value = self.value_type(context)?;
                Ok(Some(self.limit_width(value, |value| value)))
            }
            Some(Value::Bool(false)) => Ok(None),
            _ if OPEN_KEYWORDS.iter().any(|name| object.contains_key(*name)) => Ok(Some(Type::Any)),
            _ => Ok(None),
        }
    }

    /// Returns the members that a schema lists, and the names of the required ones.
    fn listed_members<'b>(
        &self,
        object: &'b Map<String, Value>,
        pointer: &str,
    ) -> Result<Members<'b>, ToolError> {
        let members = match object.get("properties") {
            None => None,
            Some(Value::Object(members)) => Some(members),
            Some(other) => {
                let pointer = pointer::join(pointer, "properties");
                return Err(self.error(
                    &pointer,
                    format!("expected an object, found {}", describe_kind(other)),
                ));
            }
        };
        let mut required = Vec::new();
        let listed = match object.get("required") {
            // In old drafts `required` is a boolean of the member.
            None | Some(Value::Bool(_)) => &[][..],
            Some(Value::Array(listed)) => listed,
            Some(other) => {
                let pointer = pointer::join(pointer, "required");
                return Err(self
                    .error(&pointer, format!("expected a list, found {}", describe_kind(other))));
            }
        };
        let mut seen = HashSet::new();
        for name in listed {
            let Some(name) = name.as_str() else {
                let pointer = pointer::join(pointer, "required");
                return Err(self
                    .error(&pointer, format!("expected a string, found {}", describe_kind(name))));
            };
            if seen.insert(name) {
                required.push(name);
            }
        }
        Ok((members, required))
    }
}

/// Returns true if a text is short enough for an attribute.
pub(super) fn is_short(text: &str) -> bool {
    text.len() <= MAX_ATTRIBUTE_WIDTH
        && server_text::string_literal(text).len() <= MAX_ATTRIBUTE_WIDTH
}
