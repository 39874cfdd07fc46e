//! A tool's schemas read from the top down. Types of the module's own are read
//! one after the other and not within each other, so that no schema is too deep.

use std::collections::{HashMap, HashSet, VecDeque};

use serde_json::{Map, Value};

use super::pointer;
use crate::documentation;
use crate::model::{Body, Own, Struct, Type};
use crate::names::{Names, camel, camel_below};
use crate::source::Unusable;

/// The widest type that is written out; what would be wider has any JSON inside.
const WIDEST: usize = 72;

/// How many types are looked at inside of each other before it is any JSON: a
/// list of lists of lists is nobody's.
const DEEPEST: usize = 8;

/// The longest text that stands in an attribute, in columns.
pub(super) const LONGEST_TEXT: usize = 56;

/// What is read of one tool.
pub(crate) struct Reader<'a> {
    tool: &'a str,
    /// What its types are named after.
    name: String,
    pub(super) types: &'a mut Vec<Own>,
    names: &'a mut Names,
    /// The schema that references are in.
    root: &'a Value,
    /// Where that is in the tool.
    base: &'static str,
    /// The types there are, by their place in the schema.
    known: HashMap<String, usize>,
    /// Those that are still to be read.
    waiting: VecDeque<(usize, &'a Map<String, Value>, String)>,
}

/// A schema, where it is, and what a type is called that it needs.
#[derive(Clone, Copy)]
pub(super) struct Place<'a, 'b> {
    pub(super) schema: &'a Value,
    pub(super) pointer: &'b str,
    pub(super) name: &'b str,
    /// How deep in other types.
    pub(super) depth: usize,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(
        tool: &'a str,
        name: String,
        types: &'a mut Vec<Own>,
        names: &'a mut Names,
    ) -> Self {
        let (known, waiting) = (HashMap::new(), VecDeque::new());
        Reader { tool, name, types, names, root: &Value::Null, base: "", known, waiting }
    }

    /// The struct of arguments, where the tool takes any, and what it gives.
    pub(crate) fn read(
        mut self,
        tool: &'a Value,
    ) -> Result<(Option<usize>, Option<Type>), Unusable> {
        (self.root, self.base) = (&tool["inputSchema"], "/inputSchema");
        let arguments = self.arguments()?;
        let Some(output) = tool.get("outputSchema").filter(|schema| !schema.is_null()) else {
            return Ok((arguments, None));
        };
        (self.root, self.base) = (output, "/outputSchema");
        self.known.clear();
        let name = camel_below(&self.name, "output");
        let place = Place { schema: output, pointer: "", name: &name, depth: 0 };
        let output = self.value(place)?;
        self.finish()?;
        Ok((arguments, Some(output)))
    }

    /// Arguments are an object, whatever else the schema says.
    fn arguments(&mut self) -> Result<Option<usize>, Unusable> {
        let (mut schema, mut place) = (self.root, String::new());
        // As many references as there can be without going in circles.
        for _ in 0..DEEPEST {
            let Some(next) = schema.get("$ref") else { break };
            (schema, place) = self.referred(next, &place)?;
        }
        let Value::Object(object) = schema else {
            return Err(
                self.unusable(&place, format!("a schema is an object, not {}", kind(schema)))
            );
        };
        if object.get("type").is_some_and(|it| it != "object") {
            let place = pointer::below(&place, "type");
            return Err(self.unusable(&place, "arguments are an object".to_owned()));
        }
        if self.takes_nothing(object, &place)? {
            return Ok(None);
        }
        let name = self.name.clone();
        let index = self.own(&name, object, &place, Body::Struct(Struct::default()));
        self.waiting.push_back((index, object, place));
        self.finish()?;
        Ok(Some(index))
    }

    /// Reads what was found on the way, and on the way to that.
    fn finish(&mut self) -> Result<(), Unusable> {
        while let Some((index, object, place)) = self.waiting.pop_front() {
            let body = self.body(index, object, &place)?;
            self.types[index].body = Body::Struct(body);
        }
        Ok(())
    }

    /// The type of the values that fit a schema.
    pub(super) fn value(&mut self, place: Place<'a, '_>) -> Result<Type, Unusable> {
        let object = match place.schema {
            Value::Object(object) => object,
            Value::Bool(_) => return Ok(Type::Any),
            other => {
                let reason = format!("a schema is an object or a boolean, not {}", kind(other));
                return Err(self.unusable(place.pointer, reason));
            }
        };
        let rebased = object.contains_key("$id") && !place.pointer.is_empty();
        if place.depth > DEEPEST || rebased {
            return Ok(Type::Any);
        }
        let found = if let Some(reference) = object.get("$ref") {
            self.behind(reference, place)?
        } else if let Some(texts) = texts_of(object) {
            self.texts(texts, object, place)
        } else if let Some(kinds) = object.get("type") {
            self.typed(kinds, object, place)?
        } else {
            self.composed(object, place)?
        };
        Ok(match object.get("nullable") {
            Some(Value::Bool(true)) => nullable(found),
            _ => found,
        })
    }

    /// A type by what `type` says.
    fn typed(
        &mut self,
        kinds: &Value,
        object: &'a Map<String, Value>,
        place: Place<'a, '_>,
    ) -> Result<Type, Unusable> {
        let listed = match kinds {
            Value::Array(kinds) => kinds.iter().collect(),
            kind => vec![kind],
        };
        let mut names = Vec::new();
        for kind in listed {
            const KINDS: [&str; 7] =
                ["array", "boolean", "integer", "null", "number", "object", "string"];
            let Some(name) = kind.as_str().filter(|name| KINDS.contains(name)) else {
                let place = pointer::below(place.pointer, "type");
                return Err(self.unusable(&place, format!("there is no type {kind}")));
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
            ["string"] => Type::Text,
            ["array"] => self.list(object, place)?,
            ["object"] => self.object(object, place)?,
            _ => Type::Any,
        };
        Ok(if is_nullable { nullable(found) } else { found })
    }

    /// A list; a tuple is one of any JSON.
    fn list(
        &mut self,
        object: &'a Map<String, Value>,
        place: Place<'a, '_>,
    ) -> Result<Type, Unusable> {
        let tuple = object.contains_key("prefixItems");
        let item = match object.get("items") {
            Some(items) if !tuple && !items.is_array() => {
                let below = pointer::below(place.pointer, "items");
                let name = camel_below(place.name, "item");
                let depth = place.depth + 1;
                self.value(Place { schema: items, pointer: &below, name: &name, depth })?
            }
            _ => Type::Any,
        };
        Ok(self.bounded(item, |item| Type::List(Box::new(item))))
    }

    /// A type by what it is made of: the same or null, or one in other words.
    fn composed(
        &mut self,
        object: &'a Map<String, Value>,
        place: Place<'a, '_>,
    ) -> Result<Type, Unusable> {
        const PARTS: [&str; 3] = ["anyOf", "oneOf", "allOf"];
        let mut parts = PARTS.iter().filter_map(|name| Some((*name, object.get(*name)?)));
        let (Some((keyword, Value::Array(choices))), None) = (parts.next(), parts.next()) else {
            return Ok(Type::Any);
        };
        let is_shaped = ["properties", "items", "prefixItems", "not", "if"];
        if is_shaped.iter().any(|name| object.contains_key(*name)) {
            return Ok(Type::Any);
        }
        let mut others = choices.iter().enumerate().filter(|(_, choice)| !is_null(choice));
        let (Some((index, only)), None) = (others.next(), others.next()) else {
            return Ok(Type::Any);
        };
        let with_null = choices.len() > 1;
        // Nothing is both null and something else.
        if with_null && keyword == "allOf" {
            return Ok(Type::Any);
        }
        let below = format!("{}/{index}", pointer::below(place.pointer, keyword));
        let depth = place.depth + 1;
        let found = self.value(Place { schema: only, pointer: &below, depth, ..place })?;
        Ok(if with_null { nullable(found) } else { found })
    }

    /// What a reference stands for.
    fn behind(&mut self, reference: &Value, place: Place<'a, '_>) -> Result<Type, Unusable> {
        let named = reference.as_str().ok_or_else(|| {
            let place = pointer::below(place.pointer, "$ref");
            self.unusable(&place, format!("a reference is a text, not {}", kind(reference)))
        })?;
        if pointer::local(named).is_none() {
            return Ok(Type::Any);
        }
        let (schema, found) = self.referred(reference, place.pointer)?;
        if let Some(index) = self.known.get(&found) {
            return Ok(Type::Own(*index));
        }
        let name = match found.is_empty() {
            true => place.name.to_owned(),
            false => camel_below(&self.name, &pointer::last(&found)),
        };
        // A list of itself, and so on, ends at the depth.
        self.value(Place { schema, pointer: &found, name: &name, depth: place.depth + 1 })
    }

    /// The schema that a reference names, and its place.
    fn referred(&self, reference: &Value, from: &str) -> Result<(&'a Value, String), Unusable> {
        let named = reference.as_str().and_then(pointer::local);
        let found = named.and_then(|place| Some((pointer::at(self.root, &place)?, place)));
        found.ok_or_else(|| {
            let place = pointer::below(from, "$ref");
            self.unusable(&place, format!("there is nothing at {reference}"))
        })
    }

    /// An enum of texts, or a text where they are too long for one.
    fn texts(
        &mut self,
        texts: Texts<'a>,
        object: &'a Map<String, Value>,
        place: Place<'a, '_>,
    ) -> Type {
        let fits = |text: &&str| super::object::is_short(text);
        let found = if texts.texts.iter().all(fits) {
            let mut names = Names::without(&["Self"]);
            let variant = |text: &&str| ((*text).to_owned(), names.take(&camel(text, "Empty")));
            let variants = texts.texts.iter().map(variant).collect();
            Type::Own(match self.known.get(place.pointer) {
                Some(index) => *index,
                None => self.own(place.name, object, place.pointer, Body::Enum(variants)),
            })
        } else {
            Type::Text
        };
        if texts.or_null { nullable(found) } else { found }
    }

    /// A type of the module's own for an object.
    pub(super) fn own_object(
        &mut self,
        object: &'a Map<String, Value>,
        place: Place<'a, '_>,
    ) -> Type {
        if let Some(index) = self.known.get(place.pointer) {
            return Type::Own(*index);
        }
        let body = Body::Struct(Struct::default());
        let index = self.own(place.name, object, place.pointer, body);
        self.waiting.push_back((index, object, place.pointer.to_owned()));
        Type::Own(index)
    }

    fn own(&mut self, name: &str, object: &Map<String, Value>, place: &str, body: Body) -> usize {
        let text = |name: &str| object.get(name).and_then(Value::as_str).map(str::to_owned);
        let tool = documentation::code(self.tool);
        let role = match (place, self.base) {
            ("", "/inputSchema") => format!("What {tool} takes."),
            ("", _) => format!("What {tool} gives."),
            (_, "/inputSchema") => format!("A part of what {tool} takes."),
            _ => format!("A part of what {tool} gives."),
        };
        self.types.push(Own {
            name: self.names.take(name),
            description: text("description"),
            role,
            is_output: self.base == "/outputSchema",
            body,
        });
        self.known.insert(place.to_owned(), self.types.len() - 1);
        self.types.len() - 1
    }

    /// A type around another, which is any JSON where it would be too wide.
    pub(super) fn bounded(&self, inside: Type, around: impl Fn(Type) -> Type) -> Type {
        let found = around(inside);
        match found.text(self.types).len() > WIDEST {
            true => around(Type::Any),
            false => found,
        }
    }

    pub(super) fn unusable(&self, pointer: &str, reason: String) -> Unusable {
        Unusable { tool: self.tool.to_owned(), pointer: format!("{}{pointer}", self.base), reason }
    }
}

/// The texts that a schema allows.
struct Texts<'a> {
    texts: Vec<&'a str>,
    or_null: bool,
}

impl<'a> Texts<'a> {
    /// Each once; nothing where one is no text, or there is none.
    fn of(texts: impl Iterator<Item = Option<&'a str>>, or_null: bool) -> Option<Self> {
        let (mut found, mut seen) = (Vec::new(), HashSet::new());
        for text in texts {
            let text = text?;
            if seen.insert(text) {
                found.push(text);
            }
        }
        (!found.is_empty()).then_some(Texts { texts: found, or_null })
    }
}

/// The texts of a schema that allows only certain ones, and null at most.
fn texts_of(object: &Map<String, Value>) -> Option<Texts<'_>> {
    let values: Vec<&Value> = match (object.get("enum"), object.get("const")) {
        (Some(Value::Array(values)), None) => values.iter().collect(),
        (None, Some(value)) => vec![value],
        _ => return each_a_text(object),
    };
    let or_null = values.iter().any(|value| value.is_null());
    let others = values.into_iter().filter(|value| !value.is_null());
    Texts::of(others.map(Value::as_str), or_null)
}

/// The same, said as a choice between constants.
fn each_a_text(object: &Map<String, Value>) -> Option<Texts<'_>> {
    let choices = object.get("anyOf").or_else(|| object.get("oneOf"))?.as_array()?;
    let others = choices.iter().filter(|choice| !is_null(choice));
    let constants = others.map(|choice| choice.get("const").and_then(Value::as_str));
    Texts::of(constants, choices.iter().any(is_null))
}

fn is_null(schema: &Value) -> bool {
    schema["type"] == "null"
        || schema.get("const").is_some_and(Value::is_null)
        || schema["enum"]
            .as_array()
            .is_some_and(|values| !values.is_empty() && values.iter().all(Value::is_null))
}

fn nullable(of: Type) -> Type {
    match of {
        // They can be null already.
        Type::Nullable(_) | Type::Any => of,
        other => Type::Nullable(Box::new(other)),
    }
}

/// Integers by their bounds: no sign where none can be, any JSON where they may
/// be larger than the machine's.
fn integer(object: &Map<String, Value>) -> Type {
    let bound = |name: &str| object.get(name).and_then(Value::as_f64);
    let least = [bound("minimum"), bound("exclusiveMinimum").map(|least| least + 1.0)];
    let most = [bound("maximum"), bound("exclusiveMaximum").map(|most| most - 1.0)];
    let least = least.into_iter().flatten().fold(f64::NEG_INFINITY, f64::max);
    let most = most.into_iter().flatten().fold(f64::INFINITY, f64::min);
    let (smallest, largest) = (i64::MIN as f64, i64::MAX as f64);
    match (least, most) {
        (least, most) if least >= 0.0 && !(most.is_finite() && most > u64::MAX as f64) => {
            Type::Unsigned
        }
        (least, most)
            if least.is_finite() && least < smallest || most.is_finite() && most > largest =>
        {
            Type::Any
        }
        _ => Type::Signed,
    }
}

/// The kind of a value, for a person.
pub(super) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
