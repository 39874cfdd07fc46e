//! What templates can ask for.

use std::cell::OnceCell;
use std::sync::Arc;

use serde_json::{Map, Value};
use sparring_script::{Path, Scope, Undefined, did_you_mean};
use tempfile::TempDir;

use super::World;
use super::stand_ins::StandIns;
use crate::hide;

/// A folder that is made when somebody asks for it, and gone with its owner.
#[derive(Debug, Default)]
pub(super) struct Folder(OnceCell<TempDir>);

impl Folder {
    /// Where it is, if somebody has asked for it.
    pub(super) fn made(&self) -> Option<String> {
        self.0.get().map(|folder| folder.path().display().to_string())
    }

    pub(super) fn path(&self) -> Result<Value, Undefined> {
        if self.0.get().is_none() {
            let made = tempfile::Builder::new().prefix("spar-").tempdir();
            let made = made.map_err(|error| {
                Undefined(format!("${{tmp}}: a folder cannot be made: {error}"))
            })?;
            let _ = self.0.set(made);
        }
        Ok(Value::from(self.made().unwrap_or_default()))
    }
}

/// In a test a name is a saved value; the environment is `${env:NAME}`.
#[derive(Debug)]
pub(super) struct OfTest<'a> {
    pub(super) world: &'a World,
    pub(super) folder: Folder,
    pub(super) saved: Map<String, Value>,
    /// What is started beside the server.
    pub(super) stand_ins: Arc<StandIns>,
    /// What the agent of the step is told.
    pub(super) input: Option<Value>,
}

impl<'a> OfTest<'a> {
    /// What a test knows before its first step: the row of its table.
    pub(super) fn new(
        world: &'a World,
        stand_ins: Arc<StandIns>,
        saved: Map<String, Value>,
    ) -> Self {
        OfTest { world, folder: Folder::default(), saved, stand_ins, input: None }
    }
}

impl Scope for OfTest<'_> {
    fn get(&self, path: &Path) -> Result<Value, Undefined> {
        if path.root() == "input" && path.segments.len() == 1 {
            let input = self.input.clone();
            return input.ok_or_else(|| Undefined("${input}: the step has none".to_owned()));
        }
        match everywhere(path, self.world, &self.folder, self.stand_ins.facts()) {
            Some(found) => found,
            None => {
                let root = path.root();
                let saved = self.saved.get(root).ok_or_else(|| {
                    Undefined(format!("${{{path}}}: no earlier step has saved `{root}`"))
                })?;
                path.find(saved, 1).cloned()
            }
        }
    }
}

/// Of a server a name is a variable of the environment.
#[derive(Debug)]
pub(super) struct OfServer<'a> {
    pub(super) world: &'a World,
    pub(super) folder: &'a Folder,
    /// What is known of the stand-ins.
    pub(super) mocks: &'a Value,
}

impl Scope for OfServer<'_> {
    fn get(&self, path: &Path) -> Result<Value, Undefined> {
        everywhere(path, self.world, self.folder, self.mocks)
            .unwrap_or_else(|| variable(path.root(), path.root(), self.world))
    }
}

/// What means the same in the whole suite.
fn everywhere(
    path: &Path,
    world: &World,
    folder: &Folder,
    mocks: &Value,
) -> Option<Result<Value, Undefined>> {
    match (path.root(), path.key(1)) {
        ("spar", None) => Some(Ok(Value::from(world.program.display().to_string()))),
        ("mocks", Some(_)) => Some(path.find(mocks, 1).cloned()),
        ("tmp", None) => Some(folder.path()),
        ("env", Some(name)) => Some(variable(&format!("env:{name}"), name, world)),
        _ => None,
    }
}

fn variable(shown: &str, name: &str, world: &World) -> Result<Value, Undefined> {
    let found = world.variables.get(name).map(|value| {
        hide::variable(&world.secrets, name, value);
        Value::from(&**value)
    });
    found.ok_or_else(|| {
        let known = world.variables.keys().map(String::as_str);
        let meant = did_you_mean(name, known).map(|meant| format!("; {meant}")).unwrap_or_default();
        Undefined(format!("${{{shown}}}: the environment has no `{name}`{meant}"))
    })
}
