//! Templates, with the names in their holes checked as far as they can be
//! before anything is asked.

use std::borrow::Cow;

use serde_json::Value;
use sparring_script::{Matcher, Node, Path, Scope, Span, Template, Tree, Undefined, did_you_mean};

use super::Loader;

/// What a hole can ask for, and what is below it where that is known.
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
    /// A value whose texts are templates.
    pub(super) fn tree(&mut self, node: &Node) -> Tree {
        let tree = Tree::read(node, &mut self.problems);
        self.recalls |= tree.holes().iter().any(|(path, ..)| path.root() == "calls");
        let wrong: Vec<(Span, String, Option<String>)> = tree
            .holes()
            .into_iter()
            .filter_map(|(path, span, optional)| {
                let (message, help) = self.wrong_hole(path, optional)?;
                Some((span, message, help))
            })
            .collect();
        for (span, message, help) in wrong {
            self.problems.add_with_help(span, message, help);
        }
        tree
    }

    /// A text that is a template.
    pub(super) fn text_tree(&mut self, node: &Node) -> Tree {
        self.tree(node).spelled()
    }

    fn wrong_hole(&self, path: &Path, optional: bool) -> Option<(String, Option<String>)> {
        let root = path.root();
        let Some((_, below)) = ROOTS.iter().find(|(name, _)| *name == root) else {
            let help = did_you_mean(root, ROOTS.map(|(name, _)| name));
            return Some((format!("${{{path}}}: there is no `{root}`"), help));
        };
        let vars = self.vars.as_object();
        let known: Vec<&str> = match root {
            "vars" => vars.into_iter().flat_map(|vars| vars.keys().map(String::as_str)).collect(),
            "answers" => self.answers.iter().map(String::as_str).collect(),
            "calls" => self.tools.iter().map(String::as_str).collect(),
            _ if below.is_empty() => return None,
            _ => below.to_vec(),
        };
        match path.key(1) {
            Some(key) if known.contains(&key) || optional => None,
            Some(key) => {
                let help = did_you_mean(key, known);
                Some((format!("${{{path}}}: {root} has no `{key}`"), help))
            }
            None if root == "vars" || root == "answers" => None,
            None => Some((format!("${{{path}}}: {root} is no value of its own"), None)),
        }
    }

    /// A matcher.
    pub(super) fn matcher(&mut self, node: &Node) -> Matcher {
        let known = self.known(node);
        Matcher::read(&known, &mut self.problems)
    }

    /// A value in which only variables can stand in holes, since nothing else
    /// is known; filled with those.
    pub(super) fn known<'a>(&mut self, node: &'a Node) -> Cow<'a, Node> {
        let tree = Tree::read(node, &mut self.problems);
        if tree.holes().is_empty() {
            return Cow::Borrowed(node);
        }
        match tree.render(&Vars(&self.vars)) {
            Ok(value) => Cow::Owned(Node::from((node.span, value))),
            Err(missing) => {
                self.problems.add(missing.span, missing.undefined.to_string());
                Cow::Borrowed(node)
            }
        }
    }

    /// A template that a program made, as `${uri}`.
    pub(super) fn made(&self, text: &str) -> Tree {
        let template = Template::parse(text).expect("a template of our own is one");
        Tree::Text(template, Span::default())
    }
}

/// The variables of a script, and nothing else.
pub(super) struct Vars<'a>(pub(super) &'a Value);

impl Scope for Vars<'_> {
    fn get(&self, path: &Path) -> Result<Value, Undefined> {
        match path.root() {
            "vars" => path.find(self.0, 1).cloned(),
            root => Err(Undefined(format!("${{{path}}}: only vars are known here, not {root}"))),
        }
    }
}
