//! Loads templates and checks the names that they use, as far as these are known in advance.

use std::borrow::Cow;

use serde_json::Value;
use sparring_script::{
    Matcher, Node, Path, Scope, Span, Template, TemplateTree, UndefinedPath, did_you_mean,
};
use sparring_wire::secret_names::is_secret_header;

use super::Loader;

/// The roots that a template can use, and their keys if these are known.
const ROOTS: [(&str, &[&str]); 12] = [
    ("answers", &[]),
    ("args", &[]),
    ("call", &[]),
    ("calls", &[]),
    ("client", &["name", "version"]),
    ("clock", &["iso", "ms", "unix"]),
    ("counter", &[]),
    ("headers", &[]),
    ("random", &["float", "hex", "int", "uuid"]),
    ("revision", &[]),
    ("uri", &[]),
    ("vars", &[]),
];

impl Loader<'_> {
    /// Loads a value whose texts are templates.
    pub(super) fn load_tree(&mut self, node: &Node) -> TemplateTree {
        let tree = TemplateTree::from_node(node, &mut self.problems);
        self.uses_last_calls |= tree.placeholders().iter().any(|(path, ..)| path.root() == "calls");
        let problems: Vec<(Span, String, Option<String>)> = tree
            .placeholders()
            .into_iter()
            .filter_map(|(path, span, optional)| {
                let (message, help) = self.check_path(path, optional)?;
                Some((span, message, help))
            })
            .collect();
        for (span, message, help) in problems {
            self.problems.add_with_help(span, message, help);
        }
        tree
    }

    /// Loads a text that is a template.
    pub(super) fn load_text(&mut self, node: &Node) -> TemplateTree {
        self.load_tree(node).into_text()
    }

    fn check_path(&self, path: &Path, optional: bool) -> Option<(String, Option<String>)> {
        let root = path.root();
        let Some((_, keys)) = ROOTS.iter().find(|(name, _)| *name == root) else {
            let help = did_you_mean(root, ROOTS.map(|(name, _)| name));
            return Some((format!("${{{path}}}: unknown name `{root}`"), help));
        };
        // The answer may go to another client, for example as a notification.
        if self.origin.is_client()
            && root == "headers"
            && path.key_at(1).is_some_and(is_secret_header)
        {
            return Some((format!("${{{path}}}: a change over HTTP cannot use this header"), None));
        }
        let vars = self.vars.as_object();
        let known_keys: Vec<&str> = match root {
            "vars" => vars.into_iter().flat_map(|vars| vars.keys().map(String::as_str)).collect(),
            "answers" => self.answers.iter().map(String::as_str).collect(),
            "calls" => self.tools.iter().map(String::as_str).collect(),
            _ if keys.is_empty() => return None,
            _ => keys.to_vec(),
        };
        match path.key_at(1) {
            Some(key) if known_keys.contains(&key) || optional => None,
            Some(key) => {
                let help = did_you_mean(key, known_keys);
                Some((format!("${{{path}}}: {root} has no `{key}`"), help))
            }
            None if root == "vars" || root == "answers" => None,
            None => Some((format!("${{{path}}}: `{root}` needs a key"), None)),
        }
    }

    /// Loads a matcher.
    pub(super) fn load_matcher(&mut self, node: &Node) -> Matcher {
        let rendered = self.render_vars(node);
        Matcher::from_node(&rendered, &mut self.problems)
    }

    /// Renders a value that can use only variables, since there is no request yet.
    pub(super) fn render_vars<'a>(&mut self, node: &'a Node) -> Cow<'a, Node> {
        let tree = TemplateTree::from_node(node, &mut self.problems);
        if tree.placeholders().is_empty() {
            return Cow::Borrowed(node);
        }
        match tree.render(&VarScope(&self.vars)) {
            Ok(value) => Cow::Owned(Node::from((node.span, value))),
            Err(missing) => {
                self.problems.add(missing.span, missing.undefined.to_string());
                Cow::Borrowed(node)
            }
        }
    }

    /// Creates a built-in template, such as `${uri}`.
    pub(super) fn built_in_template(&self, text: &str) -> TemplateTree {
        let template = Template::parse(text).expect("a built-in template is valid");
        TemplateTree::Template(template, Span::default())
    }
}

/// The template scope with only the variables of a script.
pub(super) struct VarScope<'a>(pub(super) &'a Value);

impl Scope for VarScope<'_> {
    fn get(&self, path: &Path) -> Result<Value, UndefinedPath> {
        match path.root() {
            "vars" => path.find(self.0, 1).cloned(),
            root => Err(UndefinedPath(format!(
                "${{{path}}}: only `vars` can be used here, not `{root}`"
            ))),
        }
    }
}
