//! Watching the configuration files.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sparring_host::config::ServerConfig;
use sparring_host::manager::{Changes, Event, Events, LoadedConfig, Manager};
use sparring_transport::Target;

use super::children::{all_ended, child, children, example, pid};
use super::fixture::{event, server_config, wait_for_state, within};

/// Reads two files with a server in each line: its name, and the name that it
/// reports. The second file may be missing.
fn read(folder: &Path, server: &Target) -> LoadedConfig {
    let files: Vec<PathBuf> = ["user", "project"].map(|name| folder.join(name)).to_vec();
    let texts = files.iter().map(|file| fs::read_to_string(file).unwrap_or_default());
    let text: String = texts.collect();
    let servers = text.lines().map(|line| match line.split_once(' ') {
        Some((name, called)) => {
            let Target::Child(child) = server else { unreachable!("it is a child") };
            Ok(server_config(name, Target::Child(child.clone().args([called]))))
        }
        None => Err(format!("{line:?} is no server")),
    });
    let servers: Result<Vec<ServerConfig>, String> = servers.collect();
    LoadedConfig { servers, files }
}

async fn reloaded(events: &mut Events) -> Arc<Changes> {
    event(events, |event| match event {
        Event::Reloaded(changes) if !changes.is_empty() => Some(Arc::clone(changes)),
        _ => None,
    })
    .await
}

#[tokio::test]
async fn a_changed_file_is_applied_and_an_invalid_one_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let [user, project] = ["user", "project"].map(|name| folder.path().join(name));
    fs::write(&user, "a first\nb first\n").unwrap();
    let manager = Manager::new([]);
    let mut events = manager.subscribe();
    let (place, server) = (folder.path().to_owned(), child(&example("stand_in"), &[]));
    let following = manager.watch_config(move || read(&place, &server));
    assert_eq!(reloaded(&mut events).await.added.len(), 2);
    within(manager.connect_all()).await;
    let [a, b] = ["a", "b"].map(|name| manager.get(name).unwrap());
    let before = pid(&a).await;

    fs::write(&user, "a first\nb second\n").unwrap();
    let changes = reloaded(&mut events).await;
    assert_eq!((&*changes.changed, &*changes.untouched), (&["b".into()][..], &["a".into()][..]));
    wait_for_state(&mut events, "b", "connected").await;
    assert_eq!(manager.get("b").unwrap().info().unwrap().name, "second");
    assert!(a.is_connected() && !b.is_connected());

    fs::write(&user, "nonsense\n").unwrap();
    let problem = event(&mut events, |event| match event {
        Event::ReloadFailed { problem } => Some(problem.clone()),
        _ => None,
    })
    .await;
    assert_eq!(&*problem, "\"nonsense\" is no server");
    assert_eq!((pid(&a).await, manager.connections().len()), (before, 2), "what runs stays");

    // A file that did not exist before is watched too.
    fs::write(&user, "a first\n").unwrap();
    assert_eq!(reloaded(&mut events).await.removed, ["b".into()]);
    fs::write(&project, "c third\n").unwrap();
    assert_eq!(reloaded(&mut events).await.added, ["c".into()]);
    assert_eq!(pid(&a).await, before, "it was not restarted");

    assert_eq!(children().len(), 2);
    drop((following, manager));
    all_ended().await;
}
