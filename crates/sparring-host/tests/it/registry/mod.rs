//! The tools of many servers, by name: on a caller that only takes notes, and
//! on real servers behind a manager.

mod calls;
mod followed;
mod forms;
mod misuse;
mod scenarios;

use std::convert::Infallible;
use std::sync::{Arc, Mutex};

use sparring_host::config::Rules;
use sparring_host::permissions::{Gate, GateOptions, Permissions, Policy};
use sparring_host::registry::{Caller, Registry, Route};
use sparring_wire::RawJson;
use sparring_wire::types::Tool;

use crate::permissions::{rules, server};

/// Takes notes of the calls that it is to make.
#[derive(Default)]
struct Notes(Mutex<Vec<(String, String, String)>>);

impl Notes {
    /// Server, tool and arguments of each call.
    fn taken(&self) -> Vec<(String, String, String)> {
        self.0.lock().unwrap().clone()
    }
}

impl Caller for Notes {
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

/// The rules of a run, about these servers.
fn permissions(servers: &[&str], session: Rules) -> Permissions {
    let servers: Vec<_> = servers.iter().map(|name| server(name, name)).collect();
    let (permissions, findings) =
        Permissions::new(&Policy { session, ..Policy::default() }, &servers);
    assert!(findings.is_empty(), "{findings:?}");
    permissions
}

/// A registry in which all tools of these servers are allowed.
fn open(servers: &[&str]) -> Registry {
    let all: Vec<String> = servers.iter().map(|name| format!("mcp__{name}")).collect();
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    let permissions = permissions(servers, rules(&[], &[], &all));
    Registry::new(Gate::new(permissions, GateOptions::default()))
}

/// The names of all tools that are shown.
fn names(registry: &Registry) -> Vec<String> {
    registry.tools().iter().map(|tool| tool.name.to_string()).collect()
}
