//! Folders with faulty files: the server serves the other files and reports each
//! problem with its place.

use std::fs;

use instructions::Library;
use instructions::knowledge::{self, LARGEST};

use crate::project::{Project, samples};

/// The served ids, and the reported problems.
fn read(project: &Project) -> (Vec<String>, Vec<String>) {
    let reading = knowledge::read(&project.folder()).unwrap();
    let ids = reading.instructions.into_iter().map(|it| it.id).collect();
    let folder = project.folder().display().to_string();
    let told = reading.problems.iter().map(|it| it.to_string().replace(&folder, "[folder]"));
    (ids, told.collect())
}

#[test]
fn the_samples_have_descriptions_and_no_problems() {
    let reading = knowledge::read(&samples()).unwrap();
    assert_eq!(reading.problems, []);
    for instruction in &reading.instructions {
        let id = &instruction.id;
        assert!(instruction.description.is_some() && !instruction.tags.is_empty(), "{id}");
        let all = &reading.instructions;
        let known = |topic: &String| all.iter().any(|it| it.topic == *topic);
        assert!(instruction.related.iter().all(known), "{id}");
    }
}

#[test]
fn path_and_heading_supply_missing_values() {
    let project = Project::of(&[("a/b/c d.md", b"# The title\ntext"), ("e.md", b"text")]);
    let reading = knowledge::read(&project.folder()).unwrap();
    let [first, second] = &reading.instructions[..] else { panic!("{reading:?}") };
    assert_eq!((&*first.id, &*first.uri), ("a/b/c d", "instructions:///a/b/c%20d"));
    assert_eq!((&*first.title, &*first.topic, &*first.category), ("The title", "c d", "a/b"));
    assert_eq!((&*second.title, &*second.topic, &*second.category), ("e", "e", "general"));
}

#[test]
fn reports_unreadable_files_and_serves_the_others() {
    let huge = vec![b'x'; usize::try_from(LARGEST).unwrap() + 1];
    let project = Project::of(&[
        ("bad.md", b"---\ntitle: A\ntags: {a: 1}\n---\n# Still here\n"),
        ("bytes.md", b"fine\nnot \xff fine"),
        ("empty.md", b""),
        ("good.md", b"---\ntitle: Good\n---\nbody"),
        ("huge.md", &huge),
        ("open.md", b"---\ntitle: A\n"),
        (".hidden.md", b"hidden"),
        ("other.txt", b"no Markdown"),
    ]);
    let (ids, told) = read(&project);
    assert_eq!(ids, ["bad", "empty", "good", "open"]);
    assert_eq!(told.len(), 4, "{told:#?}");
    assert!(told[0].starts_with("[folder]/bad.md:3: "), "{told:#?}");
    assert!(told[0].ends_with("; it is served without front matter"), "{told:#?}");
    assert_eq!(told[1], "[folder]/bytes.md: it is not UTF-8 in line 2; it is left out");
    assert_eq!(told[2], "[folder]/huge.md: it has more than 262144 bytes; it is left out");
    let open = "the front matter has no line `---` at its end; it is served without front matter";
    assert_eq!(told[3], format!("[folder]/open.md:1: {open}"));
}

#[cfg(unix)]
#[test]
fn follows_links_except_cycles_and_links_out_of_the_folder() {
    use std::os::unix::fs::symlink;
    let project = Project::of(&[("a/one.md", b"one")]);
    let folder = project.folder();
    fs::write(project.root().join("outside.md"), "a secret").unwrap();
    symlink("one.md", folder.join("a/two.md")).unwrap();
    symlink("../a", folder.join("a/circle")).unwrap();
    symlink(project.root().join("outside.md"), folder.join("out.md")).unwrap();
    symlink("nowhere.md", folder.join("broken.md")).unwrap();
    let (ids, told) = read(&project);
    assert_eq!(ids, ["a/one", "a/two"]);
    let told = told.join("\n");
    assert!(
        told.contains("[folder]/a/circle: it is a link to [folder]/a, which it is in"),
        "{told}"
    );
    assert!(told.contains("[folder]/out.md: it is a link that leads out of the folder"), "{told}");
    assert!(told.contains("[folder]/broken.md: No such file"), "{told}");
}

#[cfg(target_os = "linux")]
#[test]
fn reports_a_file_name_that_is_not_utf8() {
    use std::os::unix::ffi::OsStrExt as _;
    let project = Project::empty();
    let name = std::ffi::OsStr::from_bytes(b"\xff.md");
    fs::write(project.folder().join(name), "text").unwrap();
    let (ids, told) = read(&project);
    assert!(ids.is_empty());
    assert!(told[0].ends_with("its name is not UTF-8; it is left out"), "{told:?}");
}

#[test]
fn the_error_for_a_missing_folder_names_it() {
    let project = Project::of(&[("a.md", b"")]);
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
    let project = Project::of(&[("a.md", b""), ("b.md", b""), ("c.md", b""), ("d.md", b"")]);
    let reading = knowledge::read_at_most(&project.folder(), 2).unwrap();
    assert_eq!(reading.instructions.len(), 2);
    let [problem] = &reading.problems[..] else { panic!("{:?}", reading.problems) };
    let told = "c.md: this and all that follow are more than 2 files; it is left out";
    assert!(problem.to_string().ends_with(told), "{problem}");
}
