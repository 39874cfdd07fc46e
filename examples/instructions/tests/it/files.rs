//! Folders with faulty files: the server serves the other files and reports each
//! problem with its place.

use std::fs;

use instructions::Library;
use instructions::knowledge::{self, MAX_FILE_BYTES};
use instructions::test_support::sample_instructions;

use crate::project::Project;

/// The served ids, and the reported problems.
fn read(project: &Project) -> (Vec<String>, Vec<String>) {
    let contents = knowledge::read(&project.folder()).unwrap();
    let ids = contents.instructions.into_iter().map(|it| it.id).collect();
    let folder = project.folder().display().to_string();
    let problems = contents.problems.iter().map(|it| it.to_string().replace(&folder, "[folder]"));
    (ids, problems.collect())
}

#[test]
fn the_samples_have_descriptions_and_no_problems() {
    let contents = knowledge::read(&sample_instructions()).unwrap();
    assert_eq!(contents.problems, []);
    for instruction in &contents.instructions {
        let id = &instruction.id;
        assert!(instruction.description.is_some() && !instruction.tags.is_empty(), "{id}");
        let all = &contents.instructions;
        let known = |topic: &String| all.iter().any(|it| it.topic == *topic);
        assert!(instruction.related.iter().all(known), "{id}");
    }
}

#[test]
fn path_and_heading_supply_missing_values() {
    let project = Project::with_files(&[("a/b/c d.md", b"# The title\ntext"), ("e.md", b"text")]);
    let contents = knowledge::read(&project.folder()).unwrap();
    let [first, second] = &contents.instructions[..] else { panic!("{contents:?}") };
    assert_eq!((&*first.id, &*first.uri), ("a/b/c d", "instructions:///a/b/c%20d"));
    assert_eq!((&*first.title, &*first.topic, &*first.category), ("The title", "c d", "a/b"));
    assert_eq!((&*second.title, &*second.topic, &*second.category), ("e", "e", "general"));
}

#[test]
fn reports_unreadable_files_and_serves_the_others() {
    let huge = vec![b'x'; usize::try_from(MAX_FILE_BYTES).unwrap() + 1];
    let project = Project::with_files(&[
        ("bad.md", b"---\ntitle: A\ntags: {a: 1}\n---\n# Still here\n"),
        ("bytes.md", b"fine\nnot \xff fine"),
        ("empty.md", b""),
        ("good.md", b"---\ntitle: Good\n---\nbody"),
        ("huge.md", &huge),
        ("open.md", b"---\ntitle: A\n"),
        (".hidden.md", b"hidden"),
        ("other.txt", b"no Markdown"),
    ]);
    let (ids, problems) = read(&project);
    assert_eq!(ids, ["bad", "empty", "good", "open"]);
    assert_eq!(problems.len(), 4, "{problems:#?}");
    assert!(problems[0].starts_with("[folder]/bad.md:3: "), "{problems:#?}");
    assert!(problems[0].ends_with("; served without front matter"), "{problems:#?}");
    assert_eq!(problems[1], "[folder]/bytes.md: not UTF-8 in line 2; skipped");
    assert_eq!(problems[2], "[folder]/huge.md: larger than 262144 bytes; skipped");
    let open = "the front matter has no line `---` at its end; served without front matter";
    assert_eq!(problems[3], format!("[folder]/open.md:1: {open}"));
}

#[cfg(unix)]
#[test]
fn follows_links_except_cycles_and_links_out_of_the_folder() {
    use std::os::unix::fs::symlink;
    let project = Project::with_files(&[("a/one.md", b"one")]);
    let folder = project.folder();
    fs::write(project.root().join("outside.md"), "a secret").unwrap();
    symlink("one.md", folder.join("a/two.md")).unwrap();
    symlink("../a", folder.join("a/circle")).unwrap();
    symlink(project.root().join("outside.md"), folder.join("out.md")).unwrap();
    symlink("nowhere.md", folder.join("broken.md")).unwrap();
    let (ids, problems) = read(&project);
    assert_eq!(ids, ["a/one", "a/two"]);
    let problems = problems.join("\n");
    assert!(
        problems.contains("[folder]/a/circle: a link to its parent folder [folder]/a"),
        "{problems}"
    );
    assert!(
        problems.contains("[folder]/out.md: a link that leads out of the folder"),
        "{problems}"
    );
    assert!(problems.contains("[folder]/broken.md: No such file"), "{problems}");
}

#[cfg(target_os = "linux")]
#[test]
fn reports_a_file_name_that_is_not_utf8() {
    use std::os::unix::ffi::OsStrExt as _;
    let project = Project::empty();
    let name = std::ffi::OsStr::from_bytes(b"\xff.md");
    fs::write(project.folder().join(name), "text").unwrap();
    let (ids, problems) = read(&project);
    assert!(ids.is_empty());
    assert!(problems[0].ends_with("the name is not UTF-8; skipped"), "{problems:?}");
}

#[test]
fn the_error_for_a_missing_folder_names_it() {
    let project = Project::with_files(&[("a.md", b"")]);
    for name in ["nowhere", "a.md"] {
        let path = project.folder().join(name);
        let error = Library::open(&path).err().unwrap();
        assert_eq!(error.to_string(), format!("the folder {} cannot be read", path.display()));
    }
}

#[test]
fn serves_an_empty_folder() {
    let project = Project::empty();
    let library = project.open().library;
    assert!(library.all().is_empty());
    assert!(library.search(&library.words("anything"), 10).unwrap().is_empty());
}

#[test]
fn reports_too_many_files_once() {
    let project =
        Project::with_files(&[("a.md", b""), ("b.md", b""), ("c.md", b""), ("d.md", b"")]);
    let contents = knowledge::read_up_to(&project.folder(), 2).unwrap();
    assert_eq!(contents.instructions.len(), 2);
    let [problem] = &contents.problems[..] else { panic!("{:?}", contents.problems) };
    let expected = "c.md: this file and the following exceed the limit of 2 files; skipped";
    assert!(problem.to_string().ends_with(expected), "{problem}");
}
