//! Objects of a schema: structs where their members have names, maps where they
//! have none.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::pointer;
use super::reader::{LONGEST_TEXT, Place, Reader, kind};
use crate::literal;
use crate::model::{Field, Struct, Type};
use crate::names::{all_snake, camel_below};
use crate::source::Unusable;

/// Keywords by which a schema can speak of more members than it lists.
const MORE: [&str; 10] = [
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

/// The members that a schema lists, and the names of those that must be there.
type Members<'a> = (Option<&'a Map<String, Value>>, Vec<&'a str>);

impl<'a> Reader<'a> {
    /// Whether a call has nothing to give.
    pub(super) fn takes_nothing(
        &self,
        object: &Map<String, Value>,
        place: &str,
    ) -> Result<bool, Unusable> {
        let (members, required) = self.members(object, place)?;
        let closed = matches!(object.get("additionalProperties"), None | Some(Value::Bool(false)));
        let more = MORE.iter().any(|name| object.contains_key(*name));
        Ok(members.is_none_or(Map::is_empty) && required.is_empty() && closed && !more)
    }

    /// The type of an object within others.
    pub(super) fn object(
        &mut self,
        object: &'a Map<String, Value>,
        place: Place<'a, '_>,
    ) -> Result<Type, Unusable> {
        let (members, required) = self.members(object, place.pointer)?;
        if members.is_some_and(|members| !members.is_empty()) || !required.is_empty() {
            return Ok(self.own_object(object, place));
        }
        let value = match object.get("additionalProperties") {
            Some(values @ Value::Object(_)) if !object.contains_key("patternProperties") => {
                let below = pointer::below(place.pointer, "additionalProperties");
                let name = camel_below(place.name, "value");
                let depth = place.depth + 1;
                self.value(Place { schema: values, pointer: &below, name: &name, depth })?
            }
            _ => Type::Any,
        };
        Ok(self.bounded(value, |value| Type::Map(Box::new(value))))
    }

    /// What is in a struct. First stands what must be there, in the order in
    /// which the schema lists it; members of an object have no order, so that
    /// what else there is stands by its name.
    pub(super) fn body(
        &mut self,
        index: usize,
        object: &'a Map<String, Value>,
        place: &str,
    ) -> Result<Struct, Unusable> {
        let (members, required) = self.members(object, place)?;
        let mut optional: Vec<&'a str> =
            members.into_iter().flatten().map(|(name, _)| &**name).collect();
        let must: HashSet<&str> = required.iter().copied().collect();
        optional.retain(|name| !must.contains(name));
        optional.sort_unstable();
        let (below, own) = (pointer::below(place, "properties"), self.types[index].name.clone());
        let mut body = Struct::default();
        let all = required.into_iter().chain(optional);
        let (all, unnamed): (Vec<&str>, Vec<&str>) = all.partition(|name| is_short(name));
        // The last name is for what has none.
        let wanted: Vec<&str> = all.iter().copied().chain(["additional "]).collect();
        let mut names = all_snake(&wanted, "field");
        let last = names.pop();
        for (wire, name) in all.into_iter().zip(names) {
            let schema = members.and_then(|members| members.get(wire));
            let schema = schema.unwrap_or(&Value::Bool(true));
            let own = camel_below(&own, wire);
            let place = pointer::below(&below, wire);
            let value = self.value(Place { schema, pointer: &place, name: &own, depth: 0 })?;
            body.fields.push(Field {
                wire: wire.to_owned(),
                name,
                value,
                is_required: must.contains(wire),
                is_boxed: false,
                description: schema["description"].as_str().map(str::to_owned),
                default: schema.get("default").map(Value::to_string),
            });
        }
        let additional = self.additional(object, place, &own, !unnamed.is_empty())?;
        body.is_closed =
            object.get("additionalProperties") == Some(&Value::Bool(false)) && additional.is_none();
        body.additional = last.zip(additional);
        Ok(body)
    }

    /// What may be there beside the members that are listed, where the schema
    /// speaks of that; what it does not forbid is not for that something to give.
    fn additional(
        &mut self,
        object: &'a Map<String, Value>,
        place: &str,
        own: &str,
        unnamed: bool,
    ) -> Result<Option<Type>, Unusable> {
        let more = |name: &&&str| object.contains_key(**name);
        let patterns = object.contains_key("patternProperties");
        match object.get("additionalProperties") {
            _ if unnamed || patterns => Ok(Some(Type::Any)),
            Some(Value::Bool(true)) => Ok(Some(Type::Any)),
            Some(values @ Value::Object(_)) => {
                let below = pointer::below(place, "additionalProperties");
                let name = camel_below(own, "value");
                let place = Place { schema: values, pointer: &below, name: &name, depth: 1 };
                let value = self.value(place)?;
                Ok(Some(self.bounded(value, |value| value)))
            }
            Some(Value::Bool(false)) => Ok(None),
            _ if MORE.iter().find(more).is_some() => Ok(Some(Type::Any)),
            _ => Ok(None),
        }
    }

    /// The members that a schema lists, and which of them must be there.
    fn members<'b>(
        &self,
        object: &'b Map<String, Value>,
        place: &str,
    ) -> Result<Members<'b>, Unusable> {
        let members = match object.get("properties") {
            None => None,
            Some(Value::Object(members)) => Some(members),
            Some(other) => {
                let place = pointer::below(place, "properties");
                return Err(self.unusable(&place, format!("it is {}, not an object", kind(other))));
            }
        };
        let mut required = Vec::new();
        let listed = match object.get("required") {
            // Old schemas say of a member itself that it is required.
            None | Some(Value::Bool(_)) => &[][..],
            Some(Value::Array(listed)) => listed,
            Some(other) => {
                let place = pointer::below(place, "required");
                return Err(self.unusable(&place, format!("it is {}, not a list", kind(other))));
            }
        };
        let mut seen = HashSet::new();
        for name in listed {
            let Some(name) = name.as_str() else {
                let place = pointer::below(place, "required");
                return Err(self.unusable(&place, format!("{} is no name", kind(name))));
            };
            if seen.insert(name) {
                required.push(name);
            }
        }
        Ok((members, required))
    }
}

/// Whether a text has its place in an attribute.
pub(super) fn is_short(text: &str) -> bool {
    text.len() <= LONGEST_TEXT && literal::string(text).len() <= LONGEST_TEXT
}
