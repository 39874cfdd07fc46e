//! Fills the holes in the texts of an entry: `${NAME}`, `${NAME:-default}`,
//! `${env:NAME}`, `${input:id}`. Once only: what fills a hole is not looked at
//! again. No message shows what a hole was filled with.

use serde_json::Value;
use sparring_script::template::Segment;
use sparring_script::{Node, Path, Problems, Scope, Template, Undefined, did_you_mean};

use super::places::{Format, Place};
use super::read::Input;
use super::surroundings::{Question, Surroundings};

/// What an entry's holes are filled from, and what is wrong with them.
pub(super) struct Expander<'a> {
    pub(super) server: &'a str,
    pub(super) place: &'a Place,
    pub(super) inputs: &'a [Input],
    pub(super) surroundings: &'a Surroundings,
    pub(super) problems: Problems,
}

impl Expander<'_> {
    /// The text of a field; nothing where it is none, which is told.
    pub(super) fn text(&mut self, field: &str, node: &Node) -> Option<String> {
        self.filled(field, node, |template, scope| template.render_text(scope))
    }

    /// The same of a URL, in which values are percent-encoded behind its origin.
    pub(super) fn url(&mut self, field: &str, node: &Node) -> Option<String> {
        self.filled(field, node, |template, scope| template.render_url(scope))
    }

    fn filled(
        &mut self,
        field: &str,
        node: &Node,
        fill: impl Fn(&Template, &dyn Scope) -> Result<String, Undefined>,
    ) -> Option<String> {
        let text = node.as_str()?;
        let server = self.server;
        let filled = match Template::parse(text) {
            Ok(template) => fill(&template, &Holes(self)).map_err(|undefined| undefined.0),
            Err(bad) => Err(format!("is no template: {}", bad.message)),
        };
        let filled = filled.and_then(|text| match text.contains('\0') {
            true => Err("has a NUL in it".to_owned()),
            false => Ok(text),
        });
        let told = filled.map_err(|why| format!("server `{server}`: `{field}` {why}"));
        told.map_err(|message| self.problems.add(node.span, message)).ok()
    }

    fn variable(&self, name: &str) -> Result<String, Undefined> {
        let value = self.surroundings.variables.get(name);
        let missing = || format!("needs the variable `{name}`, which is not set");
        value.cloned().ok_or_else(|| Undefined(missing()))
    }

    /// What VS Code and Cursor know beside variables.
    fn of_workspace(&self, name: &str) -> Option<String> {
        if !matches!(self.place.format, Format::VsCode | Format::Cursor) {
            return None;
        }
        let shown = |path: &std::path::Path| path.display().to_string();
        match name {
            "workspaceFolder" => self.place.folder.as_deref().map(shown),
            "workspaceFolderBasename" => {
                let name = self.place.folder.as_deref().and_then(|folder| folder.file_name());
                name.map(|name| name.to_string_lossy().into_owned())
            }
            "userHome" => self.surroundings.home.as_deref().map(shown),
            _ => None,
        }
    }

    fn input(&self, id: &str) -> Result<String, Undefined> {
        let Some(input) = self.inputs.iter().find(|input| input.id == id) else {
            let help = did_you_mean(id, self.inputs.iter().map(|input| &*input.id));
            let help = help.map(|help| format!("; {help}")).unwrap_or_default();
            return Err(Undefined(format!(
                "needs the input `{id}`, which is not among the file's `inputs`{help}"
            )));
        };
        if !input.can_be_asked {
            return Err(Undefined(format!(
                "needs the input `{id}`, which only VS Code can get; \
                 promptString and pickString can be asked for here"
            )));
        }
        let question = Question {
            server: self.server.to_owned(),
            id: id.to_owned(),
            description: input.description.clone(),
            is_secret: input.is_secret,
            default: input.default.clone(),
            options: input.options.clone(),
        };
        let nobody = || format!("needs the input `{id}`, and nobody is there to be asked for it");
        (self.surroundings.ask)(&question).ok_or_else(|| Undefined(nobody()))
    }
}

struct Holes<'a, 'b>(&'a Expander<'b>);

impl Scope for Holes<'_, '_> {
    fn get(&self, path: &Path) -> Result<Value, Undefined> {
        let found = match &path.segments[..] {
            [Segment::Key(name)] => match self.0.of_workspace(name) {
                Some(known) => Ok(known),
                None => self.0.variable(name),
            },
            [Segment::Key(root), Segment::Key(name)] if root == "env" => self.0.variable(name),
            [Segment::Key(root), Segment::Key(id)] if root == "input" => self.0.input(id),
            _ => Err(Undefined(format!("needs `{path}`, which is no name of a variable"))),
        };
        found.map(Value::String)
    }
}
