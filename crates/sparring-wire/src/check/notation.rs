//! Reads the notation in which a revision's file gives the shapes of its
//! types, one line a type, much like TypeScript:
//!
//! ```text
//! Role = "user" | "assistant"
//! Annotations = { audience?: Role[], priority?: number(0..1) }
//! CompleteResult = { completion: { values: string[](..100) }, _meta?: object }
//! InputRequests = map<InputRequest>
//! GetTaskResult = Result & Task
//! ```
//!
//! A record may always have more fields than it names. `unknown` is any value,
//! `object` any object, `map<T>` an object whose values are all `T`.

use foldhash::fast::RandomState;
use std::collections::HashMap;
use std::sync::OnceLock;

use crate::revision::Revision;

/// The shapes of all types of one revision.
#[derive(Debug)]
pub(super) struct Shapes {
    names: HashMap<&'static str, usize, RandomState>,
    types: Vec<Shape>,
}

/// What a value may look like.
#[derive(Debug)]
pub(super) enum Shape {
    /// Any value.
    Unknown,
    Null,
    Boolean,
    String,
    Number(Range),
    Integer(Range),
    /// Exactly that string.
    Text(&'static str),
    /// Exactly that number.
    Exactly(i64),
    /// Any object.
    Object,
    /// An object whose values are all of one shape.
    Map(Box<Shape>),
    Record(Record),
    Array(Box<Shape>, Range),
    /// A type by its place in [`Shapes`].
    Named(usize),
    /// One of these.
    Union(Vec<Shape>),
    /// All of these at once.
    Both(Vec<Shape>),
}

/// Lowest and highest, both allowed.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Range {
    pub(super) low: Option<f64>,
    pub(super) high: Option<f64>,
}

/// An object with these fields, and perhaps others.
#[derive(Debug)]
pub(super) struct Record {
    pub(super) fields: Vec<Field>,
    /// One bit a field that must be there.
    pub(super) required: u64,
}

#[derive(Debug)]
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) shape: Shape,
}

/// A line that is not in the notation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message} in {line:?}, before {rest:?}")]
pub(super) struct NotationError {
    message: String,
    line: String,
    rest: String,
}

impl Shapes {
    /// The shapes of a revision, read once.
    pub(super) fn of(revision: Revision) -> &'static Shapes {
        static ALL: [OnceLock<Shapes>; Revision::ALL.len()] =
            [const { OnceLock::new() }; Revision::ALL.len()];
        ALL[revision as usize].get_or_init(|| {
            Shapes::parse(revision.rules().shapes)
                .expect("the shapes in our own files are well written, as a test shows")
        })
    }

    pub(super) fn parse(text: &'static str) -> Result<Shapes, NotationError> {
        let lines = text.lines().filter(|line| !line.trim().is_empty());
        let split = lines.map(|line| line.split_once(" = ").unwrap_or((line, "")));
        let split: Vec<_> = split.collect();
        let mut names = HashMap::default();
        for (index, (name, _)) in split.iter().enumerate() {
            names.insert(*name, index);
        }
        let mut types = Vec::with_capacity(split.len());
        for (_, body) in &split {
            types.push(Parser::read(body, &names)?);
        }
        Ok(Shapes { names, types })
    }

    /// The shape of the type of that name.
    pub(super) fn named(&self, name: &str) -> Option<&Shape> {
        self.names.get(name).map(|&index| &self.types[index])
    }

    pub(super) fn at(&self, index: usize) -> &Shape {
        &self.types[index]
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.names.keys().copied()
    }
}

struct Parser<'n> {
    line: &'static str,
    rest: &'static str,
    names: &'n HashMap<&'static str, usize, RandomState>,
}

impl<'n> Parser<'n> {
    fn read(
        line: &'static str,
        names: &'n HashMap<&'static str, usize, RandomState>,
    ) -> Result<Shape, NotationError> {
        let mut parser = Parser { line, rest: line, names };
        let shape = parser.union()?;
        match parser.rest.trim().is_empty() {
            true => Ok(shape),
            false => Err(parser.error("the line should end")),
        }
    }

    fn union(&mut self) -> Result<Shape, NotationError> {
        self.several("|", Self::both, Shape::Union)
    }

    fn both(&mut self) -> Result<Shape, NotationError> {
        self.several("&", Self::arrays, Shape::Both)
    }

    /// One or more shapes with an operator between them.
    fn several(
        &mut self,
        operator: &str,
        one: fn(&mut Self) -> Result<Shape, NotationError>,
        join: fn(Vec<Shape>) -> Shape,
    ) -> Result<Shape, NotationError> {
        let first = one(self)?;
        if !self.takes(operator) {
            return Ok(first);
        }
        let mut shapes = vec![first, one(self)?];
        while self.takes(operator) {
            shapes.push(one(self)?);
        }
        Ok(join(shapes))
    }

    fn arrays(&mut self) -> Result<Shape, NotationError> {
        let mut shape = self.single()?;
        while self.takes("[]") {
            shape = Shape::Array(Box::new(shape), self.range()?);
        }
        Ok(shape)
    }

    fn single(&mut self) -> Result<Shape, NotationError> {
        if self.takes("{") {
            return self.record().map(Shape::Record);
        }
        if self.takes("(") {
            let inner = self.union()?;
            self.expect(")")?;
            return Ok(inner);
        }
        if self.rest.trim_start().starts_with('"') {
            return self.quoted().map(Shape::Text);
        }
        if let Some(number) = self.number() {
            return Ok(Shape::Exactly(number as i64));
        }
        let name = self.word()?;
        Ok(match name {
            "unknown" => Shape::Unknown,
            "null" => Shape::Null,
            "boolean" => Shape::Boolean,
            "string" => Shape::String,
            "number" => Shape::Number(self.range()?),
            "integer" => Shape::Integer(self.range()?),
            "object" => Shape::Object,
            "map" => {
                self.expect("<")?;
                let inner = self.union()?;
                self.expect(">")?;
                Shape::Map(Box::new(inner))
            }
            _ => match self.names.get(name) {
                Some(&index) => Shape::Named(index),
                None => return Err(self.error(&format!("there is no type {name}"))),
            },
        })
    }

    fn record(&mut self) -> Result<Record, NotationError> {
        let (mut fields, mut required) = (Vec::new(), 0u64);
        while !self.takes("}") {
            let name = match self.rest.trim_start().starts_with('"') {
                true => self.quoted()?,
                false => self.word()?,
            };
            if fields.len() == 64 {
                return Err(self.error("a record has at most 64 fields"));
            }
            if !self.takes("?") {
                required |= 1 << fields.len();
            }
            self.expect(":")?;
            let shape = self.union()?;
            fields.push(Field { name, shape });
            if !self.takes(",") {
                self.expect("}")?;
                break;
            }
        }
        Ok(Record { fields, required })
    }

    /// `(low..high)`, each of which may be left out, or nothing.
    fn range(&mut self) -> Result<Range, NotationError> {
        if !self.takes("(") {
            return Ok(Range::default());
        }
        let low = self.number();
        self.expect("..")?;
        let high = self.number();
        self.expect(")")?;
        Ok(Range { low, high })
    }

    fn number(&mut self) -> Option<f64> {
        let rest = self.rest.trim_start();
        let end = rest.find(|it: char| !it.is_ascii_digit() && it != '-').unwrap_or(rest.len());
        let number = rest[..end].parse().ok()?;
        self.rest = &rest[end..];
        Some(number)
    }

    fn word(&mut self) -> Result<&'static str, NotationError> {
        let rest = self.rest.trim_start();
        let end = rest
            .find(|it: char| !it.is_ascii_alphanumeric() && it != '_' && it != '$')
            .unwrap_or(rest.len());
        if end == 0 {
            return Err(self.error("a name should follow"));
        }
        self.rest = &rest[end..];
        Ok(&rest[..end])
    }

    fn quoted(&mut self) -> Result<&'static str, NotationError> {
        self.expect("\"")?;
        let rest = self.rest;
        let Some(end) = rest.find('"') else {
            return Err(self.error("a quote should follow"));
        };
        self.rest = &rest[end + 1..];
        Ok(&rest[..end])
    }

    fn takes(&mut self, token: &str) -> bool {
        match self.rest.trim_start().strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, token: &str) -> Result<(), NotationError> {
        match self.takes(token) {
            true => Ok(()),
            false => Err(self.error(&format!("{token:?} should follow"))),
        }
    }

    fn error(&self, message: &str) -> NotationError {
        NotationError {
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
    fn reads_the_shapes_of_every_revision() {
        for revision in Revision::ALL {
            let shapes = Shapes::parse(revision.rules().shapes).unwrap();
            assert!(shapes.names().count() > 100, "{revision}");
        }
    }

    #[test]
    fn methods_and_errors_name_types_that_exist() {
        for revision in Revision::ALL {
            let shapes = Shapes::of(revision);
            let rules = revision.rules();
            for rule in rules.client_requests.iter().chain(rules.server_requests) {
                assert!(shapes.named(rule.params).is_some(), "{rule:?}");
                assert!(shapes.named(rule.result).is_some(), "{rule:?}");
            }
            let notifications = rules.client_notifications.iter();
            for rule in notifications.chain(rules.server_notifications) {
                assert!(shapes.named(rule.params).is_some(), "{rule:?}");
            }
            for shape in rules.errors.iter().filter_map(|rule| rule.shape) {
                assert!(shapes.named(shape).is_some(), "{shape}");
            }
        }
    }

    #[test]
    fn reads_records_ranges_and_operators() {
        let shapes = Shapes::parse(
            "A = { \"x/y\": B[](..9), n?: number(0..1) } & B\nB = \"b\" | (-7 | null)[] | map<string>",
        )
        .unwrap();
        let Some(Shape::Both(parts)) = shapes.named("A") else {
            panic!("A is not both");
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
        assert!(matches!(shapes.named("B"), Some(Shape::Union(it)) if it.len() == 3));
    }

    #[test]
    fn names_what_it_cannot_read() {
        for text in ["A = {", "A = B", "A = \"x", "A = string string", "A = map<", "A"] {
            assert!(Shapes::parse(text).is_err(), "{text}");
        }
    }
}
