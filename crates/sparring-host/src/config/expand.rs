//! Expands variables in the texts of an entry: `${NAME}`, `${NAME:-default}`,
//! `${env:NAME}`, `${input:id}`. Values are not expanded again, and no message
//! contains a value.

use serde_json::Value;
use sparring_script::template::Segment;
use sparring_script::{Node, Path, Problems, Scope, Template, UndefinedPath, did_you_mean};

use super::config_context::{ConfigContext, InputQuestion};
use super::locations::{ConfigLocation, Format};
use super::read::Input;

/// Expands the texts of an entry and collects problems.
pub(super) struct Expander<'a> {
    pub(super) server: &'a str,
    pub(super) location: &'a ConfigLocation,
    pub(super) inputs: &'a [Input],
    pub(super) config_context: &'a ConfigContext,
    pub(super) problems: Problems,
}

impl Expander<'_> {
    /// The expanded text of a field; `None` after a problem.
    pub(super) fn expand_text(&mut self, field: &str, node: &Node) -> Option<String> {
        self.expand(field, node, |template, scope| template.render_text(scope))
    }

    /// The same for a URL; values are percent-encoded after the URL's origin.
    pub(super) fn expand_url(&mut self, field: &str, node: &Node) -> Option<String> {
        self.expand(field, node, |template, scope| template.render_url(scope))
    }

    fn expand(
        &mut self,
        field: &str,
        node: &Node,
        render: impl Fn(&Template, &dyn Scope) -> Result<String, UndefinedPath>,
    ) -> Option<String> {
        let text = node.as_str()?;
        let server = self.server;
        let expanded = match Template::parse(text) {
            Ok(template) => {
                render(&template, &VariableScope(self)).map_err(|undefined| undefined.0)
            }
            Err(bad) => Err(format!("is not a valid template: {}", bad.message)),
        };
        let expanded = expanded.and_then(|text| match text.contains('\0') {
            true => Err("contains a NUL character".to_owned()),
            false => Ok(text),
        });
        let result = expanded.map_err(|why| format!("server `{server}`: `{field}` {why}"));
        result.map_err(|message| self.problems.add(node.span, message)).ok()
    }

    fn variable(&self, name: &str) -> Result<String, UndefinedPath> {
        let value = self.config_context.variables.get(name);
        let missing = || format!("needs the environment variable `{name}`, which is not set");
        let value = value.cloned().ok_or_else(|| UndefinedPath(missing()))?;
        self.config_context.secrets.add_variable(name, &value);
        Ok(value)
    }

    /// The variables that VS Code and Cursor define.
    fn workspace_variable(&self, name: &str) -> Option<String> {
        if !matches!(self.location.format, Format::VsCode | Format::Cursor) {
            return None;
        }
        let display = |path: &std::path::Path| path.display().to_string();
        match name {
            "workspaceFolder" => self.location.folder.as_deref().map(display),
            "workspaceFolderBasename" => {
                let name = self.location.folder.as_deref().and_then(|folder| folder.file_name());
                name.map(|name| name.to_string_lossy().into_owned())
            }
            "userHome" => self.config_context.home.as_deref().map(display),
            _ => None,
        }
    }

    fn input(&self, id: &str) -> Result<String, UndefinedPath> {
        let Some(input) = self.inputs.iter().find(|input| input.id == id) else {
            let help = did_you_mean(id, self.inputs.iter().map(|input| &*input.id));
            let help = help.map(|help| format!("; {help}")).unwrap_or_default();
            return Err(UndefinedPath(format!(
                "needs the input `{id}`, which the file's `inputs` do not define{help}"
            )));
        };
        if !input.can_be_asked {
            return Err(UndefinedPath(format!(
                "needs the input `{id}`, which only VS Code can provide; \
                 only promptString and pickString are supported here"
            )));
        }
        let question = InputQuestion {
            server: self.server.to_owned(),
            id: id.to_owned(),
            description: input.description.clone(),
            is_secret: input.is_secret,
            default: input.default.clone(),
            options: input.options.clone(),
        };
        let cannot_ask = || format!("needs the input `{id}`, but this run cannot ask for it");
        let answer = (self.config_context.ask)(&question);
        let answer = answer.ok_or_else(|| UndefinedPath(cannot_ask()))?;
        let secrets = &self.config_context.secrets;
        match input.is_secret {
            true => secrets.add(&answer),
            false => secrets.add_variable(id, &answer),
        }
        Ok(answer)
    }
}

struct VariableScope<'a, 'b>(&'a Expander<'b>);

impl Scope for VariableScope<'_, '_> {
    fn get(&self, path: &Path) -> Result<Value, UndefinedPath> {
        let found = match &path.segments[..] {
            [Segment::Key(name)] => match self.0.workspace_variable(name) {
                Some(known) => Ok(known),
                None => self.0.variable(name),
            },
            [Segment::Key(root), Segment::Key(name)] if root == "env" => self.0.variable(name),
            [Segment::Key(root), Segment::Key(id)] if root == "input" => self.0.input(id),
            _ => Err(UndefinedPath(format!("needs `{path}`, which is not the name of a variable"))),
        };
        found.map(Value::String)
    }
}
