//! Where schemas stand in a document, what their URIs are, and what a reference
//! means. Nothing here says what a schema asks for.

use std::collections::HashMap;

use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};

use crate::bad_schema::BadSchema;
use crate::breach::descend;
use crate::draft::{Draft, Shape};
use crate::keyword::NodeId;
use crate::told::shown;
use crate::uri;

/// The URI of a schema that says none; nobody can refer to it from elsewhere.
const NAMELESS: &str = "json-schema:///";

/// The name under which a `$recursiveAnchor` is kept, which no `$dynamicAnchor` has.
pub(crate) const RECURSIVE: &str = "";

/// A schema in a document; its number is that of its node.
pub(crate) struct Place<'s> {
    pub(crate) value: &'s Value,
    pub(crate) resource: usize,
    pub(crate) pointer: String,
}

/// What has one base URI and one draft.
pub(crate) struct Resource {
    pub(crate) uri: String,
    pub(crate) draft: Draft,
}

/// All schemas that were found.
pub(crate) struct References<'s> {
    pub(crate) places: Vec<Place<'s>>,
    pub(crate) resources: Vec<Resource>,
    /// For each name, in which resource it is which node.
    pub(crate) dynamic: Vec<(String, Vec<(usize, NodeId)>)>,
    by_address: HashMap<usize, NodeId>,
    /// Resources by their URIs, and anchors with a `#` between.
    by_uri: HashMap<String, NodeId>,
    documents: &'s [(&'s str, &'s Value)],
}

impl<'s> References<'s> {
    /// Finds all schemas in a document.
    pub(crate) fn new(
        root: &'s Value,
        documents: &'s [(&'s str, &'s Value)],
    ) -> Result<References<'s>, BadSchema> {
        let mut references = References {
            places: Vec::new(),
            resources: Vec::new(),
            dynamic: Vec::new(),
            by_address: HashMap::new(),
            by_uri: HashMap::new(),
            documents,
        };
        references.open(NAMELESS, root, Draft::Y2020, String::new())?;
        Ok(references)
    }

    /// The draft by which a place is read.
    pub(crate) fn draft(&self, node: NodeId) -> Draft {
        self.resources[self.places[node].resource].draft
    }

    /// The node of a schema that was found.
    pub(crate) fn node_of(&self, schema: &Value) -> NodeId {
        *self.by_address.get(&address(schema)).expect("where schemas stand was looked at before")
    }

    /// What a reference at a place means.
    pub(crate) fn resolve(&mut self, from: NodeId, reference: &str) -> Result<NodeId, String> {
        let full = uri::resolve(&self.resources[self.places[from].resource].uri, reference);
        let (base, fragment) = uri::split(&full);
        let unknown = || format!("the reference {} leads nowhere", quoted(reference));
        let root = match self.by_uri.get(base) {
            Some(root) => *root,
            None => {
                let documents = self.documents;
                let document = documents.iter().find(|(uri, _)| uri::split(uri).0 == base);
                let Some((_, document)) = document else {
                    return Err(match base.starts_with(NAMELESS) {
                        true => unknown(),
                        false => format!("{}; nothing is fetched", unknown()),
                    });
                };
                self.open(base, document, self.draft(from), format!("{base}#"))
                    .map_err(|error| error.to_string())?
            }
        };
        let fragment = percent_decode_str(fragment).decode_utf8().map_err(|_| unknown())?;
        if fragment.is_empty() || fragment.starts_with('/') {
            return match self.walk(root, &fragment) {
                Ok(found) => found.ok_or_else(unknown),
                Err(error) => Err(format!("{} leads to no schema: {error}", quoted(reference))),
            };
        }
        self.by_uri.get(&format!("{base}#{fragment}")).copied().ok_or_else(unknown)
    }

    /// The number of a name of dynamic anchors, where the node is one of them.
    pub(crate) fn dynamic_at(&self, node: NodeId, name: &str) -> Option<usize> {
        let index = self.dynamic.iter().position(|(known, _)| known == name)?;
        self.dynamic[index].1.iter().any(|(_, at)| *at == node).then_some(index)
    }

    /// Follows a JSON Pointer, to a schema or to what becomes one by that.
    fn walk(&mut self, root: NodeId, pointer: &str) -> Result<Option<NodeId>, BadSchema> {
        let mut nearest = root;
        let mut value = self.places[root].value;
        let mut place = self.places[root].pointer.clone();
        for token in pointer.split('/').skip(1) {
            let token = token.replace("~1", "/").replace("~0", "~");
            let next = match value {
                Value::Object(members) => members.get(&token),
                Value::Array(items) => token.parse().ok().and_then(|at: usize| items.get(at)),
                _ => None,
            };
            let Some(next) = next else { return Ok(None) };
            value = next;
            descend(&mut place, &token);
            if let Some(known) = self.by_address.get(&address(value)) {
                nearest = *known;
            }
        }
        let known = self.by_address.get(&address(value)).copied();
        match known {
            Some(node) => Ok(Some(node)),
            None => self.discover(value, self.places[nearest].resource, place).map(Some),
        }
    }

    /// Takes in a document as a resource of its own.
    fn open(
        &mut self,
        uri: &str,
        document: &'s Value,
        draft: Draft,
        pointer: String,
    ) -> Result<NodeId, BadSchema> {
        let draft = self.said_draft(document, &pointer)?.unwrap_or(draft);
        self.resources.push(Resource { uri: uri.to_owned(), draft });
        self.by_uri.insert(uri.to_owned(), self.places.len());
        self.discover(document, self.resources.len() - 1, pointer)
    }

    /// Finds all schemas from here on. What is found waits in the list itself, so
    /// that no depth is too much.
    fn discover(
        &mut self,
        value: &'s Value,
        resource: usize,
        pointer: String,
    ) -> Result<NodeId, BadSchema> {
        let first = self.places.len();
        self.add(value, resource, pointer);
        let mut next = first;
        while next < self.places.len() {
            self.look_into(next)?;
            next += 1;
        }
        Ok(first)
    }

    fn add(&mut self, value: &'s Value, resource: usize, pointer: String) {
        self.by_address.insert(address(value), self.places.len());
        self.places.push(Place { value, resource, pointer });
    }

    fn look_into(&mut self, node: NodeId) -> Result<(), BadSchema> {
        let value = self.places[node].value;
        let members = match value {
            Value::Object(members) => members,
            Value::Bool(_) => return Ok(()),
            other => {
                let message =
                    format!("a schema is an object or a boolean, and not {}", shown(other));
                return Err(BadSchema::at(&self.places[node].pointer, message));
            }
        };
        self.identify(node, members)?;
        let resource = self.places[node].resource;
        let draft = self.resources[resource].draft;
        for (keyword, below) in members {
            let Some(shape) = draft.shape(keyword) else { continue };
            let mut pointer = self.places[node].pointer.clone();
            descend(&mut pointer, keyword);
            self.below(draft, resource, shape, below, pointer)?;
        }
        Ok(())
    }

    /// Adds the schemas below a keyword.
    fn below(
        &mut self,
        draft: Draft,
        resource: usize,
        shape: Shape,
        value: &'s Value,
        pointer: String,
    ) -> Result<(), BadSchema> {
        let wanted = match (shape, value) {
            (Shape::Text, Value::String(_))
            | (Shape::Flag, Value::Bool(_))
            | (Shape::List, Value::Array(_)) => return Ok(()),
            (Shape::Text, _) => "a string is wanted",
            (Shape::Flag, _) => "a boolean is wanted",
            (Shape::List, _) => "a list is wanted",
            (Shape::Schemas, Value::Array(items)) if items.is_empty() => {
                "at least one schema is wanted"
            }
            (Shape::Schemas | Shape::SchemaOrSchemas, Value::Array(items)) => {
                for (index, item) in items.iter().enumerate() {
                    self.add_schema(draft, item, resource, format!("{pointer}/{index}"))?;
                }
                return Ok(());
            }
            (Shape::Schemas, _) => "a list of schemas is wanted",
            (Shape::Map | Shape::MapOrNames, Value::Object(members)) => {
                for (name, member) in members {
                    if shape == Shape::MapOrNames && member.is_array() {
                        continue;
                    }
                    let mut pointer = pointer.clone();
                    descend(&mut pointer, name);
                    self.add_schema(draft, member, resource, pointer)?;
                }
                return Ok(());
            }
            (Shape::Map | Shape::MapOrNames, _) => "a map of schemas is wanted",
            (Shape::SchemaOrFlag, Value::Bool(_)) => {
                self.add(value, resource, pointer);
                return Ok(());
            }
            (Shape::Schema, Value::Array(_)) if pointer.ends_with("/items") => {
                "since 2020-12 a list of schemas stands in `prefixItems`; one schema is wanted here"
            }
            (Shape::Schema | Shape::SchemaOrFlag | Shape::SchemaOrSchemas, schema) => {
                return self.add_schema(draft, schema, resource, pointer);
            }
        };
        Err(BadSchema::at(&pointer, format!("{wanted}, and not {}", shown(value))))
    }

    fn add_schema(
        &mut self,
        draft: Draft,
        schema: &'s Value,
        resource: usize,
        pointer: String,
    ) -> Result<(), BadSchema> {
        if draft == Draft::Four && schema.is_boolean() {
            let message = format!("a schema of draft 4 is an object, and not {schema}");
            return Err(BadSchema::at(&pointer, message));
        }
        self.add(schema, resource, pointer);
        Ok(())
    }

    /// Takes up the URI of a schema and the names in it.
    fn identify(&mut self, node: NodeId, members: &'s Map<String, Value>) -> Result<(), BadSchema> {
        let pointer = self.places[node].pointer.clone();
        let said = self.said_draft(self.places[node].value, &pointer)?;
        let draft = said.unwrap_or(self.draft(node));
        let hidden = draft.ref_stands_alone() && members.contains_key("$ref");
        if let Some(id) = members.get(draft.id()).filter(|_| !hidden) {
            let id = text(id, &pointer, draft.id())?;
            self.name(node, id, draft, &pointer)?;
        }
        let resource = self.places[node].resource;
        let draft = self.resources[resource].draft;
        for (keyword, since) in [("$anchor", Draft::Y2019), ("$dynamicAnchor", Draft::Y2020)] {
            let Some(name) = members.get(keyword).filter(|_| draft >= since) else { continue };
            let name = text(name, &pointer, keyword)?;
            let full = format!("{}#{name}", self.resources[resource].uri);
            self.by_uri.entry(full).or_insert(node);
            if keyword == "$dynamicAnchor" {
                self.add_dynamic(name, resource, node);
            }
        }
        if draft == Draft::Y2019 && members.get("$recursiveAnchor") == Some(&Value::Bool(true)) {
            self.add_dynamic(RECURSIVE, resource, node);
        }
        Ok(())
    }

    /// Gives a schema its URI, which makes a resource of it, or up to draft 7 an
    /// anchor, where it is only a fragment.
    fn name(&mut self, node: NodeId, id: &str, draft: Draft, at: &str) -> Result<(), BadSchema> {
        let resource = self.places[node].resource;
        let full = uri::resolve(&self.resources[resource].uri, id);
        let (base, fragment) = uri::split(&full);
        if !fragment.is_empty() {
            if draft >= Draft::Y2019 {
                let message = format!("{} has a fragment; a name is an `$anchor`", quoted(id));
                return Err(BadSchema::at(&format!("{at}/{}", draft.id()), message));
            }
            self.by_uri.entry(full.clone()).or_insert(node);
        }
        if !id.starts_with('#') {
            self.resources.push(Resource { uri: base.to_owned(), draft });
            self.by_uri.entry(base.to_owned()).or_insert(node);
            self.places[node].resource = self.resources.len() - 1;
        }
        Ok(())
    }

    fn add_dynamic(&mut self, name: &str, resource: usize, node: NodeId) {
        let index = match self.dynamic.iter().position(|(known, _)| known == name) {
            Some(index) => index,
            None => {
                self.dynamic.push((name.to_owned(), Vec::new()));
                self.dynamic.len() - 1
            }
        };
        self.dynamic[index].1.push((resource, node));
    }

    /// The draft that a schema says by its `$schema`, itself or by a document that
    /// was given.
    fn said_draft(&self, schema: &Value, pointer: &str) -> Result<Option<Draft>, BadSchema> {
        let Some(said) = schema.get("$schema") else { return Ok(None) };
        let said = text(said, pointer, "$schema")?;
        let mut uri = said;
        // A document may name another one, but none names itself but the drafts do.
        for _ in 0..=self.documents.len() {
            if let Some(draft) = Draft::of(uri) {
                return Ok(Some(draft));
            }
            let bare = uri::split(uri).0;
            let document = self.documents.iter().find(|(known, _)| uri::split(known).0 == bare);
            match document.and_then(|(_, document)| document.get("$schema")?.as_str()) {
                Some(next) => uri = next,
                None => break,
            }
        }
        let message = format!(
            "{} is no draft that is known; there are 2020-12, 2019-09, 7, 6 and 4",
            quoted(said)
        );
        Err(BadSchema::at(&format!("{pointer}/$schema"), message))
    }
}

fn address(value: &Value) -> usize {
    std::ptr::from_ref(value).addr()
}

fn quoted(text: &str) -> String {
    shown(&Value::String(text.to_owned()))
}

/// The text of a keyword.
pub(crate) fn text<'s>(
    value: &'s Value,
    pointer: &str,
    keyword: &str,
) -> Result<&'s str, BadSchema> {
    value.as_str().ok_or_else(|| {
        let message = format!("a string is wanted, and not {}", shown(value));
        BadSchema::at(&format!("{pointer}/{keyword}"), message)
    })
}
