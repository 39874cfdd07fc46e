//! The drafts of JSON Schema: how they are called, which keywords each has, and
//! what stands below a keyword.

/// A draft, in the order in which they came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Draft {
    Four,
    Six,
    Seven,
    Y2019,
    Y2020,
}

/// What may stand below a keyword, where that can be said without knowing more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A schema.
    Schema,
    /// A schema, and a boolean in draft 4 as well.
    SchemaOrFlag,
    /// Schemas, at least one.
    Schemas,
    /// A schema or schemas.
    SchemaOrSchemas,
    /// Schemas by names.
    Map,
    /// Schemas or lists of names, by names.
    MapOrNames,
    /// A text that nothing is held against.
    Text,
    /// A boolean that nothing is held against.
    Flag,
    /// A list that nothing is held against.
    List,
}

impl Draft {
    /// The draft that a `$schema` names.
    pub(crate) fn of(uri: &str) -> Option<Draft> {
        let uri = uri.strip_suffix('#').unwrap_or(uri);
        let bare = uri.strip_prefix("https://").or_else(|| uri.strip_prefix("http://"))?;
        match bare {
            "json-schema.org/draft/2020-12/schema" | "json-schema.org/schema" => Some(Draft::Y2020),
            "json-schema.org/draft/2019-09/schema" => Some(Draft::Y2019),
            "json-schema.org/draft-07/schema" => Some(Draft::Seven),
            "json-schema.org/draft-06/schema" => Some(Draft::Six),
            "json-schema.org/draft-04/schema" => Some(Draft::Four),
            _ => None,
        }
    }

    /// The keyword that gives a schema its URI.
    pub(crate) fn id(self) -> &'static str {
        match self {
            Draft::Four => "id",
            _ => "$id",
        }
    }

    /// Whether a `$ref` hides what stands beside it.
    pub(crate) fn ref_stands_alone(self) -> bool {
        self <= Draft::Seven
    }

    /// What stands below a keyword of this draft.
    pub(crate) fn shape(self, keyword: &str) -> Option<Shape> {
        let (since, until, shape) = match keyword {
            "not" => (Draft::Four, Draft::Y2020, Shape::Schema),
            "additionalProperties" => (Draft::Four, Draft::Y2020, Shape::SchemaOrFlag),
            "additionalItems" => (Draft::Four, Draft::Y2019, Shape::SchemaOrFlag),
            "allOf" | "anyOf" | "oneOf" => (Draft::Four, Draft::Y2020, Shape::Schemas),
            "properties" | "patternProperties" | "definitions" => {
                (Draft::Four, Draft::Y2020, Shape::Map)
            }
            "items" if self == Draft::Y2020 => (Draft::Y2020, Draft::Y2020, Shape::Schema),
            "items" => (Draft::Four, Draft::Y2019, Shape::SchemaOrSchemas),
            "dependencies" => (Draft::Four, Draft::Y2020, Shape::MapOrNames),
            "title" | "description" | "format" => (Draft::Four, Draft::Y2020, Shape::Text),
            "contains" | "propertyNames" => (Draft::Six, Draft::Y2020, Shape::Schema),
            "examples" => (Draft::Six, Draft::Y2020, Shape::List),
            "if" | "then" | "else" => (Draft::Seven, Draft::Y2020, Shape::Schema),
            "$comment" | "contentEncoding" | "contentMediaType" => {
                (Draft::Seven, Draft::Y2020, Shape::Text)
            }
            "readOnly" => (Draft::Seven, Draft::Y2020, Shape::Flag),
            "$defs" | "dependentSchemas" => (Draft::Y2019, Draft::Y2020, Shape::Map),
            "unevaluatedItems" | "unevaluatedProperties" | "contentSchema" => {
                (Draft::Y2019, Draft::Y2020, Shape::Schema)
            }
            "deprecated" | "writeOnly" => (Draft::Y2019, Draft::Y2020, Shape::Flag),
            "prefixItems" => (Draft::Y2020, Draft::Y2020, Shape::Schemas),
            _ => return None,
        };
        (since <= self && self <= until).then_some(shape)
    }
}
