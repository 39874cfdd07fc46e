//! A value whose texts are templates, read once and filled as often as wanted.

use serde_json::{Map, Value};

use super::{BadTemplate, Path, Scope, Template, Undefined};
use crate::node::{Kind, Node};
use crate::problem::Problems;
use crate::source::Span;

/// A value with holes. What has none is kept whole.
#[derive(Debug, Clone, PartialEq)]
pub enum Tree {
    /// Nothing to fill.
    Plain(Value),
    /// A text with holes, and where it stands.
    Text(Template, Span),
    /// The same, and a text in any case.
    Spelled(Template, Span),
    /// A URL with holes, in which values are percent-encoded behind its origin.
    Url(Template, Span),
    /// A list.
    List(Vec<Tree>),
    /// A map.
    Map(Vec<(String, Tree)>),
    /// A value as the text that it is in JSON.
    Json(Box<Tree>),
}

/// What was not there, and where it was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// The place of the template.
    pub span: Span,
    /// What is not there.
    pub undefined: Undefined,
}

impl Tree {
    /// Reads a value; what is no template is added to the problems.
    pub fn read(node: &Node, problems: &mut Problems) -> Tree {
        match &node.kind {
            Kind::String(text) => match Template::parse(text) {
                Ok(template) => match template.literal() {
                    Some(text) => Tree::Plain(Value::String(text)),
                    None => Tree::Text(template, node.span),
                },
                Err(bad) => {
                    problems.add(inside(node.span, text, &bad, problems), bad.message);
                    Tree::Plain(Value::String(text.clone()))
                }
            },
            Kind::List(items) => {
                let items = items.iter().map(|item| Tree::read(item, problems)).collect();
                Tree::List(items).folded()
            }
            Kind::Map(entries) => {
                let read = |problems: &mut Problems, node| Tree::read(node, problems);
                let pairs = entries.iter().map(|it| (it.key.clone(), read(problems, &it.value)));
                Tree::Map(pairs.collect()).folded()
            }
            _ => Tree::Plain(node.to_json()),
        }
    }

    /// A map of these.
    pub fn map<const N: usize>(pairs: [(&str, Tree); N]) -> Tree {
        Tree::Map(pairs.into_iter().map(|(key, tree)| (key.to_owned(), tree)).collect()).folded()
    }

    /// A list of these.
    pub fn list(items: Vec<Tree>) -> Tree {
        Tree::List(items).folded()
    }

    /// The text that a value is in JSON.
    pub fn json(of: Tree) -> Tree {
        match of {
            Tree::Plain(value) => Tree::Plain(Value::String(value.to_string())),
            other => Tree::Json(Box::new(other)),
        }
    }

    /// The same as a text, whatever fills it.
    #[must_use]
    pub fn spelled(self) -> Tree {
        match self {
            Tree::Text(template, span) => Tree::Spelled(template, span),
            other => other,
        }
    }

    /// The same as a URL, in which values are percent-encoded behind its origin.
    #[must_use]
    pub fn url(self) -> Tree {
        match self {
            Tree::Text(template, span) => Tree::Url(template, span),
            other => other,
        }
    }

    /// The same map with one more member; what is no map stays as it is.
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
        Tree::Map(pairs).folded()
    }

    /// Keeps whole what has no hole in it.
    fn folded(self) -> Tree {
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

    /// The value, where it has no hole.
    pub fn plain(&self) -> Option<&Value> {
        match self {
            Tree::Plain(value) => Some(value),
            _ => None,
        }
    }

    /// What its holes ask for, where, and whether they can do without.
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
            Tree::Json(of) => of.holes(),
        }
    }

    /// Fills the holes.
    ///
    /// # Errors
    /// When something is not there.
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
            Tree::Json(of) => Ok(Value::String(of.render(scope)?.to_string())),
            Tree::Map(pairs) => {
                let filled = pairs.iter().map(|(key, tree)| Ok((key.clone(), tree.render(scope)?)));
                Ok(Value::Object(filled.collect::<Result<Map<_, _>, _>>()?))
            }
        }
    }
}

/// The place within a text, where the text stands in its source as it is;
/// else that of the whole.
fn inside(span: Span, text: &str, bad: &BadTemplate, problems: &Problems) -> Span {
    let written = problems.source().text().get(span.start..span.end).unwrap_or_default();
    match written.find(text) {
        Some(offset) => {
            let start = span.start + offset + bad.at;
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

    fn read(text: &str) -> Result<Tree, String> {
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
    fn only_what_has_holes_is_filled_again_and_again() {
        let tree = read("a: [hi, \"${name}\"]\nb: {c: 1}\nd: $${x}\n").unwrap();
        let Tree::Map(pairs) = &tree else { panic!("{tree:?}") };
        assert_eq!(pairs[1].1, Tree::Plain(json!({"c": 1})));
        let filled = json!({"a": ["hi", "Ada"], "b": {"c": 1}, "d": "${x}"});
        assert_eq!(tree.render(&Name), Ok(filled));
        assert_eq!(tree.holes().len(), 1);
    }

    #[test]
    fn trees_are_put_together_from_parts() {
        let hole = || Tree::read(&Node::from((Span::default(), json!("${n}"))), &mut no_problems());
        let tree = Tree::map([("a", Tree::Plain(json!(1))), ("b", Tree::list(vec![hole()]))]);
        let tree = tree.with("c", Tree::json(Tree::map([("n", hole())])));
        let filled = json!({"a": 1, "b": [2], "c": "{\"n\":2}"});
        assert_eq!(tree.render(&Name), Ok(filled));
        assert_eq!(hole().spelled().render(&Name), Ok(json!("2")));
        let plain = Tree::json(Tree::map([("a", Tree::Plain(json!(1)))]));
        assert_eq!(plain.plain(), Some(&json!("{\"a\":1}")));
    }

    fn no_problems() -> Problems {
        Problems::new(&Source::new("", ""))
    }

    #[test]
    fn what_is_not_there_is_told_with_its_place() {
        let tree = read("a: b\nc: \"${nmae}\"\n").unwrap();
        let missing = tree.render(&Name).unwrap_err();
        assert_eq!(missing.span.start, 8);
        assert!(missing.undefined.0.contains("did you mean 'name'"), "{missing:?}");
    }

    #[test]
    fn a_hole_that_is_not_closed_is_told_where_it_opens() {
        let told = read("a: \"x ${b\"\n").unwrap_err();
        assert!(told.contains("a.yaml:1:7") && told.contains("not closed"), "{told}");
    }
}
