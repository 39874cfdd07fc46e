//! The scenarios of "MCP Tool Integration" and "MCP Tool Permissions".

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use sparring_host::names::qualified_name;
use sparring_host::permissions::{Answer, PermissionGate, PermissionGateOptions, Question};
use sparring_host::registry::Registry;
use sparring_wire::RawJson;

use super::{CallRecorder, names, open, permissions, tools};
use crate::permissions::rules;

#[test]
fn a_tool_is_called_by_its_server_and_its_name() {
    assert_eq!(qualified_name("filesystem", "read_file"), "mcp__filesystem__read_file");
    let registry = open(&["filesystem"]);
    registry.register("filesystem", tools(&["read_file"]));
    assert_eq!(names(&registry), ["mcp__filesystem__read_file"]);
}

#[test]
fn all_tools_of_a_server_are_registered_with_its_prefix() {
    let registry = open(&["server"]);
    assert_eq!(registry.register("server", tools(&["a", "b", "c"])), 3);
    assert_eq!(names(&registry), ["mcp__server__a", "mcp__server__b", "mcp__server__c"]);
}

#[tokio::test]
async fn a_call_goes_to_the_server_whose_tool_it_is() {
    let registry = open(&["fs", "web"]);
    registry.register("fs", tools(&["read_file"]));
    registry.register("web", tools(&["read_file"]));
    let (recorder, arguments) = (CallRecorder::default(), r#"{"path": "/tmp"}"#);
    let parsed = RawJson::parse(arguments).unwrap();
    let answer = registry.execute(&recorder, "mcp__fs__read_file", parsed).await.unwrap();
    assert_eq!(answer, "read_file of fs");
    let [(server, tool, sent)] = &recorder.calls()[..] else { panic!("{:?}", recorder.calls()) };
    assert_eq!([server, tool, sent], ["fs", "read_file", arguments], "as they were spelled");
}

#[test]
fn unregistering_a_server_leaves_the_tools_of_others() {
    let registry = open(&["filesystem", "web"]);
    registry.register("filesystem", tools(&["read_file", "write_file"]));
    registry.register("web", tools(&["fetch"]));
    assert_eq!(registry.unregister("filesystem"), 2);
    assert_eq!(names(&registry), ["mcp__web__fetch"]);
    assert_eq!(registry.unregister("filesystem"), 0);
}

#[tokio::test]
async fn a_tool_that_needs_permission_is_asked_for() {
    let asked = Arc::new(AtomicUsize::new(0));
    let asker = {
        let asked = Arc::clone(&asked);
        move |question: Question| {
            asked.fetch_add(1, Ordering::SeqCst);
            assert_eq!((&*question.server, &*question.tool), ("fs", "write_file"));
            assert_eq!(question.arguments.text(), "{}");
            async { Ok(Some(Answer::Once)) }
        }
    };
    let permissions = permissions(&["fs"], rules(&[], &["mcp__fs__write_file"], &[]));
    let options =
        PermissionGateOptions { asker: Some(Arc::new(asker)), ..PermissionGateOptions::default() };
    let registry = Registry::new(PermissionGate::new(permissions, options));
    registry.register("fs", tools(&["write_file"]));
    let recorder = CallRecorder::default();
    let call = registry.execute(&recorder, "mcp__fs__write_file", RawJson::empty_object());
    call.await.unwrap();
    assert_eq!((asked.load(Ordering::SeqCst), recorder.calls().len()), (1, 1));
}

#[tokio::test]
async fn a_tool_that_is_allowed_is_called_without_asking() {
    let asker = |_: Question| async { panic!("no question expected") };
    let permissions = permissions(&["fs"], rules(&[], &[], &["mcp__fs__read_*"]));
    let options =
        PermissionGateOptions { asker: Some(Arc::new(asker)), ..PermissionGateOptions::default() };
    let registry = Registry::new(PermissionGate::new(permissions, options));
    registry.register("fs", tools(&["read_file"]));
    let recorder = CallRecorder::default();
    let call = registry.execute(&recorder, "mcp__fs__read_file", RawJson::empty_object());
    assert_eq!(call.await.unwrap(), "read_file of fs");
}

#[tokio::test]
async fn a_tool_that_is_denied_is_hidden_and_not_called() {
    let permissions = permissions(&["fs"], rules(&["mcp__fs__write_*"], &[], &["mcp__fs"]));
    let registry =
        Registry::new(PermissionGate::new(permissions, PermissionGateOptions::default()));
    registry.register("fs", tools(&["read_file", "write_file"]));
    assert_eq!(names(&registry), ["mcp__fs__read_file"]);
    let recorder = CallRecorder::default();
    let call = registry.execute(&recorder, "mcp__fs__write_file", RawJson::empty_object());
    assert_eq!(
        call.await.unwrap_err().to_string(),
        "the tool 'write_file' of 'fs' is denied by rule 'mcp__fs__write_*' (session)"
    );
    assert!(recorder.calls().is_empty());
    let [(hidden, reason)] = &registry.hidden()[..] else { panic!("{:?}", registry.hidden()) };
    assert_eq!((&*hidden.name, reason.name()), ("mcp__fs__write_file", "rule"));
}
