//! A folder with mocks as servers, and a home for the program.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;

use tempfile::TempDir;

use crate::process::{SPAR, WAIT_LIMIT, signal};

const DATABASE: &str = r#"
server: {name: database, version: 1.0.0}
tools:
  - name: query
    description: Runs a statement
    input: {sql: string, limit: "integer?"}
    replies: [{text: "rows of ${args.sql}"}]
  - name: tables
    replies: [{text: users}]
  - name: slow
    replies: [{delay: 10m, text: done}]
resources:
  - {uri: "db://users", name: users, text: Ada}
"#;

const FILES: &str = r#"
server: {name: files, version: 2.0.0}
tools:
  - name: read
    description: "Reads\e[2J a file"
    replies: [{text: "a\e]0;title\a file"}]
  - name: "odd\e[2J"
    replies: [{text: odd}]
resources:
  - {uri: "file:///notes", name: notes, text: Notes}
"#;

/// A folder to run shells in.
pub(super) struct ShellFolder(TempDir);

impl ShellFolder {
    /// Has the servers `database` and `files`, and `spare`, which is not connected
    /// automatically. The process id of `database` is in a file.
    pub(super) fn new() -> ShellFolder {
        let shell_folder = ShellFolder(tempfile::tempdir().unwrap());
        shell_folder.write("database.mock.yaml", DATABASE);
        shell_folder.write("files.mock.yaml", FILES);
        shell_folder.write("servers.yaml", &shell_folder.servers());
        shell_folder
    }

    /// The configuration.
    pub(super) fn servers(&self) -> String {
        let folder = self.path().display();
        format!(
            "servers:
  database:
    command: sh
    args: [-c, 'echo $$ > {folder}/pid; exec {SPAR} mock {folder}/database.mock.yaml']
    settings: {{reconnect_attempts: 3, reconnect_delay: 10ms}}
  files: {{command: {SPAR}, args: [mock, {folder}/files.mock.yaml]}}
  spare: {{command: {SPAR}, args: [mock, {folder}/files.mock.yaml], auto_connect: false}}
"
        )
    }

    pub(super) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    pub(super) fn write(&self, name: &str, text: &str) {
        fs::write(self.file(name), text).unwrap();
    }

    /// Replaces the server `files` by one whose tool `edit` runs this script.
    pub(super) fn edit_by(&self, script: &str) {
        let folder = self.path().display();
        self.write("edit.sh", &format!("cd {folder}\n{script}\n"));
        let mock = format!(
            "server: {{name: files, version: 1.0.0}}\n\
             tools:\n  - name: edit\n    replies: [{{exec: sh {folder}/edit.sh}}]\n"
        );
        self.write("files.mock.yaml", &mock);
        self.write("servers.yaml", &self.servers().replace("[mock, ", "[mock, --allow-exec, "));
    }

    /// The process id of the server `database`.
    pub(super) fn process(&self) -> String {
        fs::read_to_string(self.file("pid")).unwrap().trim().to_owned()
    }

    /// Returns a command for a shell in this folder, with these first words.
    pub(super) fn command(&self, program: &[&str], args: &[&str]) -> Command {
        let mut command = Command::new(program[0]);
        command.args(&program[1..]).args(["shell", "--config", "servers.yaml"]).args(args);
        command.current_dir(self.path()).env_clear().env("PATH", std::env::var("PATH").unwrap());
        command.env("HOME", self.path()).env("TERM", "xterm");
        command
    }

    /// Runs a script and returns its output.
    pub(super) fn script(&self, args: &[&str], script: &str) -> Output {
        let mut command = self.command(&[SPAR], args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
        let (id, (sender, receiver)) = (child.id(), mpsc::channel());
        let waiting = std::thread::spawn(move || sender.send(child.wait_with_output()));
        let Ok(output) = receiver.recv_timeout(WAIT_LIMIT) else {
            signal(id, rustix::process::Signal::KILL);
            panic!("{script:?} takes too long");
        };
        waiting.join().unwrap().unwrap();
        output.unwrap()
    }

    /// Returns the stdout of a script that must succeed.
    pub(super) fn printed(&self, args: &[&str], script: &str) -> String {
        let Output { status, stdout, stderr } = self.script(args, script);
        let stderr = String::from_utf8_lossy(&stderr);
        assert_eq!(status.code(), Some(0), "{script:?}: {stderr}");
        String::from_utf8(stdout).unwrap()
    }
}
