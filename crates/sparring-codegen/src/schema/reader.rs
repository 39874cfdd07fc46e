//! Reads the schemas of a tool from the top down. Structs are read one after the other, not
//! recursively, so that a schema can be of any depth.

use std::collections::{HashMap, HashSet, VecDeque};

use serde_json::{Map, Value};

use super::pointer;
use crate::generate::ToolError;
use crate::model::{Body, NamedType, Struct, Type};
use crate::names::{NameAllocator, camel_name, nested_camel_name};
use crate::server_text;

/// The maximum width of a type. A wider one contains `Value` instead.
const MAX_TYPE_WIDTH: usize = 72;

/// The maximum nesting depth of types. Deeper ones are `Value`.
const MAX_DEPTH: usize = 8;

/// The maximum width of a text in an attribute, in columns.
pub(super) const MAX_ATTRIBUTE_WIDTH: usize = 56;

/// Reads the schemas of one tool.
pub(crate) struct SchemaReader<'a> {
    tool: &'a str,
    /// The prefix of the names of its types.
    name: String,
    pub(super) types: &'a mut Vec<NamedType>,
    names: &'a mut NameAllocator,
    /// The schema that references refer to.
    root: &'a Value,
    /// The pointer of that schema in the tool.
    base: &'static str,
    /// The types by their pointer in the schema.
    known: HashMap<String, usize>,
    /// The structs whose fields have not been read.
    pending: VecDeque<(usize, &'a Map<String, Value>, String)>,
}

/// A schema, its pointer, and the name for a type that it needs.
#[derive(Clone, Copy)]
pub(super) struct SchemaContext<'a, 'b> {
    pub(super) schema: &'a Value,
    pub(super) pointer: &'b str,
    pub(super) name: &'b str,
    /// The nesting depth in other types.
    pub(super) depth: usize,
}

impl<'a> SchemaReader<'a> {
    pub(crate) fn new(
        tool: &'a str,
        name: String,
        types: &'a mut Vec<NamedType>,
        names: &'a mut NameAllocator,
    ) -> Self {
        let (known, pending) = (HashMap::new(), VecDeque::new());
        SchemaReader { tool, name, types, names, root: &Value::Null, base: "", known, pending }
    }

    /// Reads a tool. Returns the struct of its arguments, if it takes any, and the type of
    /// its output, if it has an output schema.
    pub(crate) fn read_tool(
        mut self,
        tool: &'a Value,
    ) -> Result<(Option<usize>, Option<Type>), ToolError> {
        (self.root, self.base) = (&tool["inputSchema"], "/inputSchema");
        let arguments = self.read_arguments()?;
        let Some(output) = tool.get("outputSchema").filter(|schema| !schema.is_null()) else {
            return Ok((arguments, None));
        };
        (self.root, self.base) = (output, "/outputSchema");
        self.known.clear();
        let name = nested_camel_name(&self.name, "output");
        let context = SchemaContext { schema: output, pointer: "", name: &name, depth: 0 };
        let output = self.value_type(context)?;
        self.read_pending()?;
        Ok((arguments, Some(output)))
    }

    /// Reads the arguments, which must be an object.
    fn read_arguments(&mut self) -> Result<Option<usize>, ToolError> {
        let (mut schema, mut pointer) = (self.root, String::new());
        // The limit ends circular references.
        for _ in 0..MAX_DEPTH {
            let Some(next) = schema.get("$ref") else { break };
            (schema, pointer) = self.resolve_reference(next, &pointer)?;
        }
        let Value::Object(object) = schema else {
            return Err(self.error(
                &pointer,
                format!("expected a schema object, found {}", describe_kind(schema)),
            ));
        };
        if object.get("type").is_some_and(|it| it != "object") {
            let pointer = pointer::join(&pointer, "type");
            return Err(self.error(&pointer, "the type of arguments must be \"object\"".to_owned()));
        }
        if self.takes_no_arguments(object, &pointer)? {
            return Ok(None);
        }
        let name = self.name.clone();
        let index = self.add_type(&name, object, &pointer, Body::Struct(Struct::default()));
        self.pending.push_back((index, object, pointer));
        self.read_pending()?;
        Ok(Some(index))
    }

    /// Reads the fields of all pending structs, and of those that they need.
    fn read_pending(&mut self) -> Result<(), ToolError> {
        while let Some((index, object, pointer)) = self.pending.pop_front() {
            let body = self.struct_body(index, object, &pointer)?;
            self.types[index].body = Body::Struct(body);
        }
        Ok(())
    }

    /// Returns the type of the values that conform to a schema.
    pub(super) fn value_type(&mut self, context: SchemaContext<'a, '_>) -> Result<Type, ToolError> {
        let object = match context.schema {
            Value::Object(object) => object,
            Value::Bool(_) => return Ok(Type::Any),
            other => {
                let reason = format!(
                    "expected a schema object or a boolean, found {}",
                    describe_kind(other)
                );
                return Err(self.error(context.pointer, reason));
            }
        };
        let has_other_base = object.contains_key("$id") && !context.pointer.is_empty();
        if context.depth > MAX_DEPTH || has_other_base {
            return Ok(Type::Any);
        }
        let found = if let Some(reference) = object.get("$ref") {
            self.reference_type(reference, context)?
        } else if let Some(choices) = string_choices(object) {
            self.string_enum(choices, object, context)
        } else if let Some(kinds) = object.get("type") {
            self.type_from_keyword(kinds, object, context)?
        } else {
            self.combined_type(object, context)?
        };
        Ok(match object.get("nullable") {
            Some(Value::Bool(true)) => nullable(found),
            _ => found,
        })
    }

    /// Returns the type for the keyword `type`.
    fn type_from_keyword(
        &mut self,
        kinds: &Value,
        object: &'a Map<String, Value>,
        context: SchemaContext<'a, '_>,
    ) -> Result<Type, ToolError> {
        let listed = match kinds {
            Value::Array(kinds) => kinds.iter().collect(),
            kind => vec![kind],
        };
        let mut names = Vec::new();
        for kind in listed {
            const KINDS: [&str; 7] =
                ["array", "boolean", "integer", "null", "number", "object", "string"];
            let Some(name) = kind.as_str().filter(|name| KINDS.contains(name)) else {
                let pointer = pointer::join(context.pointer, "type");
                return Err(self.error(&pointer, format!("{kind} is not a JSON type")));
            };
            names.push(name);
        }
        let is_nullable = names.contains(&"null");
        names.retain(|name| *name != "null");
        names.sort_unstable();
        names.dedup();
        let found = match *names {
            ["boolean"] => Type::Bool,
            ["integer"] => integer(object),
            ["number"] | ["integer", "number"] => Type::Float,
            ["string"] => Type::String,
            ["array"] => self.list_type(object, context)?,
            ["object"] => self.object_type(object, context)?,
            _ => Type::Any,
        };
        Ok(if is_nullable { nullable(found) } else { found })
    }

    /// Returns the type of an array. A tuple is a list of `Value`.
    fn list_type(
        &mut self,
        object: &'a Map<String, Value>,
        context: SchemaContext<'a, '_>,
    ) -> Result<Type, ToolError> {
        let tuple = object.contains_key("prefixItems");
        let item = match object.get("items") {
            Some(items) if !tuple && !items.is_array() => {
                let below = pointer::join(context.pointer, "items");
                let name = nested_camel_name(context.name, "item");
                let depth = context.depth + 1;
                self.value_type(SchemaContext {
                    schema: items,
                    pointer: &below,
                    name: &name,
                    depth,
                })?
            }
            _ => Type::Any,
        };
        Ok(self.limit_width(item, |item| Type::List(Box::new(item))))
    }

    /// Returns the type of `anyOf`, `oneOf` or `allOf` with one schema, or with one schema
    /// and null.
    fn combined_type(
        &mut self,
        object: &'a Map<String, Value>,
        context: SchemaContext<'a, '_>,
    ) -> Result<Type, ToolError> {
        const PARTS: [&str; 3] = ["anyOf", "oneOf", "allOf"];
        let mut parts = PARTS.iter().filter_map(|name| Some((*name, object.get(*name)?)));
        let (Some((keyword, Value::Array(choices))), None) = (parts.next(), parts.next()) else {
            return Ok(Type::Any);
        };
        let shape_keywords = ["properties", "items", "prefixItems", "not", "if"];
        if shape_keywords.iter().any(|name| object.contains_key(*name)) {
            return Ok(Type::Any);
        }
        let mut others = choices.iter().enumerate().filter(|(_, choice)| !is_null(choice));
        let (Some((index, only)), None) = (others.next(), others.next()) else {
            return Ok(Type::Any);
        };
        let with_null = choices.len() > 1;
        // No value is both null and something else.
        if with_null && keyword == "allOf" {
            return Ok(Type::Any);
        }
        let below = format!("{}/{index}", pointer::join(context.pointer, keyword));
        let depth = context.depth + 1;
        let found =
            self.value_type(SchemaContext { schema: only, pointer: &below, depth, ..context })?;
        Ok(if with_null { nullable(found) } else { found })
    }

    /// Returns the type of a referenced schema.
    fn reference_type(
        &mut self,
        reference: &Value,
        context: SchemaContext<'a, '_>,
    ) -> Result<Type, ToolError> {
        let named = reference.as_str().ok_or_else(|| {
            let pointer = pointer::join(context.pointer, "$ref");
            self.error(&pointer, format!("expected a string, found {}", describe_kind(reference)))
        })?;
        if pointer::parse_local_reference(named).is_none() {
            return Ok(Type::Any);
        }
        let (schema, found) = self.resolve_reference(reference, context.pointer)?;
        if let Some(index) = self.known.get(&found) {
            return Ok(Type::Named(*index));
        }
        let name = match found.is_empty() {
            true => context.name.to_owned(),
            false => nested_camel_name(&self.name, &pointer::last_segment(&found)),
        };
        // The depth limit ends a list of itself.
        self.value_type(SchemaContext {
            schema,
            pointer: &found,
            name: &name,
            depth: context.depth + 1,
        })
    }

    /// Returns the schema that a reference refers to, and its pointer.
    fn resolve_reference(
        &self,
        reference: &Value,
        from: &str,
    ) -> Result<(&'a Value, String), ToolError> {
        let named = reference.as_str().and_then(pointer::parse_local_reference);
        let found = named.and_then(|pointer| Some((self.root.pointer(&pointer)?, pointer)));
        found.ok_or_else(|| {
            let pointer = pointer::join(from, "$ref");
            self.error(&pointer, format!("reference {reference} does not resolve"))
        })
    }

    /// Returns an enum of strings, or `String` if one of them is too long.
    fn string_enum(
        &mut self,
        choices: StringChoices<'a>,
        object: &'a Map<String, Value>,
        context: SchemaContext<'a, '_>,
    ) -> Type {
        let fits = |text: &&str| super::object::is_short(text);
        let found = if choices.strings.iter().all(fits) {
            let mut names = NameAllocator::with_reserved(&["Self"]);
            let variant =
                |text: &&str| ((*text).to_owned(), names.allocate(&camel_name(text, "Empty")));
            let variants = choices.strings.iter().map(variant).collect();
            Type::Named(match self.known.get(context.pointer) {
                Some(index) => *index,
                None => self.add_type(context.name, object, context.pointer, Body::Enum(variants)),
            })
        } else {
            Type::String
        };
        if choices.or_null { nullable(found) } else { found }
    }

    /// Returns the struct of an object, whose fields are read later.
    pub(super) fn struct_type(
        &mut self,
        object: &'a Map<String, Value>,
        context: SchemaContext<'a, '_>,
    ) -> Type {
        if let Some(index) = self.known.get(context.pointer) {
            return Type::Named(*index);
        }
        let body = Body::Struct(Struct::default());
        let index = self.add_type(context.name, object, context.pointer, body);
        self.pending.push_back((index, object, context.pointer.to_owned()));
        Type::Named(index)
    }

    fn add_type(
        &mut self,
        name: &str,
        object: &Map<String, Value>,
        pointer: &str,
        body: Body,
    ) -> usize {
        let text = |name: &str| object.get(name).and_then(Value::as_str).map(str::to_owned);
        let tool = server_text::inline_code(self.tool);
        let role = match (pointer, self.base) {
            ("", "/inputSchema") => format!("Arguments of {tool}."),
            ("", _) => format!("Output of {tool}."),
            (_, "/inputSchema") => format!("Part of the arguments of {tool}."),
            _ => format!("Part of the output of {tool}."),
        };
        self.types.push(NamedType {
            name: self.names.allocate(name),
            description: text("description"),
            role,
            is_output: self.base == "/outputSchema",
            body,
        });
        self.known.insert(pointer.to_owned(), self.types.len() - 1);
        self.types.len() - 1
    }

    /// Wraps a type in another, or wraps `Value` if the result would be too wide.
    pub(super) fn limit_width(&self, inner: Type, wrap: impl Fn(Type) -> Type) -> Type {
        let found = wrap(inner);
        match found.to_rust(self.types).len() > MAX_TYPE_WIDTH {
            true => wrap(Type::Any),
            false => found,
        }
    }

    pub(super) fn error(&self, pointer: &str, reason: String) -> ToolError {
        ToolError { tool: self.tool.to_owned(), pointer: format!("{}{pointer}", self.base), reason }
    }
}

/// The strings that a schema allows.
struct StringChoices<'a> {
    strings: Vec<&'a str>,
    or_null: bool,
}

impl<'a> StringChoices<'a> {
    /// Collects distinct strings. Returns `None` if a value is not a string, or if there are
    /// no values.
    fn collect(texts: impl Iterator<Item = Option<&'a str>>, or_null: bool) -> Option<Self> {
        let (mut found, mut seen) = (Vec::new(), HashSet::new());
        for text in texts {
            let text = text?;
            if seen.insert(text) {
                found.push(text);
            }
        }
        (!found.is_empty()).then_some(StringChoices { strings: found, or_null })
    }
}

/// Returns the strings of a schema that allows only certain strings, and maybe null.
fn string_choices(object: &Map<String, Value>) -> Option<StringChoices<'_>> {
    let values: Vec<&Value> = match (object.get("enum"), object.get("const")) {
        (Some(Value::Array(values)), None) => values.iter().collect(),
        (None, Some(value)) => vec![value],
        _ => return constant_choices(object),
    };
    let or_null = values.iter().any(|value| value.is_null());
    let others = values.into_iter().filter(|value| !value.is_null());
    StringChoices::collect(others.map(Value::as_str), or_null)
}

/// Returns the strings of an `anyOf` or `oneOf` whose alternatives are constants.
fn constant_choices(object: &Map<String, Value>) -> Option<StringChoices<'_>> {
    let choices = object.get("anyOf").or_else(|| object.get("oneOf"))?.as_array()?;
    let others = choices.iter().filter(|choice| !is_null(choice));
    let constants = others.map(|choice| choice.get("const").and_then(Value::as_str));
    StringChoices::collect(constants, choices.iter().any(is_null))
}

fn is_null(schema: &Value) -> bool {
    schema["type"] == "null"
        || schema.get("const").is_some_and(Value::is_null)
        || schema["enum"]
            .as_array()
            .is_some_and(|values| !values.is_empty() && values.iter().all(Value::is_null))
}

fn nullable(inner: Type) -> Type {
    match inner {
        // These types include null.
        Type::Nullable(_) | Type::Any => inner,
        other => Type::Nullable(Box::new(other)),
    }
}

/// Returns the type of integers with these bounds: unsigned if they cannot be negative, and
/// `Value` if they may exceed 64 bits.
fn integer(object: &Map<String, Value>) -> Type {
    let bound = |name: &str| object.get(name).and_then(Value::as_f64);
    let min = [bound("minimum"), bound("exclusiveMinimum").map(|min| min + 1.0)];
    let max = [bound("maximum"), bound("exclusiveMaximum").map(|max| max - 1.0)];
    let min = min.into_iter().flatten().fold(f64::NEG_INFINITY, f64::max);
    let max = max.into_iter().flatten().fold(f64::INFINITY, f64::min);
    let (smallest, largest) = (i64::MIN as f64, i64::MAX as f64);
    match (min, max) {
        (min, max) if min >= 0.0 && !(max.is_finite() && max > u64::MAX as f64) => Type::Unsigned,
        (min, max) if min.is_finite() && min < smallest || max.is_finite() && max > largest => {
            Type::Any
        }
        _ => Type::Signed,
    }
}

/// Describes the type of a value with its article.
pub(super) fn describe_kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
