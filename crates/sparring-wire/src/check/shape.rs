//! Holds a JSON value against a shape without building a tree, and without
//! allocation as long as it fits.

use super::findings::Findings;
use super::notation::{Range, Record, Shape, Shapes};
use super::path::Path;
use crate::json::{Json, JsonKind};
use crate::violation::Rule;

impl Shapes {
    /// Whether the value has the shape; what is wrong goes to `out`.
    pub(super) fn walk(
        &self,
        shape: &Shape,
        json: Json<'_>,
        path: &Path<'_>,
        out: &mut Findings<'_>,
    ) -> bool {
        match shape {
            Shape::Unknown => true,
            Shape::Named(index) => self.walk(self.at(*index), json, path, out),
            Shape::Both(parts) => {
                let mut fits = true;
                for part in parts {
                    if !fits && out.satisfied() {
                        break;
                    }
                    fits &= self.walk(part, json, path, out);
                }
                fits
            }
            Shape::Union(alternatives) => self.union(shape, alternatives, json, path, out),
            _ if !self.may_be(shape, json) => {
                out.add(Rule::WrongType, path, || self.expectation(shape, json));
                false
            }
            Shape::Record(record) => self.record(record, json, path, out),
            Shape::Map(value) => self.map(value, json, path, out),
            Shape::Array(item, range) => self.array(item, *range, json, path, out),
            Shape::Number(range) | Shape::Integer(range) => {
                let fits = json.as_f64().is_some_and(|it| range.holds(it));
                if !fits {
                    out.add(Rule::WrongValue, path, || {
                        format!("expected a number {range}, found {}", short(json))
                    });
                }
                fits
            }
            Shape::Text(_) | Shape::Exactly(_) => {
                let fits = is_constant(shape, json);
                if !fits {
                    out.add(Rule::WrongValue, path, || self.expectation(shape, json));
                }
                fits
            }
            Shape::Null | Shape::Boolean | Shape::String | Shape::Object => true,
        }
    }

    /// Whether the value has the shape, and nothing more.
    pub(super) fn fits(&self, shape: &Shape, json: Json<'_>) -> bool {
        self.walk(shape, json, &Path::new(""), &mut Findings::probe())
    }

    fn record(
        &self,
        record: &Record,
        json: Json<'_>,
        path: &Path<'_>,
        out: &mut Findings<'_>,
    ) -> bool {
        let (mut seen, mut fits) = (0u64, true);
        for (key, value) in json.members() {
            let position = record.fields.iter().position(|field| key.is(field.name));
            let Some(index) = position else { continue };
            seen |= 1 << index;
            let shape = &record.fields[index].shape;
            fits &= self.walk(shape, value, &path.key(key), out);
            if !fits && out.satisfied() {
                return false;
            }
        }
        let missing = record.required & !seen;
        if missing == 0 {
            return fits;
        }
        for (index, field) in record.fields.iter().enumerate() {
            if missing & (1 << index) != 0 {
                out.add(Rule::MissingField, &path.name(field.name), || {
                    format!("{} is required", field.name)
                });
            }
        }
        false
    }

    fn map(&self, shape: &Shape, json: Json<'_>, path: &Path<'_>, out: &mut Findings<'_>) -> bool {
        let mut fits = true;
        for (key, value) in json.members() {
            fits &= self.walk(shape, value, &path.key(key), out);
            if !fits && out.satisfied() {
                return false;
            }
        }
        fits
    }

    fn array(
        &self,
        shape: &Shape,
        range: Range,
        json: Json<'_>,
        path: &Path<'_>,
        out: &mut Findings<'_>,
    ) -> bool {
        let (mut fits, mut count) = (true, 0usize);
        for item in json.items() {
            fits &= self.walk(shape, item, &path.index(count), out);
            count += 1;
            if !fits && out.satisfied() {
                return false;
            }
        }
        if !range.holds(count as f64) {
            out.add(Rule::WrongValue, path, || {
                format!("expected a number of items {range}, found {count}")
            });
            return false;
        }
        fits
    }

    fn union(
        &self,
        shape: &Shape,
        alternatives: &[Shape],
        json: Json<'_>,
        path: &Path<'_>,
        out: &mut Findings<'_>,
    ) -> bool {
        if alternatives.iter().any(|it| self.fits(it, json)) {
            return true;
        }
        if out.probing() {
            return false;
        }
        let possible = |it: &&Shape| self.may_be(it, json);
        let mut candidates: Vec<_> = alternatives.iter().filter(possible).collect();
        if candidates.is_empty() {
            out.add(Rule::WrongType, path, || self.expectation(shape, json));
            return false;
        }
        if candidates.iter().all(|it| is_one_value(it)) {
            out.add(Rule::WrongValue, path, || self.expectation(shape, json));
            return false;
        }
        // A constant field, as `type` or `method`, says which one was meant.
        let claimed = |it: &&Shape| self.claims(it, json);
        if candidates.iter().any(claimed) {
            candidates.retain(claimed);
        } else if self.wrong_tag(&candidates, json, path, out) {
            return false;
        }
        let trials = candidates.into_iter().map(|candidate| {
            let mut trial = out.trial();
            self.walk(candidate, json, path, &mut trial);
            trial
        });
        if let Some(best) = trials.min_by_key(Findings::count) {
            out.absorb(best.done());
        }
        false
    }

    /// Reports the field that should say which alternative is meant, where all
    /// of them have the same one.
    fn wrong_tag(
        &self,
        candidates: &[&Shape],
        json: Json<'_>,
        path: &Path<'_>,
        out: &mut Findings<'_>,
    ) -> bool {
        let Some(tag) = candidates.first().and_then(|it| self.tags(it).next()) else {
            return false;
        };
        let shared = candidates.iter().map(|candidate| {
            let mut tags = self.tags(candidate);
            tags.find(|it| it.name == tag.name)
        });
        let Some(tags) = shared.collect::<Option<Vec<_>>>() else {
            return false;
        };
        let path = path.name(tag.name);
        let Some(value) = json.get(tag.name) else {
            out.add(Rule::MissingField, &path, || format!("{} is required", tag.name));
            return true;
        };
        if tags.iter().any(|tag| self.fits(tag.shape, value)) {
            return false;
        }
        let rule = match tags.iter().any(|tag| self.may_be(tag.shape, value)) {
            true => Rule::WrongValue,
            false => Rule::WrongType,
        };
        out.add(rule, &path, || {
            let names = either(tags.iter().map(|tag| self.describe(tag.shape)));
            format!("expected {names}, found {}", short(value))
        });
        true
    }

    /// Whether the constant fields of an alternative are in the value.
    fn claims(&self, shape: &Shape, json: Json<'_>) -> bool {
        let mut tags = self.tags(shape).peekable();
        tags.peek().is_some()
            && tags.all(|tag| match json.get(tag.name) {
                Some(value) => self.fits(tag.shape, value),
                None => !tag.required,
            })
    }

    /// The fields of a record that tell it from others: those that can have
    /// only certain values and must be there, or that can have only one.
    fn tags<'s>(&'s self, shape: &'s Shape) -> impl Iterator<Item = Tag<'s>> {
        let record = match shape {
            Shape::Named(index) => self.at(*index),
            other => other,
        };
        let (fields, required): (&[_], _) = match record {
            Shape::Record(record) => (&record.fields, record.required),
            _ => (&[], 0),
        };
        let tags = fields.iter().enumerate().map(move |(index, field)| Tag {
            name: field.name,
            shape: &field.shape,
            required: required & (1 << index) != 0,
        });
        tags.filter(|tag| match tag.required {
            true => is_one_value(tag.shape),
            false => matches!(tag.shape, Shape::Text(_) | Shape::Exactly(_)),
        })
    }

    /// Whether a value of that type can have the shape at all.
    fn may_be(&self, shape: &Shape, json: Json<'_>) -> bool {
        let kind = json.kind();
        match shape {
            Shape::Unknown => true,
            Shape::Null => kind == JsonKind::Null,
            Shape::Boolean => kind == JsonKind::Boolean,
            Shape::String | Shape::Text(_) => kind == JsonKind::String,
            Shape::Number(_) | Shape::Exactly(_) => {
                matches!(kind, JsonKind::Integer | JsonKind::Number)
            }
            // JSON Schema counts 1.0 as an integer, and so do its users.
            Shape::Integer(_) => match kind {
                JsonKind::Integer => true,
                JsonKind::Number => json.as_f64().is_some_and(|it| it.fract() == 0.0),
                _ => false,
            },
            Shape::Object | Shape::Map(_) | Shape::Record(_) => kind == JsonKind::Object,
            Shape::Array(..) => kind == JsonKind::Array,
            Shape::Named(index) => self.may_be(self.at(*index), json),
            Shape::Union(shapes) => shapes.iter().any(|it| self.may_be(it, json)),
            Shape::Both(shapes) => shapes.iter().all(|it| self.may_be(it, json)),
        }
    }

    fn expectation(&self, shape: &Shape, json: Json<'_>) -> String {
        format!("expected {}, found {}", self.describe(shape), short(json))
    }

    fn describe(&self, shape: &Shape) -> String {
        match shape {
            Shape::Unknown => "any value".to_owned(),
            Shape::Null => "null".to_owned(),
            Shape::Boolean => "a boolean".to_owned(),
            Shape::String => "a string".to_owned(),
            Shape::Number(_) => "a number".to_owned(),
            Shape::Integer(_) => "an integer".to_owned(),
            Shape::Text(text) => format!("{text:?}"),
            Shape::Exactly(number) => number.to_string(),
            Shape::Object | Shape::Map(_) | Shape::Record(_) => "an object".to_owned(),
            Shape::Array(..) => "an array".to_owned(),
            Shape::Named(index) => self.describe(self.at(*index)),
            Shape::Both(parts) => parts.first().map_or(String::new(), |it| self.describe(it)),
            Shape::Union(shapes) => either(shapes.iter().map(|it| self.describe(it))),
        }
    }
}

/// Several descriptions as one, each named once.
fn either(names: impl Iterator<Item = String>) -> String {
    let mut different: Vec<String> = Vec::new();
    for name in names {
        if !different.contains(&name) {
            different.push(name);
        }
    }
    different.join(" or ")
}

/// A field that says which alternative of a union is meant.
struct Tag<'s> {
    name: &'static str,
    shape: &'s Shape,
    required: bool,
}

/// Whether only certain strings or numbers have the shape.
fn is_one_value(shape: &Shape) -> bool {
    match shape {
        Shape::Text(_) | Shape::Exactly(_) => true,
        Shape::Union(shapes) => shapes.iter().all(is_one_value),
        _ => false,
    }
}

fn is_constant(shape: &Shape, json: Json<'_>) -> bool {
    match shape {
        Shape::Text(text) => json.as_str().is_some_and(|it| it == *text),
        Shape::Exactly(number) => json.as_f64().is_some_and(|it| it == *number as f64),
        _ => false,
    }
}

/// The value for a message: scalars as spelled, others by their type.
pub(super) fn short(json: Json<'_>) -> String {
    match json.kind() {
        JsonKind::Object => return "an object".to_owned(),
        JsonKind::Array => return "an array".to_owned(),
        _ => {}
    }
    let text = json.text();
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.into_owned(),
    }
}

impl Range {
    fn holds(self, number: f64) -> bool {
        self.low.is_none_or(|low| number >= low) && self.high.is_none_or(|high| number <= high)
    }
}

impl std::fmt::Display for Range {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.low, self.high) {
            (Some(low), Some(high)) => write!(f, "from {low} to {high}"),
            (Some(low), None) => write!(f, "of at least {low}"),
            (None, Some(high)) => write!(f, "of at most {high}"),
            (None, None) => f.write_str("of any size"),
        }
    }
}
