//! Values whose strings are templates: parsed once, rendered many times.

use serde_json::{Map, Value};

use super::{Path, Scope, Template, TemplateError, Undefined};
use crate::node::{Kind, Node};
use crate::problem::Problems;
use crate::source::Span;

/// A value whose strings are templates. Parts without placeholders are plain JSON.
#[derive(Debug, Clone, PartialEq)]
pub enum Tree {
    /// A value without placeholders.
    Plain(Value),
    /// A template and its span. A single placeholder keeps the type of its value.
    Text(Template, Span),
    /// A template that always renders to a string.
    Spelled(Template, Span),
    /// A URL template, in which values after the origin are percent-encoded.
    Url(Template, Span),
    /// A list.
    List(Vec<Tree>),
    /// A map.
    Map(Vec<(String, Tree)>),
    /// A value that renders to a string of its JSON.
    Json(Box<Tree>),
}

/// The error of an undefined placeholder, with the span of its template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// The span of the template.
    pub span: Span,
    /// The undefined placeholder.
    pub undefined: Undefined,
}

impl Tree {
    /// Parses a value and adds malformed templates to the problems.
    pub fn read(node: &Node, problems: &mut Problems) -> Tree {
        match &node.kind {
            Kind::String(text) => match Template::parse(text) {
                Ok(template) => match template.literal() {
                    Some(text) => Tree::Plain(Value::String(text)),
                    None => Tree::Text(template, node.span),
                },
                Err(error) => {
                    problems.add(error_span(node.span, text, &error, problems), error.message);
                    Tree::Plain(Value::String(text.clone()))
                }
            },
            Kind::List(items) => {
                let items = items.iter().map(|item| Tree::read(item, problems)).collect();
                Tree::List(items).fold_literals()
            }
            Kind::Map(entries) => {
                let pairs =
                    entries.iter().map(|it| (it.key.clone(), Tree::read(&it.value, problems)));
                Tree::Map(pairs.collect()).fold_literals()
            }
            _ => Tree::Plain(node.to_json()),
        }
    }

    /// Creates a map of these entries.
    pub fn map<const N: usize>(pairs: [(&str, Tree); N]) -> Tree {
        Tree::Map(pairs.into_iter().map(|(key, tree)| (key.to_owned(), tree)).collect())
            .fold_literals()
    }

    /// Creates a list of these items.
    pub fn list(items: Vec<Tree>) -> Tree {
        Tree::List(items).fold_literals()
    }

    /// Creates a string that contains a value as JSON.
    pub fn json(value: Tree) -> Tree {
        match value {
            Tree::Plain(value) => Tree::Plain(Value::String(value.to_string())),
            other => Tree::Json(Box::new(other)),
        }
    }

    /// Makes a template always render to a string.
    #[must_use]
    pub fn spelled(self) -> Tree {
        match self {
            Tree::Text(template, span) => Tree::Spelled(template, span),
            other => other,
        }
    }

    /// Makes a template a URL, in which values after the origin are percent-encoded.
    #[must_use]
    pub fn url(self) -> Tree {
        match self {
            Tree::Text(template, span) => Tree::Url(template, span),
            other => other,
        }
    }

    /// Adds an entry to a map. Any other value stays as it is.
    #[must_use]
    pub fn with(self, key: &str, value: Tree) -> Tree {
        let mut pairs = match self {
            Tree::Map(pairs) => pairs,
            Tree::Plain(Value::Object(map)) => {
                map.into_iter().map(|(key, value)| (key, Tree::Plain(value))).collect()
            }
            other => return other,
        };
        pairs.push((key.to_owned(), value));
        Tree::Map(pairs).fold_literals()
    }

    /// Turns a list or map without placeholders into plain JSON.
    fn fold_literals(self) -> Tree {
        let is_plain = |tree: &Tree| matches!(tree, Tree::Plain(_));
        let value = |tree| match tree {
            Tree::Plain(value) => value,
            _ => Value::Null,
        };
        match self {
            Tree::List(items) if items.iter().all(is_plain) => {
                Tree::Plain(items.into_iter().map(value).collect())
            }
            Tree::Map(pairs) if pairs.iter().all(|(_, tree)| is_plain(tree)) => {
                let pairs = pairs.into_iter().map(|(key, tree)| (key, value(tree)));
                Tree::Plain(Value::Object(pairs.collect()))
            }
            other => other,
        }
    }

    /// Returns the value if it has no placeholder.
    pub fn plain(&self) -> Option<&Value> {
        match self {
            Tree::Plain(value) => Some(value),
            _ => None,
        }
    }

    /// Returns the path of each placeholder, the span of its template, and whether it has a
    /// default.
    pub fn holes(&self) -> Vec<(&Path, Span, bool)> {
        match self {
            Tree::Plain(_) => Vec::new(),
            Tree::Text(template, span)
            | Tree::Spelled(template, span)
            | Tree::Url(template, span) => {
                template.holes().map(|(path, optional)| (path, *span, optional)).collect()
            }
            Tree::List(items) => items.iter().flat_map(Tree::holes).collect(),
            Tree::Map(pairs) => pairs.iter().flat_map(|(_, tree)| tree.holes()).collect(),
            Tree::Json(value) => value.holes(),
        }
    }

    /// Replaces the placeholders by their values.
    ///
    /// # Errors
    /// Returns an error if a placeholder is undefined.
    pub fn render(&self, scope: &dyn Scope) -> Result<Value, Missing> {
        match self {
            Tree::Plain(value) => Ok(value.clone()),
            Tree::Text(template, span) => {
                template.render(scope).map_err(|undefined| Missing { span: *span, undefined })
            }
            Tree::Spelled(template, span) => {
                let text = template.render_text(scope);
                text.map(Value::String).map_err(|undefined| Missing { span: *span, undefined })
            }
            Tree::Url(template, span) => {
                let url = template.render_url(scope);
                url.map(Value::String).map_err(|undefined| Missing { span: *span, undefined })
            }
            Tree::List(items) => items.iter().map(|item| item.render(scope)).collect(),
            Tree::Json(value) => Ok(Value::String(value.render(scope)?.to_string())),
            Tree::Map(pairs) => {
                let pairs = pairs.iter().map(|(key, tree)| Ok((key.clone(), tree.render(scope)?)));
                Ok(Value::Object(pairs.collect::<Result<Map<_, _>, _>>()?))
            }
        }
    }
}

/// Returns the span of an error within a template. It is the span of the whole template if
/// the source contains the text in another spelling, such as an escaped one.
fn error_span(span: Span, text: &str, error: &TemplateError, problems: &Problems) -> Span {
    let written = problems.source().text().get(span.start..span.end).unwrap_or_default();
    match written.find(text) {
        Some(offset) => {
            let start = span.start + offset + error.offset;
            Span { start, end: start }
        }
        None => span,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::Source;

    fn parse(text: &str) -> Result<Tree, String> {
        let source = Source::new("a.yaml", text);
        let node = Node::parse(&source).unwrap();
        let mut problems = Problems::new(&source);
        let tree = Tree::read(&node, &mut problems);
        problems.or(tree).map_err(|problems| problems.to_string())
    }

    struct Name;

    impl Scope for Name {
        fn get(&self, path: &Path) -> Result<Value, Undefined> {
            path.find(&json!({"name": "Ada", "n": 2}), 0).cloned()
        }
    }

    #[test]
    fn parts_without_placeholders_are_plain_json() {
        let tree = parse("a: [hi, \"${name}\"]\nb: {c: 1}\nd: $${x}\n").unwrap();
        let Tree::Map(pairs) = &tree else { panic!("{tree:?}") };
        assert_eq!(pairs[1].1, Tree::Plain(json!({"c": 1})));
        let expected = json!({"a": ["hi", "Ada"], "b": {"c": 1}, "d": "${x}"});
        assert_eq!(tree.render(&Name), Ok(expected));
        assert_eq!(tree.holes().len(), 1);
    }

    #[test]
    fn trees_are_built_from_parts() {
        let number =
            || Tree::read(&Node::from((Span::default(), json!("${n}"))), &mut no_problems());
        let tree = Tree::map([("a", Tree::Plain(json!(1))), ("b", Tree::list(vec![number()]))]);
        let tree = tree.with("c", Tree::json(Tree::map([("n", number())])));
        let expected = json!({"a": 1, "b": [2], "c": "{\"n\":2}"});
        assert_eq!(tree.render(&Name), Ok(expected));
        assert_eq!(number().spelled().render(&Name), Ok(json!("2")));
        let plain = Tree::json(Tree::map([("a", Tree::Plain(json!(1)))]));
        assert_eq!(plain.plain(), Some(&json!("{\"a\":1}")));
    }

    fn no_problems() -> Problems {
        Problems::new(&Source::new("", ""))
    }

    #[test]
    fn an_undefined_placeholder_is_reported_with_its_span() {
        let tree = parse("a: b\nc: \"${nmae}\"\n").unwrap();
        let error = tree.render(&Name).unwrap_err();
        assert_eq!(error.span.start, 8);
        assert!(error.undefined.0.contains("did you mean 'name'"), "{error:?}");
    }

    #[test]
    fn an_unclosed_placeholder_is_reported_where_it_opens() {
        let message = parse("a: \"x ${b\"\n").unwrap_err();
        assert!(message.contains("a.yaml:1:7") && message.contains("not closed"), "{message}");
    }
}
