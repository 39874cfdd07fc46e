//! Values whose strings are templates: parsed once, rendered many times.

use serde_json::{Map, Value};

use super::{Path, Scope, Template, TemplateError, UndefinedPath};
use crate::node::{Node, NodeKind};
use crate::problem::Problems;
use crate::source::Span;

/// A value whose strings are templates. Parts without placeholders are plain JSON.
#[derive(Debug, Clone, PartialEq)]
pub enum TemplateTree {
    /// A value without placeholders.
    Literal(Value),
    /// A template and its span. A single placeholder keeps the type of its value.
    Template(Template, Span),
    /// A template that always renders to a string.
    TextTemplate(Template, Span),
    /// A URL template, in which values after the origin are percent-encoded.
    UrlTemplate(Template, Span),
    /// A list.
    List(Vec<TemplateTree>),
    /// A map.
    Map(Vec<(String, TemplateTree)>),
    /// A value that renders to a string of its JSON.
    JsonText(Box<TemplateTree>),
}

/// The error of an undefined placeholder, with the span of its template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenderError {
    /// The span of the template.
    pub span: Span,
    /// The undefined placeholder.
    pub undefined: UndefinedPath,
}

impl TemplateTree {
    /// Parses a value and adds malformed templates to the problems.
    pub fn from_node(node: &Node, problems: &mut Problems) -> TemplateTree {
        match &node.kind {
            NodeKind::String(text) => match Template::parse(text) {
                Ok(template) => match template.as_literal() {
                    Some(text) => TemplateTree::Literal(Value::String(text)),
                    None => TemplateTree::Template(template, node.span),
                },
                Err(error) => {
                    problems.add(error_span(node.span, text, &error, problems), error.message);
                    TemplateTree::Literal(Value::String(text.clone()))
                }
            },
            NodeKind::List(items) => {
                let items =
                    items.iter().map(|item| TemplateTree::from_node(item, problems)).collect();
                TemplateTree::List(items).fold_literals()
            }
            NodeKind::Map(entries) => {
                let pairs = entries
                    .iter()
                    .map(|it| (it.key.clone(), TemplateTree::from_node(&it.value, problems)));
                TemplateTree::Map(pairs.collect()).fold_literals()
            }
            _ => TemplateTree::Literal(node.to_json()),
        }
    }

    /// Creates a map of these entries.
    pub fn map<const N: usize>(pairs: [(&str, TemplateTree); N]) -> TemplateTree {
        TemplateTree::Map(pairs.into_iter().map(|(key, tree)| (key.to_owned(), tree)).collect())
            .fold_literals()
    }

    /// Creates a list of these items.
    pub fn list(items: Vec<TemplateTree>) -> TemplateTree {
        TemplateTree::List(items).fold_literals()
    }

    /// Creates a string that contains a value as JSON.
    pub fn json_text(value: TemplateTree) -> TemplateTree {
        match value {
            TemplateTree::Literal(value) => TemplateTree::Literal(Value::String(value.to_string())),
            other => TemplateTree::JsonText(Box::new(other)),
        }
    }

    /// Makes a template always render to a string.
    #[must_use]
    pub fn into_text(self) -> TemplateTree {
        match self {
            TemplateTree::Template(template, span) => TemplateTree::TextTemplate(template, span),
            other => other,
        }
    }

    /// Makes a template a URL, in which values after the origin are percent-encoded.
    #[must_use]
    pub fn into_url(self) -> TemplateTree {
        match self {
            TemplateTree::Template(template, span) => TemplateTree::UrlTemplate(template, span),
            other => other,
        }
    }

    /// Adds an entry to a map. Any other value stays as it is.
    #[must_use]
    pub fn with_entry(self, key: &str, value: TemplateTree) -> TemplateTree {
        let mut pairs = match self {
            TemplateTree::Map(pairs) => pairs,
            TemplateTree::Literal(Value::Object(map)) => {
                map.into_iter().map(|(key, value)| (key, TemplateTree::Literal(value))).collect()
            }
            other => return other,
        };
        pairs.push((key.to_owned(), value));
        TemplateTree::Map(pairs).fold_literals()
    }

    /// Turns a list or map without placeholders into plain JSON.
    fn fold_literals(self) -> TemplateTree {
        let is_plain = |tree: &TemplateTree| matches!(tree, TemplateTree::Literal(_));
        let value = |tree| match tree {
            TemplateTree::Literal(value) => value,
            _ => Value::Null,
        };
        match self {
            TemplateTree::List(items) if items.iter().all(is_plain) => {
                TemplateTree::Literal(items.into_iter().map(value).collect())
            }
            TemplateTree::Map(pairs) if pairs.iter().all(|(_, tree)| is_plain(tree)) => {
                let pairs = pairs.into_iter().map(|(key, tree)| (key, value(tree)));
                TemplateTree::Literal(Value::Object(pairs.collect()))
            }
            other => other,
        }
    }

    /// Returns the value if it has no placeholder.
    pub fn as_literal(&self) -> Option<&Value> {
        match self {
            TemplateTree::Literal(value) => Some(value),
            _ => None,
        }
    }

    /// Returns the path of each placeholder, the span of its template, and true if it has a
    /// default.
    pub fn placeholders(&self) -> Vec<(&Path, Span, bool)> {
        match self {
            TemplateTree::Literal(_) => Vec::new(),
            TemplateTree::Template(template, span)
            | TemplateTree::TextTemplate(template, span)
            | TemplateTree::UrlTemplate(template, span) => {
                template.placeholders().map(|(path, optional)| (path, *span, optional)).collect()
            }
            TemplateTree::List(items) => {
                items.iter().flat_map(TemplateTree::placeholders).collect()
            }
            TemplateTree::Map(pairs) => {
                pairs.iter().flat_map(|(_, tree)| tree.placeholders()).collect()
            }
            TemplateTree::JsonText(value) => value.placeholders(),
        }
    }

    /// Replaces the placeholders by their values.
    ///
    /// # Errors
    /// Returns an error if a placeholder is undefined.
    pub fn render(&self, scope: &dyn Scope) -> Result<Value, RenderError> {
        match self {
            TemplateTree::Literal(value) => Ok(value.clone()),
            TemplateTree::Template(template, span) => {
                template.render(scope).map_err(|undefined| RenderError { span: *span, undefined })
            }
            TemplateTree::TextTemplate(template, span) => {
                let text = template.render_text(scope);
                text.map(Value::String).map_err(|undefined| RenderError { span: *span, undefined })
            }
            TemplateTree::UrlTemplate(template, span) => {
                let url = template.render_url(scope);
                url.map(Value::String).map_err(|undefined| RenderError { span: *span, undefined })
            }
            TemplateTree::List(items) => items.iter().map(|item| item.render(scope)).collect(),
            TemplateTree::JsonText(value) => Ok(Value::String(value.render(scope)?.to_string())),
            TemplateTree::Map(pairs) => {
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

    fn parse(text: &str) -> Result<TemplateTree, String> {
        let source = Source::new("a.yaml", text);
        let node = Node::parse(&source).unwrap();
        let mut problems = Problems::new(&source);
        let tree = TemplateTree::from_node(&node, &mut problems);
        problems.into_result(tree).map_err(|problems| problems.to_string())
    }

    struct Name;

    impl Scope for Name {
        fn get(&self, path: &Path) -> Result<Value, UndefinedPath> {
            path.find(&json!({"name": "Ada", "n": 2}), 0).cloned()
        }
    }

    #[test]
    fn parts_without_placeholders_are_plain_json() {
        let tree = parse("a: [hi, \"${name}\"]\nb: {c: 1}\nd: $${x}\n").unwrap();
        let TemplateTree::Map(pairs) = &tree else { panic!("{tree:?}") };
        assert_eq!(pairs[1].1, TemplateTree::Literal(json!({"c": 1})));
        let expected = json!({"a": ["hi", "Ada"], "b": {"c": 1}, "d": "${x}"});
        assert_eq!(tree.render(&Name), Ok(expected));
        assert_eq!(tree.placeholders().len(), 1);
    }

    #[test]
    fn trees_are_built_from_parts() {
        let number = || {
            TemplateTree::from_node(
                &Node::from((Span::default(), json!("${n}"))),
                &mut no_problems(),
            )
        };
        let tree = TemplateTree::map([
            ("a", TemplateTree::Literal(json!(1))),
            ("b", TemplateTree::list(vec![number()])),
        ]);
        let tree =
            tree.with_entry("c", TemplateTree::json_text(TemplateTree::map([("n", number())])));
        let expected = json!({"a": 1, "b": [2], "c": "{\"n\":2}"});
        assert_eq!(tree.render(&Name), Ok(expected));
        assert_eq!(number().into_text().render(&Name), Ok(json!("2")));
        let plain =
            TemplateTree::json_text(TemplateTree::map([("a", TemplateTree::Literal(json!(1)))]));
        assert_eq!(plain.as_literal(), Some(&json!("{\"a\":1}")));
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
