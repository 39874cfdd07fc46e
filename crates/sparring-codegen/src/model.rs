//! What stands in a module: types, and methods that take and give them.

/// A type as it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Type {
    Bool,
    Signed,
    Unsigned,
    Float,
    Text,
    /// Any JSON: what has no better type.
    Any,
    List(Box<Type>),
    Map(Box<Type>),
    Nullable(Box<Type>),
    /// One of the module's own.
    Own(usize),
}

/// A type of the module's own.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Own {
    pub(crate) name: String,
    /// What the schema says of it.
    pub(crate) description: Option<String>,
    /// What it is, where the schema says nothing.
    pub(crate) role: String,
    /// Whether it only comes, and is never made here.
    pub(crate) is_output: bool,
    pub(crate) body: Body,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Body {
    Struct(Struct),
    /// Texts, each with its variant.
    Enum(Vec<(String, String)>),
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Struct {
    pub(crate) fields: Vec<Field>,
    /// What else may be there, with its name.
    pub(crate) additional: Option<(String, Type)>,
    /// Whether nothing else may.
    pub(crate) is_closed: bool,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Field {
    /// Its name on the wire.
    pub(crate) wire: String,
    pub(crate) name: String,
    pub(crate) value: Type,
    pub(crate) is_required: bool,
    /// Whether the type would contain itself otherwise.
    pub(crate) is_boxed: bool,
    pub(crate) description: Option<String>,
    /// What a server takes where nothing is given, as JSON.
    pub(crate) default: Option<String>,
}

/// One tool.
#[derive(Debug)]
pub(crate) struct Method {
    pub(crate) tool: String,
    pub(crate) name: String,
    pub(crate) description: Option<String>,
    /// The struct of its arguments, where it takes any.
    pub(crate) arguments: Option<usize>,
    /// What it gives, where it says that.
    pub(crate) output: Option<Type>,
    /// The first type of its own, and the one after the last.
    pub(crate) types: std::ops::Range<usize>,
}

/// A whole module.
#[derive(Debug)]
pub(crate) struct Module {
    pub(crate) types: Vec<Own>,
    pub(crate) methods: Vec<Method>,
}

impl Type {
    /// As it is written.
    pub(crate) fn text(&self, types: &[Own]) -> String {
        match self {
            Type::Bool => "bool".to_owned(),
            Type::Signed => "i64".to_owned(),
            Type::Unsigned => "u64".to_owned(),
            Type::Float => "f64".to_owned(),
            Type::Text => "String".to_owned(),
            Type::Any => "Value".to_owned(),
            Type::List(of) => format!("Vec<{}>", of.text(types)),
            Type::Map(of) => format!("BTreeMap<String, {}>", of.text(types)),
            Type::Nullable(of) => format!("Option<{}>", of.text(types)),
            Type::Own(index) => types[*index].name.clone(),
        }
    }

    /// Whether it is this one, or has it inside.
    pub(crate) fn has(&self, is: &impl Fn(&Type) -> bool) -> bool {
        is(self)
            || match self {
                Type::List(of) | Type::Map(of) | Type::Nullable(of) => of.has(is),
                _ => false,
            }
    }

    /// The type of the module's own that a value of it has inside itself.
    pub(crate) fn contained(&self) -> Option<usize> {
        match self {
            Type::Own(index) => Some(*index),
            Type::Nullable(of) => of.contained(),
            _ => None,
        }
    }
}

impl Own {
    /// Every type that it names.
    pub(crate) fn named(&self) -> impl Iterator<Item = &Type> {
        let body = match &self.body {
            Body::Struct(body) => Some(body),
            Body::Enum(_) => None,
        };
        let fields = body.into_iter().flat_map(|body| &body.fields).map(|field| &field.value);
        let additional = body.and_then(|body| body.additional.as_ref()).map(|(_, value)| value);
        fields.chain(additional)
    }
}
