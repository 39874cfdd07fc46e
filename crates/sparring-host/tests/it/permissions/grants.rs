//! Grants and their file.

use std::fs;
use std::path::Path;

use sparring_host::permissions::{Fingerprint, Grant, Grants};

use super::server;

fn grant(server_name: &str, tool: &str) -> Grant {
    Grant::new(server_name, tool, &Fingerprint::from_server(&server(server_name, "run")))
}

fn open(folder: &Path) -> Grants {
    let (grants, note) = Grants::open(folder);
    assert_eq!(note, None);
    grants
}

#[tokio::test]
async fn a_grant_is_valid_in_the_next_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let state = folder.path().join("new/state");
    let grants = open(&state);
    grants.add(grant("fs", "write")).await.expect("it can be written");
    assert!(grants.has(&grant("fs", "write")));
    let next = open(&state);
    assert!(next.has(&grant("fs", "write")));
    assert!(!next.has(&grant("fs", "writes")) && !next.has(&grant("gs", "write")));
    let elsewhere = Fingerprint::from_server(&server("fs", "other"));
    assert!(!next.has(&Grant::new("fs", "write", &elsewhere)), "another command");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = fs::metadata(state.join("grants.json")).expect("it is there").permissions();
        assert_eq!(mode.mode() & 0o777, 0o600);
    }
}

#[tokio::test]
async fn concurrent_runs_keep_each_others_grants() {
    let folder = tempfile::tempdir().expect("a folder");
    let (one, other) = (open(folder.path()), open(folder.path()));
    let (first, second) = tokio::join!(one.add(grant("fs", "a")), other.add(grant("fs", "b")));
    first.and(second).expect("both can write");
    assert_eq!(open(folder.path()).all(), [grant("fs", "a"), grant("fs", "b")]);
    one.revoke("fs", Some("b")).await.expect("it can be written");
    assert_eq!(open(folder.path()).all(), [grant("fs", "a")]);
}

#[tokio::test]
async fn a_damaged_file_is_moved_aside_with_a_note() {
    for damage in [&b"{\"grants\": [{\"server\": 7}]}"[..], b"{\"grants\"", b"\xff\xfe", b"[]"] {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("grants.json");
        open(folder.path()).add(grant("fs", "a")).await.expect("it can be written");
        fs::write(&path, damage).expect("it is ours");
        let (grants, note) = Grants::open(folder.path());
        let note = note.expect("a note");
        let aside = folder.path().join("grants.json.damaged-1");
        assert!(note.contains("damaged") && note.contains(&aside.display().to_string()), "{note}");
        assert_eq!(fs::read(&aside).expect("it is kept"), damage);
        assert!(grants.all().is_empty());
        grants.add(grant("fs", "b")).await.expect("it begins anew");
        assert_eq!(open(folder.path()).all(), [grant("fs", "b")]);
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_file_that_others_can_change_grants_nothing() {
    use std::os::unix::fs::PermissionsExt as _;

    let folder = tempfile::tempdir().expect("a folder");
    open(folder.path()).add(grant("fs", "a")).await.expect("it can be written");
    let path = folder.path().join("grants.json");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).expect("it is ours");
    let (grants, note) = Grants::open(folder.path());
    let note = note.expect("a note");
    assert!(note.contains("chmod 600") && note.contains("no grants are used"), "{note}");
    assert!(grants.all().is_empty());
    let message = grants.add(grant("fs", "b")).await.expect_err("it is left alone").to_string();
    assert!(message.contains("grants.json"), "{message}");
    assert!(grants.has(&grant("fs", "b")), "for this run");
}
