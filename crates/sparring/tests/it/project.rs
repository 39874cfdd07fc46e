//! Temporary projects: their files, and their removal.

use std::panic::catch_unwind;
use std::path::PathBuf;

use serde_json::json;
use sparring::{Client, Project};

use crate::failure::failure;
use crate::greeter::program;

#[test]
fn a_project_has_its_files_and_is_removed_with_the_test() {
    let project = Project::new().file("a/b.md", "text").file("c", [0, 255]);
    assert_eq!(project.read("a/b.md"), "text");
    assert_eq!(std::fs::read(project.join("c")).unwrap(), [0, 255]);
    project.write("a/b.md", "other");
    assert_eq!(project.read("a/b.md"), "other");
    let path = project.path().to_owned();
    drop(project);
    assert!(!path.exists());
}

#[test]
fn a_folder_is_copied_with_the_folders_in_it() {
    let from = Project::new().file("a/b/c.txt", "deep").file("d.txt", "flat");
    let to = Project::new().file("d.txt", "replaced").file("e.txt", "kept").copy_from(from.path());
    let texts = ["a/b/c.txt", "d.txt", "e.txt"].map(|path| to.read(path));
    assert_eq!(texts, ["deep", "flat", "kept"]);
}

#[test]
fn a_project_is_kept_when_its_test_panics() {
    let path = std::sync::Mutex::new(PathBuf::new());
    let panicked = catch_unwind(|| {
        let project = Project::new().file("left.txt", "evidence");
        *path.lock().unwrap() = project.path().to_owned();
        panic!("with a project");
    });
    assert!(panicked.is_err());
    let path = path.into_inner().unwrap();
    assert_eq!(std::fs::read_to_string(path.join("left.txt")).unwrap(), "evidence");
    std::fs::remove_dir_all(path).unwrap();
}

#[test]
fn a_project_is_named_after_its_test() {
    let project = Project::new();
    let name = project.path().file_name().unwrap().to_string_lossy().into_owned();
    assert!(name.starts_with("sparring-a-project-is-named-after-its-test-"), "{name}");
}

#[cfg(unix)]
#[test]
fn only_the_user_can_access_a_project() {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = std::fs::metadata(Project::new().path()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
}

#[test]
fn nothing_is_written_outside_of_a_project() {
    let project = Project::new();
    let failure = failure(|| project.write("../secret", ""));
    assert_eq!(failure.message, "../secret leads out of the project");
    assert!(failure.at.starts_with("tests/it/project.rs:"), "{}", failure.at);
}

#[test]
fn copying_a_missing_folder_fails() {
    let project = Project::new();
    let kept = project.path().to_owned();
    let failure = failure(|| project.copy_from("no/such/folder"));
    let expected = "cannot copy no/such/folder into the project: No such file or directory";
    assert!(failure.message.starts_with(expected), "{}", failure.message);
    assert!(failure.at.starts_with("tests/it/project.rs:"), "{}", failure.at);
    std::fs::remove_dir(kept).unwrap();
}

#[tokio::test]
async fn a_child_of_each_test_runs_in_a_separate_project() {
    let projects = [Project::new(), Project::new()];
    for (project, greeting) in projects.iter().zip(["hello", "salut"]) {
        let target = program().cwd(project.path()).env("GREETING", greeting);
        let client = Client::connect(target).await.unwrap();
        let folder = client.call_tool("where", json!({})).await.unwrap();
        assert_eq!(folder.content(), project.path().display().to_string());
        let greeted = client.call_tool("greet", json!({"name": "Ada"})).await.unwrap();
        assert_eq!(greeted.content(), format!("{greeting} Ada"));
        client.close().await;
    }
}
