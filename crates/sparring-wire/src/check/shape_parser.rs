//! Parses the notation in which a revision's file declares the shapes of its types.
//! It resembles TypeScript, with one line per type:
//!
//! ```text
//! Role = "user" | "assistant"
//! Annotations = { audience?: Role[], priority?: number(0..1) }
//! CompleteResult = { completion: { values: string[](..100) }, _meta?: object }
//! InputRequests = map<InputRequest>
//! GetTaskResult = Result & Task
//! ```
//!
//! A record can always have more fields than it declares. `unknown` is any value,
//! `object` any object, `map<T>` an object whose values are all `T`. `base64`, `uri`, `url`,
//! `uritemplate`, `mediatype`, `resourcemediatype`, `timestamp`, `lastmodified` and `iconsize` are
//! strings with that syntax.

use foldhash::fast::RandomState;
use std::collections::HashMap;
use std::sync::OnceLock;

use super::formats::Format;
use crate::revision::{ReservedPrefixes, Revision};

/// The shapes of all types of one revision.
#[derive(Debug)]
pub(super) struct TypeShapes {
    names: HashMap<&'static str, usize, RandomState>,
    types: Vec<Shape>,
    /// True if the revision has rules for the keys of `_meta`.
    pub(super) has_meta_rules: bool,
    pub(super) reserved_prefixes: ReservedPrefixes,
    /// True if the values of some keys of `_meta` have a syntax.
    pub(super) has_trace_rules: bool,
}

/// The values that a type allows.
#[derive(Debug)]
pub(super) enum Shape {
    /// Any value.
    Unknown,
    Null,
    Boolean,
    String,
    /// A string with a syntax.
    Format(Format),
    Number(Range),
    Integer(Range),
    /// Only this string.
    Text(&'static str),
    /// Only this number.
    Constant(i64),
    /// Any object.
    Object,
    /// An object whose values are all of one shape.
    Map(Box<Shape>),
    Record(Record),
    Array(Box<Shape>, Range),
    /// A type by its index in [`TypeShapes`].
    Named(usize),
    /// At least one of these shapes.
    Union(Vec<Shape>),
    /// All of these shapes.
    Intersection(Vec<Shape>),
}

/// Minimum and maximum, both inclusive.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Range {
    pub(super) low: Option<f64>,
    pub(super) high: Option<f64>,
}

/// An object with these fields, and possibly others.
#[derive(Debug)]
pub(super) struct Record {
    pub(super) fields: Vec<Field>,
    /// One bit per field, set for required fields.
    pub(super) required: u64,
}

#[derive(Debug)]
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) shape: Shape,
}

/// A line that the parser cannot read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message} in {line:?}, before {rest:?}")]
pub(super) struct ShapeSyntaxError {
    message: String,
    line: String,
    rest: String,
}

impl TypeShapes {
    /// Returns the shapes of a revision, which are parsed once.
    pub(super) fn for_revision(revision: Revision) -> &'static TypeShapes {
        static ALL: [OnceLock<TypeShapes>; Revision::ALL.len()] =
            [const { OnceLock::new() }; Revision::ALL.len()];
        ALL[revision as usize].get_or_init(|| {
            let definition = revision.definition();
            let shapes = TypeShapes::parse(definition.shapes)
                .expect("a unit test parses the shapes of every revision");
            TypeShapes {
                has_meta_rules: definition.meta_key_rules,
                reserved_prefixes: definition.reserved_prefixes,
                has_trace_rules: definition.modern,
                ..shapes
            }
        })
    }

    pub(super) fn parse(text: &'static str) -> Result<TypeShapes, ShapeSyntaxError> {
        let lines = text.lines().filter(|line| !line.trim().is_empty());
        let split = lines.map(|line| line.split_once(" = ").unwrap_or((line, "")));
        let split: Vec<_> = split.collect();
        let mut names = HashMap::default();
        for (index, (name, _)) in split.iter().enumerate() {
            names.insert(*name, index);
        }
        let mut types = Vec::with_capacity(split.len());
        for (_, body) in &split {
            types.push(ShapeParser::parse(body, &names)?);
        }
        Ok(TypeShapes {
            names,
            types,
            has_meta_rules: false,
            reserved_prefixes: ReservedPrefixes::None,
            has_trace_rules: false,
        })
    }

    /// Returns the shape of the type of that name.
    pub(super) fn get(&self, name: &str) -> Option<&Shape> {
        self.names.get(name).map(|&index| &self.types[index])
    }

    pub(super) fn by_index(&self, index: usize) -> &Shape {
        &self.types[index]
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.names.keys().copied()
    }
}

struct ShapeParser<'n> {
    line: &'static str,
    rest: &'static str,
    names: &'n HashMap<&'static str, usize, RandomState>,
}

impl<'n> ShapeParser<'n> {
    fn parse(
        line: &'static str,
        names: &'n HashMap<&'static str, usize, RandomState>,
    ) -> Result<Shape, ShapeSyntaxError> {
        let mut parser = ShapeParser { line, rest: line, names };
        let shape = parser.parse_union()?;
        match parser.rest.trim().is_empty() {
            true => Ok(shape),
            false => Err(parser.error("expected the end of the line")),
        }
    }

    fn parse_union(&mut self) -> Result<Shape, ShapeSyntaxError> {
        self.parse_operator("|", Self::parse_intersection, Shape::Union)
    }

    fn parse_intersection(&mut self) -> Result<Shape, ShapeSyntaxError> {
        self.parse_operator("&", Self::parse_array, Shape::Intersection)
    }

    /// Parses one or more shapes with an operator between them.
    fn parse_operator(
        &mut self,
        operator: &str,
        parse_one: fn(&mut Self) -> Result<Shape, ShapeSyntaxError>,
        join: fn(Vec<Shape>) -> Shape,
    ) -> Result<Shape, ShapeSyntaxError> {
        let first = parse_one(self)?;
        if !self.accept(operator) {
            return Ok(first);
        }
        let mut shapes = vec![first, parse_one(self)?];
        while self.accept(operator) {
            shapes.push(parse_one(self)?);
        }
        Ok(join(shapes))
    }

    fn parse_array(&mut self) -> Result<Shape, ShapeSyntaxError> {
        let mut shape = self.parse_single()?;
        while self.accept("[]") {
            shape = Shape::Array(Box::new(shape), self.parse_range()?);
        }
        Ok(shape)
    }

    fn parse_single(&mut self) -> Result<Shape, ShapeSyntaxError> {
        if self.accept("{") {
            return self.parse_record().map(Shape::Record);
        }
        if self.accept("(") {
            let inner = self.parse_union()?;
            self.expect(")")?;
            return Ok(inner);
        }
        if self.rest.trim_start().starts_with('"') {
            return self.parse_quoted().map(Shape::Text);
        }
        if let Some(number) = self.parse_number() {
            return Ok(Shape::Constant(number as i64));
        }
        let name = self.parse_word()?;
        Ok(match name {
            "unknown" => Shape::Unknown,
            "null" => Shape::Null,
            "boolean" => Shape::Boolean,
            "string" => Shape::String,
            "number" => Shape::Number(self.parse_range()?),
            "integer" => Shape::Integer(self.parse_range()?),
            "object" => Shape::Object,
            "map" => {
                self.expect("<")?;
                let inner = self.parse_union()?;
                self.expect(">")?;
                Shape::Map(Box::new(inner))
            }
            _ => match (self.names.get(name), Format::from_name(name)) {
                (Some(&index), _) => Shape::Named(index),
                (None, Some(format)) => Shape::Format(format),
                (None, None) => return Err(self.error(&format!("unknown type {name}"))),
            },
        })
    }

    fn parse_record(&mut self) -> Result<Record, ShapeSyntaxError> {
        let (mut fields, mut required) = (Vec::new(), 0u64);
        while !self.accept("}") {
            let name = match self.rest.trim_start().starts_with('"') {
                true => self.parse_quoted()?,
                false => self.parse_word()?,
            };
            if fields.len() == 64 {
                return Err(self.error("a record can have at most 64 fields"));
            }
            if !self.accept("?") {
                required |= 1 << fields.len();
            }
            self.expect(":")?;
            let shape = self.parse_union()?;
            fields.push(Field { name, shape });
            if !self.accept(",") {
                self.expect("}")?;
                break;
            }
        }
        Ok(Record { fields, required })
    }

    /// Parses an optional range `(low..high)`. Each number is optional too.
    fn parse_range(&mut self) -> Result<Range, ShapeSyntaxError> {
        if !self.accept("(") {
            return Ok(Range::default());
        }
        let low = self.parse_number();
        self.expect("..")?;
        let high = self.parse_number();
        self.expect(")")?;
        Ok(Range { low, high })
    }

    fn parse_number(&mut self) -> Option<f64> {
        let rest = self.rest.trim_start();
        let end = rest.find(|it: char| !it.is_ascii_digit() && it != '-').unwrap_or(rest.len());
        let number = rest[..end].parse().ok()?;
        self.rest = &rest[end..];
        Some(number)
    }

    fn parse_word(&mut self) -> Result<&'static str, ShapeSyntaxError> {
        let rest = self.rest.trim_start();
        let end = rest
            .find(|it: char| !it.is_ascii_alphanumeric() && it != '_' && it != '$')
            .unwrap_or(rest.len());
        if end == 0 {
            return Err(self.error("expected a name"));
        }
        self.rest = &rest[end..];
        Ok(&rest[..end])
    }

    fn parse_quoted(&mut self) -> Result<&'static str, ShapeSyntaxError> {
        self.expect("\"")?;
        let rest = self.rest;
        let Some(end) = rest.find('"') else {
            return Err(self.error("expected a quote"));
        };
        self.rest = &rest[end + 1..];
        Ok(&rest[..end])
    }

    fn accept(&mut self, token: &str) -> bool {
        match self.rest.trim_start().strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, token: &str) -> Result<(), ShapeSyntaxError> {
        match self.accept(token) {
            true => Ok(()),
            false => Err(self.error(&format!("expected {token:?}"))),
        }
    }

    fn error(&self, message: &str) -> ShapeSyntaxError {
        ShapeSyntaxError {
            message: message.to_owned(),
            line: self.line.to_owned(),
            rest: self.rest.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_the_shapes_of_every_revision() {
        for revision in Revision::ALL {
            let shapes = TypeShapes::parse(revision.definition().shapes).unwrap();
            assert!(shapes.names().count() > 100, "{revision}");
        }
    }

    #[test]
    fn methods_and_errors_name_types_that_exist() {
        for revision in Revision::ALL {
            let shapes = TypeShapes::for_revision(revision);
            let rules = revision.definition();
            for rule in rules.client_requests.iter().chain(rules.server_requests) {
                assert!(shapes.get(rule.params).is_some(), "{rule:?}");
                assert!(shapes.get(rule.result).is_some(), "{rule:?}");
            }
            let notifications = rules.client_notifications.iter();
            for rule in notifications.chain(rules.server_notifications) {
                assert!(shapes.get(rule.params).is_some(), "{rule:?}");
            }
            for shape in rules.errors.iter().filter_map(|rule| rule.shape) {
                assert!(shapes.get(shape).is_some(), "{shape}");
            }
        }
    }

    #[test]
    fn parses_records_ranges_and_operators() {
        let shapes = TypeShapes::parse(
            "A = { \"x/y\": B[](..9), n?: number(0..1) } & B\nB = \"b\" | (-7 | null)[] | map<string>",
        )
        .unwrap();
        let Some(Shape::Intersection(parts)) = shapes.get("A") else {
            panic!("A is not an intersection");
        };
        let Shape::Record(record) = &parts[0] else {
            panic!("not a record");
        };
        assert_eq!(record.required, 1);
        assert_eq!(record.fields[0].name, "x/y");
        let Shape::Array(_, range) = record.fields[0].shape else {
            panic!("not an array");
        };
        assert_eq!(range.high, Some(9.0));
        assert!(matches!(shapes.get("B"), Some(Shape::Union(it)) if it.len() == 3));
    }

    #[test]
    fn rejects_lines_that_are_not_in_the_notation() {
        for text in ["A = {", "A = B", "A = \"x", "A = string string", "A = map<", "A"] {
            assert!(TypeShapes::parse(text).is_err(), "{text}");
        }
    }
}
