//! Included files and fragments.

use sparring_script::Source;
use sparring_suite::{Outcome, Suite};

use crate::fixture::{MOCK, block_on, fail, outcomes_of, pass};

/// A temporary folder for a suite and the files that it includes.
struct Shared(tempfile::TempDir);

impl Shared {
    fn new(files: &[(&str, &str)]) -> Shared {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files.iter().chain(&[("mocks/trainer.mock.yaml", MOCK)]) {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        Shared(folder)
    }

    fn read(&self, text: &str) -> Result<Suite, String> {
        let path = self.0.path().join("a.spar.yaml");
        std::fs::write(&path, text).unwrap();
        let source = Source::new(path.display().to_string(), text);
        let read = Suite::parse(&source, self.0.path());
        let render = |problems: Vec<_>| {
            let all: Vec<String> = problems.iter().map(ToString::to_string).collect();
            all.join("\n\n").replace(&format!("{}/", self.0.path().display()), "")
        };
        read.map_err(render)
    }

    #[track_caller]
    fn refuses(&self, text: &str, expected: &[&str]) {
        let problems = self.read(text).err().unwrap_or_default();
        for part in expected {
            assert!(problems.contains(part), "expected {part:?} in:\n{problems}");
        }
        let count = problems.lines().filter(|line| line.starts_with("error: ")).count();
        assert_eq!(count, 1, "{problems}");
    }
}

const TRAINER: &str = "servers: {it: {mock: trainer.mock.yaml}}\n\
    fragments:\n  greet:\n    - {call: echo, with: {message: hi}, save: {said: text}}\n";

#[test]
fn servers_and_fragments_are_included_with_paths_relative_to_their_file() {
    let shared = Shared::new(&[("mocks/shared.yaml", TRAINER)]);
    let suite = shared.read(
        "include: mocks/shared.yaml\ntests:\n  - name: a\n    steps:\n      - use: greet\n      \
         - {call: echo, with: {message: \"${said}\"}, expect: {text: hi}}\n  \
         - {name: b, use: greet}\n",
    );
    let results = block_on(outcomes_of(suite.unwrap(), false));
    assert!(results.iter().all(|(_, it)| matches!(it, Some(Outcome::Passed))), "{results:?}");
}

#[test]
fn a_failure_in_a_fragment_has_a_position_in_the_included_file() {
    let failing = TRAINER.replace("save: {said: text}", "expect: {text: bye}");
    let shared = Shared::new(&[("mocks/shared.yaml", &failing)]);
    let read =
        || shared.read("include: [mocks/shared.yaml]\ntests: [{name: a, use: greet}]\n").unwrap();
    let results = block_on(outcomes_of(read(), false));
    let Some(Outcome::Failed(failed)) = &results[0].1 else { panic!("{results:?}") };
    let suite = read();
    let (source, span) = suite.place(failed.failures[0].span);
    assert!(source.name().ends_with("/mocks/shared.yaml"), "{source:?}");
    assert_eq!(&source.text()[span.start..span.end], "bye");
}

#[test]
fn a_file_that_two_files_include_is_read_once() {
    let shared = Shared::new(&[
        ("mocks/shared.yaml", TRAINER),
        ("b.yaml", "include: mocks/shared.yaml\nfragments: {b: [{use: greet}]}\n"),
        ("c.yaml", "include: mocks/shared.yaml\nfragments: {c: [{use: b}]}\n"),
    ]);
    let suite = shared.read("include: [b.yaml, c.yaml]\ntests: [{name: a, use: c}]\n").unwrap();
    assert_eq!(suite.sources().count(), 4);
    let results = block_on(outcomes_of(suite, false));
    assert!(matches!(results[0].1, Some(Outcome::Passed)), "{results:?}");
}

#[test]
fn reports_problems_of_included_files_with_their_positions() {
    let shared = Shared::new(&[
        ("mocks/shared.yaml", TRAINER),
        ("itself.yaml", "include: itself.yaml\n"),
        ("round.yaml", "include: [about.yaml]\n"),
        ("about.yaml", "include: [round.yaml]\n"),
        ("back.yaml", "include: a.spar.yaml\n"),
        ("broken.yaml", "servers: [\n"),
        ("tests.yaml", "tests: []\n"),
        ("bad.yaml", "fragments:\n  one: [{cal: x}]\n"),
        ("template.yaml", "fragments:\n  one: [{call: \"x ${y\"}]\n"),
        ("missing.yaml", "\n\ninclude: no.yaml\n"),
        ("mocks/script.yaml", "servers: {other: {mock: no.mock.yaml}}\n"),
    ]);
    let with = |file: &str| {
        format!("include: [mocks/shared.yaml, {file}]\ntests: [{{name: a, ping: true}}]\n")
    };
    let refuses = |file: &str, expected: &[&str]| shared.refuses(&with(file), expected);
    refuses("no.yaml", &["cannot read no.yaml: No such file", "a.spar.yaml:1:30"]);
    refuses("itself.yaml", &["itself.yaml includes itself", "--> itself.yaml:1:10"]);
    refuses("round.yaml", &["round.yaml includes itself", "--> about.yaml:1:11"]);
    refuses("back.yaml", &["a.spar.yaml includes itself", "--> back.yaml:1:10"]);
    refuses("broken.yaml", &["invalid YAML", "--> broken.yaml:"]);
    refuses("tests.yaml", &["unknown key `tests` in an included file", "tests.yaml:1:1"]);
    refuses("missing.yaml", &["cannot read no.yaml", "--> missing.yaml:3:10"]);
    refuses("template.yaml", &["is not closed", "--> template.yaml:2:19"]);
    refuses("mocks/script.yaml", &["no.mock.yaml", "--> mocks/script.yaml:1:25"]);
    let problems = shared.read(&with("bad.yaml")).unwrap_err();
    assert!(problems.contains("unknown key `cal` in a step") && problems.contains("bad.yaml:2:10"));
    shared.refuses(
        &format!("include: [mocks/shared.yaml]\n{}", TRAINER.replace("greet", "meet"))
            .replace("trainer.mock", "mocks/trainer.mock")
            .replace("\nfragments", "\ntests: [{name: a, ping: true}]\nfragments"),
        &["server `it` is already defined at a.spar.yaml:2:11", "--> mocks/shared.yaml:1:11"],
    );
}

#[test]
fn reports_problems_of_fragments() {
    let shared = Shared::new(&[]);
    let refuses = |fragments: &str, test: &str, expected: &str| {
        let servers = "servers: {it: {mock: mocks/trainer.mock.yaml}}";
        let test = format!("tests: [{{name: a, {test}}}]");
        shared.refuses(&format!("{servers}\nfragments: {fragments}\n{test}\n"), &[expected]);
    };
    refuses("{one: [{ping: true}]}", "use: onee", "did you mean 'one'?");
    refuses("{one: [{use: one}]}", "ping: true", "the fragment `one` uses itself");
    refuses("{one: []}", "ping: true", "the fragment `one` has no step");
    refuses(
        "{one: [{ping: true}]}",
        "use: one, expect: {text: a}",
        "`expect` cannot be used with `use`",
    );
    refuses("{one: [{call: \"${x}\"}]}", "use: one", "no earlier step saves `x`");
    refuses("{one: [{ping: true}]}", "use: one, call: x", "`call` cannot be used with `use`");
}

#[test]
fn anchors_and_merge_keys_of_yaml_work() {
    pass(&["steps: [{call: echo, with: &args {message: hi}}, \
         {call: echo, with: *args, expect: {text: hi}}, \
         {call: echo, with: {<<: *args, message: bye}, expect: {text: bye}}]"]);
    fail("steps: [&one {call: echo, with: {message: a}, expect: {text: b}}, *one]", "found \"a\"");
}
