//! The registry: with a caller that only records calls, and with servers of a
//! manager.

mod calls;
mod followed;
mod forms;
mod misuse;
mod scenarios;

use std::convert::Infallible;
use std::sync::{Arc, Mutex};

use sparring_host::config::Rules;
use sparring_host::permissions::{PermissionGate, PermissionGateOptions, Permissions, Policy};
use sparring_host::registry::{Caller, Registry, Route};
use sparring_wire::RawJson;
use sparring_wire::types::Tool;

use crate::permissions::{rules, server};

/// Records the calls.
#[derive(Default)]
struct CallRecorder(Mutex<Vec<(String, String, String)>>);

impl CallRecorder {
    /// Server, tool and arguments of each call.
    fn calls(&self) -> Vec<(String, String, String)> {
        self.0.lock().unwrap().clone()
    }
}

impl Caller for CallRecorder {
    type Answer = String;
    type Error = Infallible;

    async fn call(&self, route: &Route, arguments: RawJson) -> Result<String, Infallible> {
        let call = (route.server.to_string(), route.tool.name.clone(), arguments.text().to_owned());
        self.0.lock().unwrap().push(call);
        Ok(format!("{} of {}", route.tool.name, route.server))
    }
}

fn tools(names: &[&str]) -> Vec<Arc<Tool>> {
    names.iter().map(|name| Arc::new(Tool::new(*name))).collect()
}

/// The rules of a run for these servers.
fn permissions(servers: &[&str], session: Rules) -> Permissions {
    let servers: Vec<_> = servers.iter().map(|name| server(name, name)).collect();
    let (permissions, findings) =
        Permissions::new(&Policy { session, ..Policy::default() }, &servers);
    assert!(findings.is_empty(), "{findings:?}");
    permissions
}

/// A registry with all tools of these servers allowed.
fn open(servers: &[&str]) -> Registry {
    let all: Vec<String> = servers.iter().map(|name| format!("mcp__{name}")).collect();
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    let permissions = permissions(servers, rules(&[], &[], &all));
    Registry::new(PermissionGate::new(permissions, PermissionGateOptions::default()))
}

/// The names of all tools that are not hidden.
fn names(registry: &Registry) -> Vec<String> {
    registry.tools().iter().map(|tool| tool.name.to_string()).collect()
}
