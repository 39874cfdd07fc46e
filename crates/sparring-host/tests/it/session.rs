//! Sessions: saving the state of a manager, and restoring it later.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::{Value, json};
use sparring_host::config::{Rules, Scope, ServerConfig};
use sparring_host::manager::Manager;
use sparring_host::session::{DroppedPattern, RestoreAction, Session, SessionError};
use sparring_transport::http::HttpTarget;
use sparring_transport::{ChildTarget, Target};
use tempfile::TempDir;

use crate::config::fixture::ConfigFixture;
use crate::manager::fixture::{TestConnector, entry, server_config, tools, within};

fn connector(names: &[&str]) -> TestConnector {
    let connector = TestConnector::default();
    for name in names {
        connector.mock(name, tools(&[name]));
    }
    connector
}

fn session_file() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session.json");
    (folder, path)
}

fn rules(allow: &[&str], deny: &[&str]) -> Rules {
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    Rules { allow: texts(allow), deny: texts(deny), ask: Vec::new() }
}

/// A session in which some of these servers were connected.
async fn session(
    connector: &TestConnector,
    all: &[ServerConfig],
    connected: &[&str],
    rules: &Rules,
) -> Session {
    let manager = connector.manager(all.to_vec());
    for name in connected {
        within(manager.connect(name)).await.unwrap();
    }
    Session::capture(&manager, rules)
}

fn restore_actions(restore_actions: &[(&str, RestoreAction)]) -> BTreeMap<String, RestoreAction> {
    restore_actions.iter().map(|(name, action)| ((*name).to_owned(), *action)).collect()
}

fn names(manager: &Manager) -> Vec<String> {
    manager.connections().iter().map(|connection| connection.server().to_string()).collect()
}

#[tokio::test]
async fn a_session_keeps_the_wanted_servers_and_the_allowed_patterns() {
    let (_place, path) = session_file();
    let connector = connector(&["a", "b"]);
    let broken = entry("not there");
    let manager = connector.manager([entry("a"), entry("b"), broken]);
    within(manager.connect("a")).await.unwrap();
    within(manager.connect("b")).await.unwrap();
    within(manager.disconnect("b")).await.unwrap();
    within(manager.connect("not there")).await.unwrap_err();
    let allow = ["mcp__a__get_*", "mcp__nobody", "nonsense"];
    let session = Session::capture(&manager, &rules(&allow, &["mcp__b__wipe", "mcp__nobody"]));
    session.save(&path).await.unwrap();
    let loaded = Session::load(&path).unwrap();
    assert_eq!(loaded, session);
    let wanted = |name: &str| loaded.servers[name].connected;
    assert!(wanted("a") && !wanted("b") && wanted("not there"));
    assert_eq!(loaded.allow.len(), 1, "what is allowed is allowed of somebody");
    assert_eq!((&*loaded.allow[0].pattern, &*loaded.allow[0].server), ("mcp__a__get_*", "a"));
    assert_eq!(loaded.deny, ["mcp__b__wipe", "mcp__nobody"]);
}

#[tokio::test]
async fn a_session_file_contains_no_secret() {
    let (_place, path) = session_file();
    let mut child = ChildTarget::new("a").args(["--key", "hunter2"]);
    child.env.insert("TOKEN".to_owned(), "hunter2".to_owned());
    let mut http = HttpTarget::new("https://ann:hunter2@example.com/mcp?key=hunter2");
    http.headers.push(("Authorization".to_owned(), "Bearer hunter2".to_owned()));
    let manager = Manager::new([
        server_config("a", Target::Child(child)),
        server_config("b", Target::Http(http)),
    ]);
    Session::capture(&manager, &rules(&["mcp__a"], &[])).save(&path).await.unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    for hidden in ["hunter2", "TOKEN", "Authorization", "example.com", "--key"] {
        assert!(!text.contains(hidden), "{hidden} in {text}");
    }
    let file: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(file["version"], json!(1));
    assert_eq!(file["session"]["servers"]["a"]["target"].as_str().unwrap().len(), 64);
}

#[tokio::test]
async fn a_restored_session_connects_only_the_servers_that_were_connected() {
    let (_place, path) = session_file();
    let connector = connector(&["a", "b", "c"]);
    let all = ["a", "b", "c"].map(entry);
    let rules = rules(&["mcp__a"], &["mcp__c"]);
    session(&connector, &all, &["a", "c"], &rules).await.save(&path).await.unwrap();
    // A later process.
    let manager = connector.manager(all);
    let session = Session::load(&path).unwrap();
    let restored = within(session.restore(&manager, None)).await;
    assert_eq!(names(&manager), ["a", "c"]);
    assert_eq!(restored.reconciled.rules, rules);
    assert!(restored.messages().is_empty(), "{:?}", restored.messages());
    let connection = manager.get("a").unwrap();
    let answer = within(connection.call_tool("a", json!({})).into_future()).await.unwrap();
    assert_eq!(answer.content(), "a");
    // Restoring disconnects it, because it was not connected before.
    within(manager.connect("b")).await.unwrap();
    within(session.restore(&manager, None)).await;
    assert_eq!(names(&manager), ["a", "c"]);
}

#[tokio::test]
async fn changed_servers_are_reported_and_not_connected() {
    let connector = connector(&["same", "moved", "moved2", "gone", "off", "new", "later"]);
    let then = ["same", "moved", "gone", "off"].map(entry);
    let allow = ["mcp__same__x", "mcp__moved", "mcp__gone__*"];
    let all = ["same", "moved", "gone", "off"];
    let session = session(&connector, &then, &all, &rules(&allow, &["mcp__moved__wipe"])).await;
    let manager = connector.manager([
        entry("same"),
        server_config("moved", Target::Child(ChildTarget::new("moved2"))),
        ServerConfig { enabled: false, ..entry("off") },
        entry("new"),
        ServerConfig { auto_connect: false, ..entry("later") },
    ]);
    let restored = within(session.restore(&manager, None)).await;
    assert_eq!(names(&manager), ["new", "same"]);
    assert_eq!(
        restored.reconciled.servers,
        restore_actions(&[
            ("same", RestoreAction::Connect),
            ("moved", RestoreAction::Changed),
            ("gone", RestoreAction::Removed),
            ("off", RestoreAction::Disabled),
            ("new", RestoreAction::New { connects: true }),
            ("later", RestoreAction::New { connects: false }),
        ])
    );
    assert_eq!(restored.reconciled.rules, rules(&["mcp__same__x"], &["mcp__moved__wipe"]));
    let dropped = |pattern: &str, server: &str| DroppedPattern {
        pattern: pattern.to_owned(),
        server: server.to_owned(),
    };
    let expected = [dropped("mcp__moved", "moved"), dropped("mcp__gone__*", "gone")];
    assert_eq!(restored.reconciled.dropped, expected);
    assert_eq!(
        restored.messages(),
        [
            "server `gone` was connected but is no longer configured",
            "server `later` is new and stays disconnected",
            "server `moved` has a changed target and stays disconnected until you connect it",
            "server `new` is new and will be connected (auto_connect)",
            "server `off` was connected but is disabled now",
            "`mcp__moved` is no longer allowed: server `moved` has changed",
            "`mcp__gone__*` is no longer allowed: server `gone` has changed",
        ]
    );
}

#[tokio::test]
async fn an_unusable_server_is_reported_with_the_reason() {
    let connector = connector(&["off", "bad", "theirs"]);
    let all = ["off", "bad", "theirs"];
    let session = session(&connector, &all.map(entry), &all, &Rules::default()).await;
    let users = "servers:\n  off: {command: x, enabled: false}\n  bad: {args: []}\n";
    let theirs = "servers: {theirs: {command: theirs}}\n";
    let config = ConfigFixture::with(&[("user", users), (".spar/mcp.yaml", theirs)]).read();
    let manager = connector.manager(config.ready().cloned());
    let restored = within(session.restore(&manager, Some(&config))).await;
    assert_eq!(
        restored.messages(),
        [
            "server `bad` was connected but its entry is invalid now",
            "server `off` was connected but is disabled now",
            "server `theirs` was connected but its file is not trusted now",
        ]
    );
    assert!(restored.outcomes.is_empty());
}

#[tokio::test]
async fn a_server_of_the_same_name_in_a_project_is_not_the_users() {
    let connector = connector(&["a"]);
    let session = session(&connector, &[entry("a")], &["a"], &rules(&["mcp__a"], &[])).await;
    let mut projects = entry("a");
    projects.origin.scope = Scope::Project;
    let manager = connector.manager([projects]);
    let restored = within(session.restore(&manager, None)).await;
    assert_eq!(restored.reconciled.servers["a"], RestoreAction::Changed);
    assert!(names(&manager).is_empty() && restored.reconciled.rules.allow.is_empty());
}

#[tokio::test]
async fn a_failed_connection_is_reported_and_does_not_affect_others() {
    let before = connector(&["a", "b"]);
    let all = ["a", "b"].map(entry);
    let session = session(&before, &all, &["a", "b"], &Rules::default()).await;
    let manager = connector(&["b"]).manager(all);
    let restored = within(session.restore(&manager, None)).await;
    assert_eq!(names(&manager), ["b"]);
    let [message] = &restored.messages()[..] else { panic!("{restored:?}") };
    assert!(message.starts_with("not connected: server `a`: "), "{message}");
}

#[tokio::test]
async fn a_damaged_session_is_moved_aside_and_the_next_one_is_saved() {
    let (_place, path) = session_file();
    let manager = connector(&["a"]).manager([entry("a")]);
    let session = Session::capture(&manager, &Rules::default());
    session.save(&path).await.unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, &text[..text.len() / 2]).unwrap();
    let error = Session::load(&path).unwrap_err();
    assert!(matches!(error, SessionError::Damaged { aside: Ok(_), .. }), "{error}");
    session.save(&path).await.unwrap();
    assert_eq!(Session::load(&path).unwrap(), session);
}
