//! Registers the rendered values that are secrets.
//!
//! A literal value in a file is not a secret, except tokens, headers and values whose
//! names suggest a secret. `Secrets` decides about values from the environment.

use sparring_script::TemplateTree;

use crate::context::RunContext;

/// Registers a bearer token.
pub(crate) fn register_token(context: &RunContext, tree: &TemplateTree, value: &str) {
    if tree.placeholders().is_empty() {
        context.secrets.add(value);
    }
    register_variables(context, "token", tree);
}

/// Registers the value of a header.
pub(crate) fn register_header(context: &RunContext, name: &str, tree: &TemplateTree, value: &str) {
    if tree.placeholders().is_empty() {
        context.secrets.add_header(name, value);
    }
    register_variables(context, name, tree);
}

/// Registers an environment variable of a command.
pub(crate) fn register_env(context: &RunContext, name: &str, tree: &TemplateTree, value: &str) {
    if tree.placeholders().is_empty() {
        context.secrets.add_setting(name, value);
    }
    register_variables(context, name, tree);
}

/// Registers the environment values in a text under the name of its setting, which may
/// suggest a secret. The default of a variable is not a secret.
fn register_variables(context: &RunContext, setting: &str, tree: &TemplateTree) {
    for (path, ..) in tree.placeholders() {
        let name = if path.root() == "env" { path.key_at(1) } else { Some(path.root()) };
        let value = name.and_then(|name| context.variables.get(name));
        value.iter().for_each(|value| context.secrets.add_setting(setting, value));
    }
}

#[cfg(test)]
mod tests {
    use sparring_script::{Node, Problems, Source};

    use super::*;

    fn context() -> RunContext {
        let variables = [("TOKEN", "hunter2"), ("MODE", "demo")];
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
        RunContext { variables: variables.into(), ..RunContext::default() }
    }

    /// A text with the header's value masked.
    fn of_header(name: &str, given: &str, filled: &str) -> String {
        let source = Source::new("a", format!("{given:?}"));
        let node = Node::parse(&source).expect("valid YAML");
        let tree = TemplateTree::from_node(&node, &mut Problems::new(&source));
        let context = context();
        register_header(&context, name, &tree, filled);
        context.secrets.mask(&format!("<{filled}>")).into_owned()
    }

    #[test]
    fn masks_headers_except_defaults_and_public_headers() {
        assert_eq!(of_header("X-Org", "acme-corp", "acme-corp"), "<(hidden)>");
        assert_eq!(
            of_header("authorization", "Bearer ${TOKEN}", "Bearer hunter2"),
            "<Bearer (hidden)>"
        );
        assert_eq!(of_header("X-Key", "${NOT_SET:-example}", "example"), "<example>");
        assert_eq!(of_header("Accept", "text/plain", "text/plain"), "<text/plain>");
    }

    #[test]
    fn masks_env_entries_by_name() {
        let tree = |text: &str| TemplateTree::Literal(text.into());
        let context = context();
        register_env(&context, "API_KEY", &tree("hard-coded"), "hard-coded");
        register_env(&context, "MODE", &tree("production"), "production");
        assert_eq!(context.secrets.mask("hard-coded production"), "(hidden) production");
        register_token(&context, &tree("hunter2"), "hunter2");
        assert_eq!(context.secrets.mask("hunter2"), "(hidden)");
    }
}
