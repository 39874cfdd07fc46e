//! From schemas as they stand in a document to nodes with their keywords; what is
//! wrong with a keyword is told here.

use serde_json::{Map, Number, Value};
use sparring_pattern::Pattern;

use crate::bad_schema::BadSchema;
use crate::breach::descend;
use crate::draft::Draft;
use crate::keyword::{
    Bound, Contains, Items, Keyword, Members, Node, NodeId, Others, Plan, Size, TYPES, Types,
};
use crate::numbers;
use crate::references::{RECURSIVE, References};
use crate::same::twins;
use crate::told::shown;

/// Reads a schema.
pub(crate) fn compile(root: &Value, documents: &[(&str, &Value)]) -> Result<Plan, BadSchema> {
    let mut references = References::new(root, documents)?;
    let mut nodes = Vec::with_capacity(references.places.len());
    // A reference may lead to schemas that nobody knew of, which then follow.
    while nodes.len() < references.places.len() {
        let node = Reader::new(&mut references, nodes.len()).node()?;
        nodes.push(node);
    }
    let dynamic = references.dynamic.into_iter().map(|(_, anchors)| anchors).collect();
    Ok(Plan { nodes, dynamic })
}

/// Reads one schema.
struct Reader<'r, 's> {
    references: &'r mut References<'s>,
    node: NodeId,
    draft: Draft,
    keywords: Vec<Keyword>,
    /// What is looked at after all others.
    last: Vec<Keyword>,
}

impl<'r, 's> Reader<'r, 's> {
    fn new(references: &'r mut References<'s>, node: NodeId) -> Self {
        let draft = references.draft(node);
        Reader { references, node, draft, keywords: Vec::new(), last: Vec::new() }
    }

    fn node(mut self) -> Result<Node, BadSchema> {
        let value = self.references.places[self.node].value;
        match value {
            Value::Object(members) => self.members(members)?,
            Value::Bool(false) => self.keywords.push(Keyword::Never),
            _ => {}
        }
        let wants_marks = !self.last.is_empty();
        self.keywords.append(&mut self.last);
        let resource = self.references.places[self.node].resource;
        Ok(Node { keywords: self.keywords, resource, wants_marks })
    }

    fn members(&mut self, all: &'s Map<String, Value>) -> Result<(), BadSchema> {
        if let Some(reference) = all.get("$ref").filter(|_| self.draft.ref_stands_alone()) {
            return self.reference("$ref", reference);
        }
        for (keyword, value) in all {
            match self.about_any(all, keyword, value)? {
                true => {}
                false => self.about_some(all, keyword, value)?,
            }
        }
        Ok(())
    }

    /// Keywords that are about values of any type.
    fn about_any(
        &mut self,
        all: &'s Map<String, Value>,
        keyword: &str,
        value: &'s Value,
    ) -> Result<bool, BadSchema> {
        let draft = self.draft;
        let read = match keyword {
            "type" => Keyword::Type(self.types(value)?),
            "enum" => Keyword::Enum(self.list(keyword, value)?.clone()),
            "const" if draft >= Draft::Six => Keyword::Const(value.clone()),
            "allOf" => Keyword::AllOf(self.nodes(value)),
            "anyOf" => Keyword::AnyOf(self.nodes(value)),
            "oneOf" => Keyword::OneOf(self.nodes(value)),
            "not" => Keyword::Not(self.references.node_of(value), value.clone()),
            "if" if draft >= Draft::Seven => Keyword::If {
                test: self.references.node_of(value),
                then: all.get("then").map(|then| self.references.node_of(then)),
                otherwise: all.get("else").map(|otherwise| self.references.node_of(otherwise)),
            },
            "$ref" => return self.reference(keyword, value).map(|()| true),
            "$recursiveRef" if draft == Draft::Y2019 => {
                return self.reference(keyword, value).map(|()| true);
            }
            "$dynamicRef" if draft == Draft::Y2020 => {
                return self.reference(keyword, value).map(|()| true);
            }
            _ => return Ok(false),
        };
        self.keywords.push(read);
        Ok(true)
    }

    /// Keywords that are about values of one type.
    fn about_some(
        &mut self,
        all: &'s Map<String, Value>,
        keyword: &str,
        value: &'s Value,
    ) -> Result<(), BadSchema> {
        let draft = self.draft;
        let read = match keyword {
            "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => {
                match self.bound(all, keyword, value)? {
                    Some(bound) => bound,
                    None => return Ok(()),
                }
            }
            "multipleOf" => Keyword::MultipleOf(self.divisor(value)?),
            "minLength" => Keyword::Size(Size::MinLength, self.count(keyword, value)?),
            "maxLength" => Keyword::Size(Size::MaxLength, self.count(keyword, value)?),
            "minItems" => Keyword::Size(Size::MinItems, self.count(keyword, value)?),
            "maxItems" => Keyword::Size(Size::MaxItems, self.count(keyword, value)?),
            "minProperties" => Keyword::Size(Size::MinProperties, self.count(keyword, value)?),
            "maxProperties" => Keyword::Size(Size::MaxProperties, self.count(keyword, value)?),
            "pattern" => match value.as_str() {
                Some(source) => Keyword::Pattern(self.pattern(keyword, source)?),
                None => return Err(self.wrong(keyword, "a string is wanted", value)),
            },
            "uniqueItems" => match value.as_bool() {
                Some(true) => Keyword::UniqueItems,
                Some(false) => return Ok(()),
                None => return Err(self.wrong(keyword, "a boolean is wanted", value)),
            },
            "required" => Keyword::Required(self.names(keyword, value)?),
            "dependentRequired" if draft >= Draft::Y2019 => {
                Keyword::DependentRequired(self.dependent_names(value)?)
            }
            "dependentSchemas" if draft >= Draft::Y2019 => {
                Keyword::DependentSchemas(self.by_names(value))
            }
            "dependencies" => return self.dependencies(value),
            "propertyNames" if draft >= Draft::Six => {
                Keyword::PropertyNames(self.references.node_of(value))
            }
            "contains" if draft >= Draft::Six => self.contains(all, value)?,
            "properties" | "patternProperties" | "additionalProperties" => {
                return self.object_members(all);
            }
            "prefixItems" | "items" | "additionalItems" => return self.items(all),
            "unevaluatedProperties" if draft >= Draft::Y2019 => {
                self.last.push(Keyword::UnevaluatedProperties(self.references.node_of(value)));
                return Ok(());
            }
            "unevaluatedItems" if draft >= Draft::Y2019 => {
                self.last.push(Keyword::UnevaluatedItems(self.references.node_of(value)));
                return Ok(());
            }
            _ => return Ok(()),
        };
        self.keywords.push(read);
        Ok(())
    }

    fn reference(&mut self, keyword: &str, value: &Value) -> Result<(), BadSchema> {
        let Some(text) = value.as_str() else {
            return Err(self.wrong(keyword, "a string is wanted", value));
        };
        let target = match self.references.resolve(self.node, text) {
            Ok(target) => target,
            Err(message) => return Err(BadSchema::at(&self.pointer(keyword), message)),
        };
        let dynamic = match keyword {
            "$dynamicRef" => {
                let name = text.split_once('#').map_or("", |(_, name)| name);
                // The name of a recursive anchor is nobody else's.
                self.references.dynamic_at(target, name).filter(|_| !name.is_empty())
            }
            "$recursiveRef" => self.references.dynamic_at(target, RECURSIVE),
            _ => None,
        };
        self.keywords.push(match dynamic {
            Some(name) => Keyword::DynamicRef(name, target),
            None => Keyword::Ref(target),
        });
        Ok(())
    }

    fn types(&self, value: &Value) -> Result<Types, BadSchema> {
        let names = match value {
            Value::String(_) => std::slice::from_ref(value),
            Value::Array(names) if !names.is_empty() => names,
            other => return Err(self.wrong("type", "a type or a list of types is wanted", other)),
        };
        let mut types = 0;
        for name in names {
            let Some(bit) = TYPES.iter().position(|known| name == known) else {
                let message = format!("{} is no type; there are {}", shown(name), TYPES.join(", "));
                return Err(BadSchema::at(&self.pointer("type"), message));
            };
            if types & (1 << bit) != 0 {
                return Err(self.wrong("type", "each type is wanted once", value));
            }
            types |= 1 << bit;
        }
        Ok(Types(types))
    }

    /// A limit of a number. In draft 4 whether it is exclusive stands beside it.
    fn bound(
        &self,
        all: &Map<String, Value>,
        keyword: &str,
        value: &Value,
    ) -> Result<Option<Keyword>, BadSchema> {
        if self.draft == Draft::Four && keyword.starts_with("exclusive") {
            let whose = if keyword == "exclusiveMinimum" { "minimum" } else { "maximum" };
            return match (value.is_boolean(), all.contains_key(whose)) {
                (true, true) => Ok(None),
                (true, false) => {
                    let message = format!("in draft 4 a `{whose}` is wanted beside it");
                    Err(BadSchema::at(&self.pointer(keyword), message))
                }
                (false, _) => Err(self.wrong(keyword, "a boolean is wanted in draft 4", value)),
            };
        }
        let exclusive =
            |name: &str| self.draft == Draft::Four && all.get(name) == Some(&Value::Bool(true));
        let bound = match keyword {
            "minimum" if exclusive("exclusiveMinimum") => Bound::ExclusiveMinimum,
            "maximum" if exclusive("exclusiveMaximum") => Bound::ExclusiveMaximum,
            "minimum" => Bound::Minimum,
            "maximum" => Bound::Maximum,
            "exclusiveMinimum" => Bound::ExclusiveMinimum,
            _ => Bound::ExclusiveMaximum,
        };
        match value {
            Value::Number(limit) => Ok(Some(Keyword::Bound(bound, limit.clone()))),
            other => Err(self.wrong(keyword, "a number is wanted", other)),
        }
    }

    fn divisor(&self, value: &Value) -> Result<Number, BadSchema> {
        match value {
            Value::Number(number) if numbers::is_positive(number) => Ok(number.clone()),
            other => Err(self.wrong("multipleOf", "a number above 0 is wanted", other)),
        }
    }

    fn count(&self, keyword: &str, value: &Value) -> Result<u64, BadSchema> {
        let count = match value {
            Value::Number(number) => numbers::count(number),
            _ => None,
        };
        count.ok_or_else(|| {
            self.wrong(keyword, "a whole number that is not negative is wanted", value)
        })
    }

    fn pattern(&self, keyword: &str, source: &str) -> Result<Pattern, BadSchema> {
        Pattern::of_schema(source).map_err(|why| {
            let source = shown(&Value::String(source.to_owned()));
            let message = format!("the pattern {source} cannot be read: {why}");
            BadSchema::at(&self.pointer(keyword), message)
        })
    }

    fn list<'a>(&self, keyword: &str, value: &'a Value) -> Result<&'a Vec<Value>, BadSchema> {
        value.as_array().ok_or_else(|| self.wrong(keyword, "a list is wanted", value))
    }

    fn names(&self, keyword: &str, value: &Value) -> Result<Vec<String>, BadSchema> {
        let items = self.list(keyword, value)?;
        let mut names = Vec::with_capacity(items.len());
        for item in items {
            match item {
                Value::String(name) => names.push(name.clone()),
                _ => return Err(self.wrong(keyword, "a list of strings is wanted", value)),
            }
        }
        match twins(items) {
            Some(_) => Err(self.wrong(keyword, "each name is wanted once", value)),
            None => Ok(names),
        }
    }

    fn dependent_names(&self, value: &Value) -> Result<Vec<(String, Vec<String>)>, BadSchema> {
        let Value::Object(members) = value else {
            return Err(self.wrong("dependentRequired", "a map of lists is wanted", value));
        };
        let mut all = Vec::with_capacity(members.len());
        for (name, names) in members {
            all.push((name.clone(), self.names("dependentRequired", names)?));
        }
        Ok(all)
    }

    fn dependencies(&mut self, value: &Value) -> Result<(), BadSchema> {
        let Value::Object(members) = value else { return Ok(()) };
        let mut required = Vec::new();
        let mut schemas = Vec::new();
        for (name, needed) in members {
            match needed {
                Value::Array(_) => {
                    required.push((name.clone(), self.names("dependencies", needed)?));
                }
                schema => schemas.push((name.clone(), self.references.node_of(schema))),
            }
        }
        if !required.is_empty() {
            self.keywords.push(Keyword::DependentRequired(required));
        }
        if !schemas.is_empty() {
            self.keywords.push(Keyword::DependentSchemas(schemas));
        }
        Ok(())
    }

    fn contains(&self, all: &Map<String, Value>, value: &Value) -> Result<Keyword, BadSchema> {
        let counts = |name: &str| match all.get(name).filter(|_| self.draft >= Draft::Y2019) {
            Some(value) => self.count(name, value).map(Some),
            None => Ok(None),
        };
        Ok(Keyword::Contains(Contains {
            node: self.references.node_of(value),
            least: counts("minContains")?.unwrap_or(1),
            most: counts("maxContains")?,
            marks: self.draft == Draft::Y2020,
        }))
    }

    /// The three keywords about members, where the first of them stands.
    fn object_members(&mut self, all: &Map<String, Value>) -> Result<(), BadSchema> {
        if self.keywords.iter().any(|keyword| matches!(keyword, Keyword::Members(_))) {
            return Ok(());
        }
        let mut named = all.get("properties").map(|it| self.by_names(it)).unwrap_or_default();
        named.sort_unstable();
        let mut patterns = Vec::new();
        for (source, node) in
            all.get("patternProperties").map(|it| self.by_names(it)).unwrap_or_default()
        {
            patterns.push((self.pattern("patternProperties", &source)?, node));
        }
        let others = self.others(all.get("additionalProperties"));
        self.keywords.push(Keyword::Members(Members { named, patterns, others }));
        Ok(())
    }

    /// The keywords about items by their places, where the first of them stands.
    fn items(&mut self, all: &Map<String, Value>) -> Result<(), BadSchema> {
        if self.keywords.iter().any(|keyword| matches!(keyword, Keyword::Items(_))) {
            return Ok(());
        }
        let items = all.get("items");
        let (first, others) = match (self.draft, items) {
            (Draft::Y2020, _) => (all.get("prefixItems"), items),
            (_, Some(Value::Array(_))) => (items, all.get("additionalItems")),
            // Without a list before them there are no additional ones.
            (_, _) => (None, items),
        };
        let first = first.map(|first| self.nodes(first)).unwrap_or_default();
        let others = self.others(others);
        self.keywords.push(Keyword::Items(Items { first, others }));
        Ok(())
    }

    fn others(&self, value: Option<&Value>) -> Others {
        match value {
            None => Others::Unsaid,
            Some(Value::Bool(false)) => Others::Forbidden,
            Some(schema) => Others::Are(self.references.node_of(schema)),
        }
    }

    fn nodes(&self, value: &Value) -> Vec<NodeId> {
        let items = value.as_array().map(Vec::as_slice).unwrap_or_default();
        items.iter().map(|schema| self.references.node_of(schema)).collect()
    }

    fn by_names(&self, value: &Value) -> Vec<(String, NodeId)> {
        let mut all = Vec::new();
        for (name, schema) in value.as_object().into_iter().flatten() {
            all.push((name.clone(), self.references.node_of(schema)));
        }
        all
    }

    fn pointer(&self, keyword: &str) -> String {
        let mut pointer = self.references.places[self.node].pointer.clone();
        descend(&mut pointer, keyword);
        pointer
    }

    fn wrong(&self, keyword: &str, wanted: &str, value: &Value) -> BadSchema {
        BadSchema::at(&self.pointer(keyword), format!("{wanted}, and not {}", shown(value)))
    }
}
