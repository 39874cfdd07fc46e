//! The model of a generated module: its types and methods.

/// A Rust type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Type {
    Bool,
    Signed,
    Unsigned,
    Float,
    String,
    /// Any JSON value.
    Any,
    List(Box<Type>),
    Map(Box<Type>),
    Nullable(Box<Type>),
    /// A type of the module, by its index.
    Named(usize),
}

/// A struct or an enum of the module.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NamedType {
    pub(crate) name: String,
    /// The description in the schema.
    pub(crate) description: Option<String>,
    /// The doc comment for a schema without a description.
    pub(crate) role: String,
    /// True if it is part of an output, so that callers never construct it.
    pub(crate) is_output: bool,
    pub(crate) body: Body,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Body {
    Struct(Struct),
    /// The string on the wire and the name of each variant.
    Enum(Vec<(String, String)>),
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Struct {
    pub(crate) fields: Vec<Field>,
    /// The field name and value type of additional members.
    pub(crate) additional: Option<(String, Type)>,
    /// True if unknown members are forbidden.
    pub(crate) is_closed: bool,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Field {
    /// The name on the wire.
    pub(crate) wire: String,
    pub(crate) name: String,
    pub(crate) value: Type,
    pub(crate) is_required: bool,
    /// True if it is boxed, because the type would contain itself otherwise.
    pub(crate) is_boxed: bool,
    pub(crate) description: Option<String>,
    /// The default of the server, as JSON.
    pub(crate) default: Option<String>,
}

/// The method of one tool.
#[derive(Debug)]
pub(crate) struct Method {
    pub(crate) tool: String,
    pub(crate) name: String,
    pub(crate) description: Option<String>,
    /// The struct of its arguments, if it takes any.
    pub(crate) arguments: Option<usize>,
    /// The type of its output, if it has an output schema.
    pub(crate) output: Option<Type>,
    /// The indices of the types that were generated for it.
    pub(crate) types: std::ops::Range<usize>,
}

/// A generated module.
#[derive(Debug)]
pub(crate) struct Module {
    pub(crate) types: Vec<NamedType>,
    pub(crate) methods: Vec<Method>,
}

impl Type {
    /// Renders the type as Rust source.
    pub(crate) fn to_rust(&self, types: &[NamedType]) -> String {
        match self {
            Type::Bool => "bool".to_owned(),
            Type::Signed => "i64".to_owned(),
            Type::Unsigned => "u64".to_owned(),
            Type::Float => "f64".to_owned(),
            Type::String => "String".to_owned(),
            Type::Any => "Value".to_owned(),
            Type::List(inner) => format!("Vec<{}>", inner.to_rust(types)),
            Type::Map(inner) => format!("BTreeMap<String, {}>", inner.to_rust(types)),
            Type::Nullable(inner) => format!("Option<{}>", inner.to_rust(types)),
            Type::Named(index) => types[*index].name.clone(),
        }
    }

    /// Returns true if the predicate is true for this type or a type inside it.
    pub(crate) fn any(&self, is: &impl Fn(&Type) -> bool) -> bool {
        is(self)
            || match self {
                Type::List(inner) | Type::Map(inner) | Type::Nullable(inner) => inner.any(is),
                _ => false,
            }
    }

    /// Returns the type of the module that a value of this type directly contains.
    pub(crate) fn embedded_type(&self) -> Option<usize> {
        match self {
            Type::Named(index) => Some(*index),
            Type::Nullable(inner) => inner.embedded_type(),
            _ => None,
        }
    }
}

impl NamedType {
    /// Returns the types of all fields.
    pub(crate) fn referenced_types(&self) -> impl Iterator<Item = &Type> {
        let body = match &self.body {
            Body::Struct(body) => Some(body),
            Body::Enum(_) => None,
        };
        let fields = body.into_iter().flat_map(|body| &body.fields).map(|field| &field.value);
        let additional = body.and_then(|body| body.additional.as_ref()).map(|(_, value)| value);
        fields.chain(additional)
    }
}
