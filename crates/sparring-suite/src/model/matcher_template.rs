//! A matcher with templates, which are rendered before each check.

use serde_json::Value;
use sparring_script::matcher::MATCHER_NAMES;
use sparring_script::template::{Path, RenderError, Segment};
use sparring_script::{
    MapEntry, Matcher, Mismatch, Node, NodeKind, Problem, Problems, Scope, Source, Span, Template,
    TemplateTree, casing,
};

use crate::step_result::REFUSED;

/// The matchers whose operands are literal values.
const LITERAL: [&str; 3] = ["equals", "contains", "conforms"];

/// A matcher as a suite writes it.
#[derive(Debug)]
pub(crate) struct MatcherTemplate {
    node: Node,
    /// The matcher itself, if it has no templates.
    matcher: Option<Matcher>,
    templates: TemplateTree,
}

/// A mismatch, and the position of the matcher in the suite.
#[derive(Debug)]
pub(crate) struct ValueMismatch {
    pub(crate) span: Span,
    pub(crate) mismatch: Mismatch,
}

impl MatcherTemplate {
    /// Reads a matcher of user data.
    pub(crate) fn read(node: &Node, problems: &mut Problems) -> MatcherTemplate {
        let templates = TemplateTree::from_node(node, problems);
        let matcher = templates.as_literal().map(|_| {
            // Rendering also turns `$${` into a literal `${`.
            let literal = render(node, &EmptyScope, false).unwrap_or_else(|_| node.clone());
            Matcher::from_node(&literal, problems)
        });
        MatcherTemplate { node: node.clone(), matcher, templates }
    }

    /// Reads a matcher of a protocol value: turns snake_case names into camelCase.
    pub(crate) fn read_wire(node: &Node, problems: &mut Problems) -> MatcherTemplate {
        let mut node = node.clone();
        to_wire(&mut node);
        MatcherTemplate::read(&node, problems)
    }

    /// Reads a matcher of an error. Without `kind`, it matches only errors that the server
    /// sent.
    pub(crate) fn read_error(node: &Node, problems: &mut Problems) -> MatcherTemplate {
        MatcherTemplate::read_wire(&require(node.clone(), "kind", REFUSED), problems)
    }

    /// Its position in the suite.
    pub(crate) fn span(&self) -> Span {
        self.node.span
    }

    /// Its templates.
    pub(crate) fn templates(&self) -> &TemplateTree {
        &self.templates
    }

    /// Checks a value.
    ///
    /// # Errors
    /// When a template uses an unknown value, or the rendered matcher is invalid.
    pub(crate) fn check(
        &self,
        value: Option<&Value>,
        scope: &dyn Scope,
    ) -> Result<Vec<ValueMismatch>, Problem> {
        let found = match &self.matcher {
            Some(matcher) => matcher.check(value),
            None => self.render(scope)?.check(value),
        };
        let with_span =
            |mismatch: Mismatch| ValueMismatch { span: self.span_of(&mismatch.path), mismatch };
        Ok(found.into_iter().map(with_span).collect())
    }

    /// Renders the templates and returns the matcher.
    ///
    /// # Errors
    /// When a template uses an unknown value, or the rendered matcher is invalid.
    pub(crate) fn render(&self, scope: &dyn Scope) -> Result<Matcher, Problem> {
        let node = render(&self.node, scope, false).map_err(|missing| Problem {
            span: missing.span,
            message: missing.undefined.to_string(),
            help: None,
        })?;
        let mut problems = Problems::new(&Source::new("", ""));
        let matcher = Matcher::from_node(&node, &mut problems);
        match problems.iter().next() {
            Some(problem) => Err(problem.clone()),
            None => Ok(matcher),
        }
    }

    /// The position of the part of the matcher that checks a path of the value.
    fn span_of(&self, path: &str) -> Span {
        let mut here = &self.node;
        // `Path` needs a name first; the path of a mismatch may begin with an index.
        let dot = if path.starts_with('[') { "" } else { "." };
        let Ok(path) = Path::parse(&format!("it{dot}{path}")) else { return here.span };
        for segment in path.segments.iter().skip(1) {
            let next = match segment {
                Segment::Key(key) => here.get(key),
                Segment::Index(index) => here.items().get(*index),
            };
            match next {
                Some(next) => here = next,
                None => break,
            }
        }
        here.span
    }
}

/// Requires that a map has this value at a key, wherever a matcher does not mention the key.
fn require(node: Node, key: &str, value: &str) -> Node {
    let span = node.span;
    let entry = || MapEntry {
        key: key.to_owned(),
        key_span: span,
        value: Node::from((span, value.into())),
    };
    let kind = match node.kind {
        NodeKind::Map(entries) if !is_matcher(&entries) => {
            let is_mentioned = entries.iter().any(|entry| entry.key == key);
            NodeKind::Map(entries.into_iter().chain((!is_mentioned).then(entry)).collect())
        }
        NodeKind::Map(entries) if !mentions(&entries, key) => {
            let both = [NodeKind::Map(entries), NodeKind::Map(vec![entry()])];
            let both = both.map(|kind| Node { span, kind }).into();
            let all = Node { span, kind: NodeKind::List(both) };
            NodeKind::Map(vec![MapEntry { key: "all".to_owned(), key_span: span, value: all }])
        }
        NodeKind::Map(mut entries) => {
            for entry in entries.iter_mut().filter(|it| ["any", "one_of"].contains(&&*it.key)) {
                if let NodeKind::List(items) = &mut entry.value.kind {
                    *items = items.drain(..).map(|item| require(item, key, value)).collect();
                }
            }
            NodeKind::Map(entries)
        }
        other => other,
    };
    Node { span, kind }
}

/// Returns true if matchers mention a key of a map, not counting negations.
fn mentions(matchers: &[MapEntry], key: &str) -> bool {
    let in_map = |node: &Node| match is_matcher(node.entries()) {
        true => mentions(node.entries(), key),
        false => node.get(key).is_some(),
    };
    matchers.iter().any(|entry| match &*entry.key {
        "equals" => true,
        "all" | "any" | "one_of" => entry.value.items().iter().any(in_map),
        _ => false,
    })
}

/// A scope without values, for nodes without templates.
struct EmptyScope;

impl Scope for EmptyScope {
    fn get(&self, path: &Path) -> Result<Value, sparring_script::UndefinedPath> {
        Err(path.undefined_at(0, &Value::Null))
    }
}

/// Renders the templates of a node. A map that replaces a template is a value, never a
/// matcher.
fn render(node: &Node, scope: &dyn Scope, literal: bool) -> Result<Node, RenderError> {
    let span = node.span;
    let kind = match &node.kind {
        NodeKind::String(text) => {
            let Ok(template) = Template::parse(text) else { return Ok(node.clone()) };
            let value =
                template.render(scope).map_err(|undefined| RenderError { span, undefined })?;
            let value = match value {
                Value::Object(_) | Value::Array(_) if !literal => {
                    Value::Object([("equals".to_owned(), value)].into_iter().collect())
                }
                value => value,
            };
            return Ok(Node::from((span, value)));
        }
        NodeKind::List(items) => {
            let items = items.iter().map(|item| render(item, scope, literal));
            NodeKind::List(items.collect::<Result<_, _>>()?)
        }
        NodeKind::Map(entries) => {
            let is_matcher = is_matcher(entries);
            let fill = |entry: &MapEntry| {
                let literal = literal || is_matcher && LITERAL.contains(&&*entry.key);
                let value = render(&entry.value, scope, literal)?;
                Ok(MapEntry { value, ..entry.clone() })
            };
            NodeKind::Map(entries.iter().map(fill).collect::<Result<_, _>>()?)
        }
        other => other.clone(),
    };
    Ok(Node { span, kind })
}

/// Renames keys to those of the wire, except names of matchers, literal operands and user
/// data.
fn to_wire(node: &mut Node) {
    match &mut node.kind {
        NodeKind::List(items) => items.iter_mut().for_each(to_wire),
        NodeKind::Map(entries) => {
            let is_matcher = is_matcher(entries);
            for entry in entries {
                let literal = match is_matcher {
                    true => LITERAL.contains(&&*entry.key),
                    false => casing::is_user_data_key(&entry.key),
                };
                if !literal {
                    to_wire(&mut entry.value);
                }
                if !is_matcher {
                    entry.key = casing::to_camel_case(&entry.key);
                }
            }
        }
        _ => {}
    }
}

fn is_matcher(entries: &[MapEntry]) -> bool {
    !entries.is_empty() && entries.iter().all(|entry| MATCHER_NAMES.contains(&&*entry.key))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    struct Known(Value);

    impl Scope for Known {
        fn get(&self, path: &Path) -> Result<Value, sparring_script::UndefinedPath> {
            path.find(&self.0, 0).cloned()
        }
    }

    fn read(text: &str) -> MatcherTemplate {
        let source = Source::new("a.yaml", text);
        let mut problems = Problems::new(&source);
        let pattern = MatcherTemplate::read_wire(&Node::parse(&source).unwrap(), &mut problems);
        assert!(problems.is_empty(), "{problems}");
        pattern
    }

    fn fits(text: &str, value: Value) -> bool {
        let scope = Known(json!({"id": 7, "map": {"len": 3}, "name": "Ada"}));
        read(text).check(Some(&value), &scope).unwrap().is_empty()
    }

    #[test]
    fn renames_keys_to_those_of_the_wire_except_matchers_and_user_data() {
        assert!(fits("input_schema: {my_key: 1}", json!({"inputSchema": {"my_key": 1}})));
        assert!(fits("mime_type: {starts_with: a}", json!({"mimeType": "abc"})));
        assert!(fits("{equals: {a_b: 1}}", json!({"a_b": 1})));
    }

    #[test]
    fn templates_are_rendered_before_the_check_and_a_rendered_map_is_a_value() {
        assert!(fits("{id: \"${id}\"}", json!({"id": 7})));
        assert!(fits("{contains: \"${name}\"}", json!("hello Ada")));
        assert!(fits("{gt: \"${id}\"}", json!(8)));
        assert!(fits("\"${map}\"", json!({"len": 3})));
        assert!(!fits("\"${map}\"", json!("abc")));
        assert!(fits("$${id}", json!("${id}")));
    }

    #[test]
    fn a_mismatch_has_the_position_of_its_matcher() {
        let pattern = read("a: [1, {b: 2}]\n");
        let found = pattern.check(Some(&json!({"a": [1, {"b": 3}]})), &EmptyScope).unwrap();
        assert_eq!((found.len(), found[0].span.start), (1, 11));
    }

    #[test]
    fn an_error_without_kind_is_one_that_the_server_sent() {
        let check = |text: &str, kinds: &[&str]| {
            let source = Source::new("a.yaml", text);
            let mut problems = Problems::new(&source);
            let node = Node::parse(&source).unwrap();
            let matcher = MatcherTemplate::read_error(&node, &mut problems);
            let error = |kind: &str| json!({"kind": kind, "code": 1, "data": {"kind": "a"}});
            let fits =
                |kind: &&str| matcher.check(Some(&error(kind)), &EmptyScope).unwrap().is_empty();
            let matched: Vec<&str> =
                ["refused", "timeout", "closed"].into_iter().filter(fits).collect();
            assert_eq!((matched, problems.is_empty()), (kinds.to_vec(), true), "{text}");
        };
        check("{}", &["refused"]);
        check("code: 1", &["refused"]);
        check("data: {kind: a}", &["refused"]);
        check("{not: {code: 2}}", &["refused"]);
        check("{not: {kind: closed}}", &["refused"]);
        check("kind: timeout", &["timeout"]);
        check("kind: {not: refused}", &["timeout", "closed"]);
        check("{any: [{kind: closed}, {code: 1}]}", &["refused", "closed"]);
        check("{any: [{kind: closed}, {kind: timeout}]}", &["timeout", "closed"]);
        check("{all: [{code: 1}, {kind: closed}]}", &["closed"]);
        check("{equals: {kind: closed, code: 1, data: {kind: a}}}", &["closed"]);
    }

    #[test]
    fn reports_undefined_and_invalid_template_values() {
        let problem = read("a: \"${nobody}\"").check(None, &EmptyScope).unwrap_err();
        assert_eq!(problem.span.start, 3);
        let problem =
            read("{gt: \"${name}\"}").check(None, &Known(json!({"name": "Ada"}))).unwrap_err();
        assert_eq!(problem.message, "expected a number, found a string");
    }
}
