//! Tests `spar test --watch`: a change reruns the affected suites and no others.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{ChildStdout, Command, Stdio};

use rustix::process::Signal;
use tempfile::TempDir;

use crate::process::{Running, SPAR};

struct Watch {
    folder: TempDir,
    running: Running,
    stdout: BufReader<ChildStdout>,
}

impl Watch {
    /// Two suites with a mock each; `a` also watches texts.
    fn start(flags: &[&str]) -> Watch {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        for name in ["a", "b"] {
            write(&format!("{name}.mock.yaml"), "tools: [{name: t, text: one}]\n");
        }
        fs::create_dir(folder.path().join("texts")).unwrap();
        write("a.spar.yaml", &suite("a", "watch: texts/**/*.txt\n"));
        write("b.spar.yaml", &suite("b", ""));
        let mut command = Command::new(SPAR);
        command.args(["test", "--watch"]).args(flags).current_dir(folder.path());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        Watch { folder, running: Running::of(child), stdout }
    }

    fn write(&self, name: &str, text: &str) {
        let new = self.folder.path().join("new.tmp");
        fs::write(&new, text).unwrap();
        fs::rename(new, self.folder.path().join(name)).unwrap();
    }

    /// Waits for the end of a run, and returns its output.
    fn run(&mut self) -> String {
        let mut printed = String::new();
        while !printed.contains(" passed, ") {
            let mut line = String::new();
            assert!(self.stdout.read_line(&mut line).unwrap() > 0, "it ended: {printed}");
            printed += &line;
        }
        self.running.line("note: waiting for changes");
        printed
    }

    fn end(self) {
        self.running.signal(Signal::INT);
        assert_eq!(self.running.exit(), Some(130));
    }
}

fn suite(name: &str, more: &str) -> String {
    format!(
        "servers: {{it: {{mock: {name}.mock.yaml}}}}\n{more}tests: [{{name: it says one, call: t, \
         expect: {{text: one}}}}]\n"
    )
}

#[test]
fn a_change_reruns_only_the_affected_suites() {
    let mut watch = Watch::start(&[]);
    assert!(watch.run().contains("\n2 passed, 0 failed, 0 skipped in "));
    watch.write("a.mock.yaml", "tools: [{name: t, text: two}]\n");
    let printed = watch.running.line("note: a.mock.yaml changed");
    assert_eq!(printed, ": running a.spar.yaml");
    let printed = watch.run();
    assert!(
        printed.contains("FAIL a.spar.yaml: it says one") && !printed.contains("b.spar"),
        "{printed}"
    );
    watch.write("a.mock.yaml", "tools: [{name: t, text: one}]\n");
    assert!(watch.run().contains("\n1 passed, 0 failed, 0 skipped in "));
    // A file that no suite names changes nothing, a new one does.
    watch.write("texts/other.md", "");
    watch.write("texts/some.txt", "");
    watch.running.line("note: new files: running a.spar.yaml");
    watch.run();
    watch.write("texts/some.txt", "longer");
    watch.running.line("note: texts/some.txt changed: running a.spar.yaml");
    watch.run();
    watch.write("c.spar.yaml", &suite("b", ""));
    watch.running.line("note: new files: running c.spar.yaml");
    assert!(watch.run().starts_with("ok    c.spar.yaml: 1 passed\n"));
    watch.end();
}

#[test]
fn reports_an_invalid_suite_and_waits_for_the_next_change() {
    let mut watch = Watch::start(&["--filter", "one"]);
    watch.run();
    watch.write("b.spar.yaml", "servers: {it: {mock: b.mock.yaml}}\ntest: []\n");
    watch.running.line("error: unknown key `test` in a suite");
    watch.running.line("note: waiting for changes");
    watch.write("b.spar.yaml", &suite("b", ""));
    assert!(watch.run().contains("\n1 passed, 0 failed, 0 skipped in "));
    watch.write("b.mock.yaml", "tools: [{nam: t}]\n");
    watch.running.line("error: unknown key `nam` in a tool");
    watch.running.line("note: waiting for changes");
    watch.write("b.mock.yaml", "tools: [{name: t, text: one}]\n");
    assert!(watch.run().contains("\n1 passed, 0 failed, 0 skipped in "));
    watch.end();
}
