//! Compares a JSON value with a shape, without building a tree and, while the value
//! fits, without allocation.

use std::cmp::Reverse;

use super::formats::{
    Format, is_icon_source, meta_key_problem, reserved_key_problem, trace_problem,
};
use super::json_path::JsonPath;
use super::shape_parser::{Field, Range, Record, Shape, TypeShapes};
use super::violation_collector::ViolationCollector;
use crate::json::{Json, JsonKind};
use crate::revision::ReservedPrefixes;
use crate::rule::Rule;

impl TypeShapes {
    /// Returns true if the value has the shape; adds violations to `out`.
    pub(super) fn check(
        &self,
        shape: &Shape,
        json: Json<'_>,
        path: &JsonPath<'_>,
        out: &mut ViolationCollector<'_>,
    ) -> bool {
        match shape {
            Shape::Unknown => true,
            Shape::Named(index) => self.check(self.by_index(*index), json, path, out),
            Shape::Intersection(parts) => {
                let mut fits = true;
                for part in parts {
                    if !fits && out.is_full() {
                        break;
                    }
                    fits &= self.check(part, json, path, out);
                }
                fits
            }
            Shape::Union(alternatives) => self.check_union(shape, alternatives, json, path, out),
            _ if !self.accepts_kind(shape, json) => {
                out.add(Rule::WrongType, path, || self.mismatch_message(shape, json));
                false
            }
            Shape::Record(record) => self.check_record(record, json, path, out),
            Shape::Map(value) => self.check_map(value, json, path, out),
            Shape::Array(item, range) => self.check_array(item, *range, json, path, out),
            Shape::Number(range) | Shape::Integer(range) => {
                let fits = json.as_f64().is_some_and(|it| range.contains(it));
                if !fits {
                    out.add(Rule::WrongValue, path, || {
                        format!("expected a number ({range}), found {}", render_value(json))
                    });
                }
                fits
            }
            Shape::Text(_) | Shape::Constant(_) => {
                let fits = is_constant(shape, json);
                if !fits {
                    out.add(Rule::WrongValue, path, || self.mismatch_message(shape, json));
                }
                fits
            }
            Shape::Format(format) => {
                check_format(*format, json, path, out);
                true
            }
            Shape::Null | Shape::Boolean | Shape::String | Shape::Object => true,
        }
    }

    /// Returns true if the value has the shape, without collecting violations.
    pub(super) fn fits(&self, shape: &Shape, json: Json<'_>) -> bool {
        self.check(shape, json, &JsonPath::new(""), &mut ViolationCollector::for_probe())
    }

    fn check_record(
        &self,
        record: &Record,
        json: Json<'_>,
        path: &JsonPath<'_>,
        out: &mut ViolationCollector<'_>,
    ) -> bool {
        let (mut seen, mut fits) = (0u64, true);
        for (key, value) in json.members() {
            let position = record.fields.iter().position(|field| key.is(field.name));
            let Some(index) = position else { continue };
            seen |= 1 << index;
            let Field { name, shape } = &record.fields[index];
            let here = path.key(key);
            fits &= self.check(shape, value, &here, out);
            if *name == "_meta" && self.has_meta_rules {
                check_meta_keys(value, self.reserved_prefixes, &here, out);
                if self.has_trace_rules {
                    check_trace_context(value, &here, out);
                }
            }
            if !fits && out.is_full() {
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

    fn check_map(
        &self,
        shape: &Shape,
        json: Json<'_>,
        path: &JsonPath<'_>,
        out: &mut ViolationCollector<'_>,
    ) -> bool {
        let mut fits = true;
        for (key, value) in json.members() {
            fits &= self.check(shape, value, &path.key(key), out);
            if !fits && out.is_full() {
                return false;
            }
        }
        fits
    }

    fn check_array(
        &self,
        shape: &Shape,
        range: Range,
        json: Json<'_>,
        path: &JsonPath<'_>,
        out: &mut ViolationCollector<'_>,
    ) -> bool {
        let (mut fits, mut count) = (true, 0usize);
        for item in json.items() {
            fits &= self.check(shape, item, &path.index(count), out);
            count += 1;
            if !fits && out.is_full() {
                return false;
            }
        }
        if !range.contains(count as f64) {
            out.add(Rule::WrongValue, path, || format!("expected {range} items, found {count}"));
            return false;
        }
        fits
    }

    fn check_union(
        &self,
        shape: &Shape,
        alternatives: &[Shape],
        json: Json<'_>,
        path: &JsonPath<'_>,
        out: &mut ViolationCollector<'_>,
    ) -> bool {
        if let Some(alternative) = alternatives.iter().find(|it| self.fits(it, json)) {
            // The probe ignores formats.
            return out.is_probing() || self.check(alternative, json, path, out);
        }
        if out.is_probing() {
            return false;
        }
        let possible = |it: &&Shape| self.accepts_kind(it, json);
        let mut candidates: Vec<_> = alternatives.iter().filter(possible).collect();
        if candidates.is_empty() {
            out.add(Rule::WrongType, path, || self.mismatch_message(shape, json));
            return false;
        }
        if candidates.iter().all(|it| is_enumeration(it)) {
            out.add(Rule::WrongValue, path, || self.mismatch_message(shape, json));
            return false;
        }
        // A constant field, such as `type` or `method`, selects an alternative.
        let selected = |it: &&Shape| self.has_tags_of(it, json);
        if candidates.iter().any(selected) {
            candidates.retain(selected);
        } else if self.report_wrong_tag(&candidates, json, path, out) {
            return false;
        }
        let trials = candidates.into_iter().map(|candidate| {
            let mut trial = out.for_trial();
            self.check(candidate, json, path, &mut trial);
            (self.present_fields(candidate, json), trial)
        });
        // Of two alternatives that fit equally badly, the one whose fields are there is meant.
        let best = trials.min_by_key(|(present, trial)| (trial.count(), Reverse(*present)));
        if let Some((_, best)) = best {
            out.extend(best.into_violations());
        }
        false
    }

    /// Reports a wrong tag: the field that selects an alternative, if all alternatives
    /// have the same one.
    fn report_wrong_tag(
        &self,
        candidates: &[&Shape],
        json: Json<'_>,
        path: &JsonPath<'_>,
        out: &mut ViolationCollector<'_>,
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
        let rule = match tags.iter().any(|tag| self.accepts_kind(tag.shape, value)) {
            true => Rule::WrongValue,
            false => Rule::WrongType,
        };
        out.add(rule, &path, || {
            let names = join_alternatives(tags.iter().map(|tag| self.describe(tag.shape)));
            format!("expected {names}, found {}", render_value(value))
        });
        true
    }

    /// Returns true if the value has the tags of an alternative.
    fn has_tags_of(&self, shape: &Shape, json: Json<'_>) -> bool {
        let mut tags = self.tags(shape).peekable();
        tags.peek().is_some()
            && tags.all(|tag| match json.get(tag.name) {
                Some(value) => self.fits(tag.shape, value),
                None => !tag.required,
            })
    }

    /// Returns the tags of a record: its required fields with a fixed set of values,
    /// and its optional fields with one constant value.
    fn tags<'s>(&'s self, shape: &'s Shape) -> impl Iterator<Item = Tag<'s>> {
        let record = match shape {
            Shape::Named(index) => self.by_index(*index),
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
            true => is_enumeration(tag.shape),
            false => matches!(tag.shape, Shape::Text(_) | Shape::Constant(_)),
        })
    }

    /// Returns the number of required fields of a record that the value has.
    fn present_fields(&self, shape: &Shape, json: Json<'_>) -> usize {
        let record = match shape {
            Shape::Named(index) => self.by_index(*index),
            other => other,
        };
        let Shape::Record(record) = record else { return 0 };
        let required = record.fields.iter().enumerate();
        let required = required.filter(|(index, _)| record.required & (1 << index) != 0);
        required.filter(|(_, field)| json.get(field.name).is_some()).count()
    }

    /// Returns true if a value of that JSON type can have the shape.
    fn accepts_kind(&self, shape: &Shape, json: Json<'_>) -> bool {
        let kind = json.kind();
        match shape {
            Shape::Unknown => true,
            Shape::Null => kind == JsonKind::Null,
            Shape::Boolean => kind == JsonKind::Boolean,
            Shape::String | Shape::Text(_) | Shape::Format(_) => kind == JsonKind::String,
            Shape::Number(_) | Shape::Constant(_) => {
                matches!(kind, JsonKind::Integer | JsonKind::Number)
            }
            // In JSON Schema, 1.0 is an integer.
            Shape::Integer(_) => match kind {
                JsonKind::Integer => true,
                JsonKind::Number => json.as_f64().is_some_and(|it| it.fract() == 0.0),
                _ => false,
            },
            Shape::Object | Shape::Map(_) | Shape::Record(_) => kind == JsonKind::Object,
            Shape::Array(..) => kind == JsonKind::Array,
            Shape::Named(index) => self.accepts_kind(self.by_index(*index), json),
            Shape::Union(shapes) => shapes.iter().any(|it| self.accepts_kind(it, json)),
            Shape::Intersection(shapes) => shapes.iter().all(|it| self.accepts_kind(it, json)),
        }
    }

    fn mismatch_message(&self, shape: &Shape, json: Json<'_>) -> String {
        format!("expected {}, found {}", self.describe(shape), render_value(json))
    }

    fn describe(&self, shape: &Shape) -> String {
        match shape {
            Shape::Unknown => "any value".to_owned(),
            Shape::Null => "null".to_owned(),
            Shape::Boolean => "a boolean".to_owned(),
            Shape::String | Shape::Format(_) => "a string".to_owned(),
            Shape::Number(_) => "a number".to_owned(),
            Shape::Integer(_) => "an integer".to_owned(),
            Shape::Text(text) => format!("{text:?}"),
            Shape::Constant(number) => number.to_string(),
            Shape::Object | Shape::Map(_) | Shape::Record(_) => "an object".to_owned(),
            Shape::Array(..) => "an array".to_owned(),
            Shape::Named(index) => self.describe(self.by_index(*index)),
            Shape::Intersection(parts) => {
                parts.first().map_or(String::new(), |it| self.describe(it))
            }
            Shape::Union(shapes) => join_alternatives(shapes.iter().map(|it| self.describe(it))),
        }
    }
}

/// Checks the syntax of a string. Another syntax is a violation, but the value still has
/// the shape, so that it does not change the choice of an alternative.
fn check_format(
    format: Format,
    json: Json<'_>,
    path: &JsonPath<'_>,
    out: &mut ViolationCollector<'_>,
) {
    if out.is_probing() {
        return;
    }
    let Some(text) = json.as_str() else { return };
    match format.problem(&text) {
        Some(problem) => out.add_in_section(format.section(), format.rule(), path, || problem),
        None if format == Format::IconUri && !is_icon_source(&text) => {
            out.add_in_own_section(Rule::InvalidIconSource, path, || {
                "expected a URI with the scheme https, http or data".to_owned()
            });
        }
        None => {}
    }
}

/// Checks the keys of a `_meta` object.
fn check_meta_keys(
    json: Json<'_>,
    reserved: ReservedPrefixes,
    path: &JsonPath<'_>,
    out: &mut ViolationCollector<'_>,
) {
    if out.is_probing() {
        return;
    }
    for (key, _) in json.members() {
        if let Some(problem) = reserved_key_problem(&key.name(), reserved) {
            out.add_in_own_section(Rule::ReservedMetaKey, &path.key(key), || problem);
        }
        if let Some(problem) = meta_key_problem(&key.name(), false) {
            out.add_in_own_section(Rule::InvalidMetaKey, &path.key(key), || problem);
        }
    }
}

/// Checks the values of `_meta` that carry a trace.
fn check_trace_context(json: Json<'_>, path: &JsonPath<'_>, out: &mut ViolationCollector<'_>) {
    if out.is_probing() {
        return;
    }
    for (key, value) in json.members() {
        let problem = match (key.name(), value.as_str()) {
            (name, Some(value)) => trace_problem(&name, &value),
            (name, None) => ["traceparent", "tracestate", "baggage"]
                .contains(&&*name)
                .then(|| format!("expected a string, found {}", render_value(value))),
        };
        if let Some(problem) = problem {
            out.add_in_own_section(Rule::InvalidTraceContext, &path.key(key), || problem);
        }
    }
}

/// Joins descriptions with "or", each of them once.
fn join_alternatives(names: impl Iterator<Item = String>) -> String {
    let mut unique: Vec<String> = Vec::new();
    for name in names {
        if !unique.contains(&name) {
            unique.push(name);
        }
    }
    unique.join(" or ")
}

/// A field that selects an alternative of a union.
struct Tag<'s> {
    name: &'static str,
    shape: &'s Shape,
    required: bool,
}

/// Returns true if the shape is a constant or a union of constants.
fn is_enumeration(shape: &Shape) -> bool {
    match shape {
        Shape::Text(_) | Shape::Constant(_) => true,
        Shape::Union(shapes) => shapes.iter().all(is_enumeration),
        _ => false,
    }
}

fn is_constant(shape: &Shape, json: Json<'_>) -> bool {
    match shape {
        Shape::Text(text) => json.as_str().is_some_and(|it| it == *text),
        Shape::Constant(number) => json.as_f64().is_some_and(|it| it == *number as f64),
        _ => false,
    }
}

/// Renders a value for a message: a scalar as written, another value by its type.
pub(super) fn render_value(json: Json<'_>) -> String {
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
    fn contains(self, number: f64) -> bool {
        self.low.is_none_or(|low| number >= low) && self.high.is_none_or(|high| number <= high)
    }
}

impl std::fmt::Display for Range {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.low, self.high) {
            (Some(low), Some(high)) => write!(f, "{low} to {high}"),
            (Some(low), None) => write!(f, "at least {low}"),
            (None, Some(high)) => write!(f, "at most {high}"),
            (None, None) => f.write_str("any"),
        }
    }
}
