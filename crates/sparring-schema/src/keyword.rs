//! A schema as it is when it has been read: nodes that know each other by number,
//! each with its keywords in the order in which they stood.

use serde_json::{Number, Value};
use sparring_pattern::Pattern;

/// The number of a node.
pub(crate) type NodeId = usize;

/// All that a schema says.
#[derive(Debug)]
pub(crate) struct Plan {
    /// The first is the schema itself.
    pub(crate) nodes: Vec<Node>,
    /// For each name of a dynamic anchor, in which resource it is which node.
    pub(crate) dynamic: Vec<Vec<(usize, NodeId)>>,
}

/// A schema, or a part of one.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) keywords: Vec<Keyword>,
    /// The resource that it stands in: what has one base URI.
    pub(crate) resource: usize,
    /// Whether it asks what others have looked at.
    pub(crate) wants_marks: bool,
}

/// A keyword, or several that mean something only together.
#[derive(Debug)]
pub(crate) enum Keyword {
    /// The schema `false`.
    Never,
    Type(Types),
    Enum(Vec<Value>),
    Const(Value),
    Bound(Bound, Number),
    MultipleOf(Number),
    Size(Size, u64),
    Pattern(Pattern),
    UniqueItems,
    Required(Vec<String>),
    DependentRequired(Vec<(String, Vec<String>)>),
    DependentSchemas(Vec<(String, NodeId)>),
    Members(Members),
    PropertyNames(NodeId),
    Items(Items),
    Contains(Contains),
    AllOf(Vec<NodeId>),
    AnyOf(Vec<NodeId>),
    OneOf(Vec<NodeId>),
    Not(NodeId, Value),
    If {
        test: NodeId,
        then: Option<NodeId>,
        otherwise: Option<NodeId>,
    },
    Ref(NodeId),
    /// The name of the anchor, and what is meant where nothing else has it.
    DynamicRef(usize, NodeId),
    UnevaluatedProperties(NodeId),
    UnevaluatedItems(NodeId),
}

/// Types, as a set of bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Types(pub(crate) u8);

/// The types by their names; each is the bit of its place.
pub(crate) const TYPES: [&str; 7] =
    ["array", "boolean", "integer", "null", "number", "object", "string"];

/// A limit of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bound {
    Minimum,
    Maximum,
    ExclusiveMinimum,
    ExclusiveMaximum,
}

/// A limit of how much there may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Size {
    MinLength,
    MaxLength,
    MinItems,
    MaxItems,
    MinProperties,
    MaxProperties,
}

/// `properties`, `patternProperties` and `additionalProperties`.
#[derive(Debug)]
pub(crate) struct Members {
    /// Sorted by name.
    pub(crate) named: Vec<(String, NodeId)>,
    pub(crate) patterns: Vec<(Pattern, NodeId)>,
    pub(crate) others: Others,
}

/// `prefixItems` and `items`, or `items` and `additionalItems`.
#[derive(Debug)]
pub(crate) struct Items {
    pub(crate) first: Vec<NodeId>,
    pub(crate) others: Others,
}

/// What is said about everything that is not named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Others {
    /// Nothing.
    Unsaid,
    /// There may be none.
    Forbidden,
    /// They are held against a schema.
    Are(NodeId),
}

/// `contains`, `minContains` and `maxContains`.
#[derive(Debug)]
pub(crate) struct Contains {
    pub(crate) node: NodeId,
    pub(crate) least: u64,
    pub(crate) most: Option<u64>,
    /// Whether an item that fits counts as looked at.
    pub(crate) marks: bool,
}
