//! The values that templates can use.

use std::cell::OnceCell;
use std::sync::Arc;

use serde_json::{Map, Value};
use sparring_script::{Path, Scope, UndefinedPath, did_you_mean};
use tempfile::TempDir;

use super::mocks::RunningMocks;
use crate::context::RunContext;

/// A temporary folder that is created on first use and removed with its owner.
#[derive(Debug, Default)]
pub(super) struct TempFolder(OnceCell<TempDir>);

impl TempFolder {
    /// The path of the folder, if it was created.
    pub(super) fn created(&self) -> Option<String> {
        self.0.get().map(|folder| folder.path().display().to_string())
    }

    /// The path of the folder. Creates it if it does not exist.
    pub(super) fn path(&self) -> Result<Value, UndefinedPath> {
        if self.0.get().is_none() {
            let created = tempfile::Builder::new().prefix("spar-").tempdir();
            let created = created.map_err(|error| {
                UndefinedPath(format!("${{tmp}}: cannot create a temporary folder: {error}"))
            })?;
            let _ = self.0.set(created);
        }
        Ok(Value::from(self.created().unwrap_or_default()))
    }
}

/// The scope of a test: a name is a saved value, `${env:NAME}` an environment
/// variable.
#[derive(Debug)]
pub(super) struct TestScope<'a> {
    pub(super) context: &'a RunContext,
    pub(super) folder: TempFolder,
    pub(super) saved: Map<String, Value>,
    pub(super) mocks: Arc<RunningMocks>,
    /// The input of the agent that the current step runs.
    pub(super) input: Option<Value>,
}

impl<'a> TestScope<'a> {
    /// Makes the scope of a test from the values that were saved before its first step.
    pub(super) fn new(
        context: &'a RunContext,
        mocks: Arc<RunningMocks>,
        saved: Map<String, Value>,
    ) -> Self {
        TestScope { context, folder: TempFolder::default(), saved, mocks, input: None }
    }
}

impl Scope for TestScope<'_> {
    fn get(&self, path: &Path) -> Result<Value, UndefinedPath> {
        if path.root() == "input" && path.segments.len() == 1 {
            let input = self.input.clone();
            return input
                .ok_or_else(|| UndefinedPath("${input}: the step has no input".to_owned()));
        }
        match common_value(path, self.context, &self.folder, self.mocks.values()) {
            Some(found) => found,
            None => {
                let root = path.root();
                let saved = self.saved.get(root).ok_or_else(|| {
                    UndefinedPath(format!("${{{path}}}: no earlier step has saved `{root}`"))
                })?;
                path.find(saved, 1).cloned()
            }
        }
    }
}

/// The scope of a server's description: a name is an environment variable.
#[derive(Debug)]
pub(super) struct ServerScope<'a> {
    pub(super) context: &'a RunContext,
    pub(super) folder: &'a TempFolder,
    /// The values of the mocks.
    pub(super) mocks: &'a Value,
    /// The free port of a server over HTTP that is being started.
    pub(super) port: Option<u16>,
}

impl Scope for ServerScope<'_> {
    fn get(&self, path: &Path) -> Result<Value, UndefinedPath> {
        if let (Some(port), "port", 1) = (self.port, path.root(), path.segments.len()) {
            return Ok(Value::from(port));
        }
        common_value(path, self.context, self.folder, self.mocks)
            .unwrap_or_else(|| variable(path.root(), path.root(), self.context))
    }
}

/// The value of a name that has the same meaning in the whole suite.
fn common_value(
    path: &Path,
    context: &RunContext,
    folder: &TempFolder,
    mocks: &Value,
) -> Option<Result<Value, UndefinedPath>> {
    match (path.root(), path.key_at(1)) {
        ("spar", None) => Some(Ok(Value::from(context.program.display().to_string()))),
        ("mocks", Some(_)) => Some(path.find(mocks, 1).cloned()),
        ("tmp", None) => Some(folder.path()),
        ("env", Some(name)) => Some(variable(&format!("env:{name}"), name, context)),
        _ => None,
    }
}

fn variable(shown: &str, name: &str, context: &RunContext) -> Result<Value, UndefinedPath> {
    let found = context.variables.get(name).map(|value| {
        context.secrets.add_variable(name, value);
        Value::from(&**value)
    });
    found.ok_or_else(|| {
        let known = context.variables.keys().map(String::as_str);
        let meant = did_you_mean(name, known).map(|meant| format!("; {meant}")).unwrap_or_default();
        UndefinedPath(format!("${{{shown}}}: environment variable `{name}` is not set{meant}"))
    })
}
