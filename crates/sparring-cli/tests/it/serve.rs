//! Tests `spar serve` as a process: over HTTP, with changing files, crashing servers and
//! signals.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::process::Signal;
use serde_json::json;
use tempfile::TempDir;

use crate::process::{Running, SPAR, output, wait_until_gone};

/// A home folder that configures these scripts as mocks and allows all of their tools.
pub(crate) fn home(mocks: &[(&str, &Path)]) -> TempDir {
    let home = tempfile::tempdir().unwrap();
    let entries: Vec<String> = mocks.iter().map(|(name, script)| mock(name, script)).collect();
    write(home.path(), &entries, mocks.iter().map(|(name, _)| *name));
    home
}

fn mock(name: &str, script: &Path) -> String {
    let (spar, script) = (json!(SPAR), json!(script));
    format!("  {name}: {{command: {spar}, args: [mock, {script}]}}\n")
}

fn write<'a>(home: &Path, entries: &[String], allowed: impl Iterator<Item = &'a str>) {
    let folder = home.join(".config/sparring");
    fs::create_dir_all(&folder).unwrap();
    let allowed: Vec<String> = allowed.map(|name| format!("mcp__{name}")).collect();
    let allowed = allowed.join(", ");
    let text = format!("servers:\n{}permissions: {{allow: [{allowed}]}}\n", entries.concat());
    // Atomically, as editors do.
    fs::write(folder.join("new"), text).unwrap();
    fs::rename(folder.join("new"), folder.join("mcp.yaml")).unwrap();
}

/// Returns a command with this home folder.
pub(crate) fn at(home: &Path, program: &str) -> Command {
    let mut command = Command::new(program);
    command.env("HOME", home).env_remove("XDG_CONFIG_HOME").env_remove("XDG_STATE_HOME");
    command.current_dir(home);
    command
}

/// `spar serve` over HTTP.
pub(crate) struct Served {
    pub(crate) running: Running,
    pub(crate) url: String,
}

impl Served {
    pub(crate) fn start(home: &Path, flags: &[&str]) -> Served {
        let mut command = at(home, SPAR);
        command.args(["serve", "--http", "127.0.0.1:0"]).args(flags);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Served { running: Running::of(child), url: line.trim().to_owned() }
    }

    pub(crate) fn end(self) -> Option<i32> {
        self.running.signal(Signal::TERM);
        self.running.exit()
    }

    fn spar(&self, args: &[&str]) -> (String, Option<i32>) {
        let output = output(Command::new(SPAR).args(args).args(["--url", &self.url]));
        let spoken_text = [output.stdout, output.stderr].concat();
        (String::from_utf8_lossy(&spoken_text).into_owned(), output.status.code())
    }
}

/// A server in a few lines of shell that writes its process id and can exit.
fn shell(name: &str, home: &Path) -> String {
    let script = home.join(format!("{name}.sh"));
    let text = r#"echo "$$" > "$1"
while read -r line; do
  id=$(printf '%s' "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
  case "$line" in
    *'"initialize"'*) echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"tools\":{}},\"serverInfo\":{\"name\":\"shell\",\"version\":\"1\"}}}" ;;
    *'"tools/list"'*) echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"tools\":[{\"name\":\"hang\",\"inputSchema\":{\"type\":\"object\"}},{\"name\":\"crash\",\"inputSchema\":{\"type\":\"object\"}}]}}" ;;
    *'"name":"crash"'*) echo 'no more paper' >&2; exit 7 ;;
    *'"name":"hang"'*) echo hanging > "$1.hangs" ;;
  esac
done
"#;
    fs::write(&script, text).unwrap();
    let (script, printed) = (json!(script), json!(home.join(format!("{name}.pid"))));
    format!("  {name}: {{command: sh, args: [{script}, {printed}], protocol: 2025-11-25}}\n")
}

fn wait_for(file: &Path) -> String {
    let until = std::time::Instant::now() + crate::process::WAIT_LIMIT;
    loop {
        match fs::read_to_string(file) {
            Ok(text) if text.ends_with('\n') => return text.trim().to_owned(),
            _ => assert!(std::time::Instant::now() < until, "{} is not there", file.display()),
        }
        std::thread::yield_now();
    }
}

fn script() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/desk.mock.yaml")
}

#[test]
fn serves_all_servers_as_one_over_http_and_reloads_a_changed_file() {
    let home = home(&[("desk", &script())]);
    let mut served = Served::start(home.path(), &[]);
    assert_eq!(served.running.line("note: `desk` is connected: "), "4 tools");
    assert_eq!(
        served.running.line("note: serving "),
        "4 tools, 1 resource and 1 prompt of 1 server"
    );
    for protocol in ["2025-11-25", "2026-07-28"] {
        let call = ["call", "mcp__desk__echo", "message=hi", "--protocol", protocol];
        assert_eq!(served.spar(&call), ("hi\n".to_owned(), Some(0)));
    }
    write(
        home.path(),
        &[mock("desk", &script()), mock("table", &script())],
        ["desk", "table"].into_iter(),
    );
    assert_eq!(served.running.line("note: reloaded the configuration: "), "table new");
    assert_eq!(served.running.line("note: `table` is connected: "), "4 tools");
    let call = ["call", "mcp__table__echo", "message=new"];
    assert_eq!(served.spar(&call), ("new\n".to_owned(), Some(0)));
    // A wrong file changes nothing.
    fs::write(home.path().join(".config/sparring/mcp.yaml"), "servers: [").unwrap();
    served.running.line("note: still serving the previous configuration");
    assert_eq!(served.spar(&call), ("new\n".to_owned(), Some(0)));
    assert_eq!(served.end(), Some(143));
}

#[test]
fn a_disabled_server_is_removed_and_a_broken_entry_keeps_its_server() {
    let home = home(&[("desk", &script()), ("table", &script())]);
    let mut served = Served::start(home.path(), &[]);
    served.running.line("note: serving 8 tools");
    let disabled = mock("table", &script()).replace("}\n", ", enabled: false}\n");
    let entries = [mock("desk", &script()), disabled];
    write(home.path(), &entries, ["desk", "table"].into_iter());
    assert_eq!(served.running.line("note: reloaded the configuration: "), "table removed");
    let (printed, code) = served.spar(&["list", "tools"]);
    assert_eq!(code, Some(0), "{printed}");
    assert!(printed.contains("mcp__desk__echo") && !printed.contains("mcp__table__"), "{printed}");
    let entries = ["  desk: {command: 7}\n".to_owned(), mock("table", &script())];
    write(home.path(), &entries, ["desk", "table"].into_iter());
    let why = served.running.line("note: server `desk` keeps its previous configuration: ");
    assert!(why.contains("mcp.yaml:2:"), "{why}");
    let call = ["call", "mcp__desk__echo", "message=hi"];
    assert_eq!(served.spar(&call), ("hi\n".to_owned(), Some(0)));
    assert_eq!(served.end(), Some(143));
}

#[test]
fn changed_commands_of_a_named_file_wait_for_trust() {
    let home = tempfile::tempdir().unwrap();
    let write = |entries: &[String]| {
        fs::write(home.path().join("new"), format!("servers:\n{}", entries.concat())).unwrap();
        fs::rename(home.path().join("new"), home.path().join("servers.yaml")).unwrap();
    };
    let desk = mock("desk", &script());
    write(std::slice::from_ref(&desk));
    let flags = ["--config", "servers.yaml", "--allow", "mcp__desk", "--allow", "mcp__table"];
    let mut served = Served::start(home.path(), &flags);
    served.running.line("note: serving 4 tools");
    let ran = home.path().join("ran");
    let script = json!(format!("touch {}; exec {SPAR} mock {}", ran.display(), script().display()));
    let table = format!("  table: {{command: sh, args: [-c, {script}]}}\n");
    let changed = desk.replace("}\n", ", env: {LD_PRELOAD: /nowhere/a.so}}\n");
    write(&[changed.clone(), table.clone()]);
    let why = "servers.yaml has changed since the start; run `spar config trust servers.yaml`";
    let note = "note: server `desk` keeps its previous configuration: ";
    assert_eq!(served.running.line(note), why);
    assert_eq!(served.running.line("note: server `table` is skipped: "), why);
    let call = ["call", "mcp__desk__echo", "message=hi"];
    assert_eq!(served.spar(&call), ("hi\n".to_owned(), Some(0)));
    assert!(!ran.exists(), "the new command ran without trust");
    // Other settings need no trust.
    write(&[desk.replace("}\n", ", permissions: {deny: [echo]}}\n"), table.clone()]);
    served.running.line("note: reloaded the configuration: desk with changed rules");
    assert_eq!(served.spar(&call).1, Some(1));
    let other = desk.replace("}\n", ", env: {A: b}}\n");
    write(&[other, table]);
    let trust = output(at(home.path(), SPAR).args(["config", "trust", "--yes", "servers.yaml"]));
    assert!(trust.status.success(), "{trust:?}");
    served.running.line("note: reloaded the configuration: table new; desk changed");
    served.running.line("note: `desk` is connected: ");
    assert_eq!(served.spar(&call), ("hi\n".to_owned(), Some(0)));
    assert!(ran.exists());
    assert_eq!(served.end(), Some(143));
}

#[test]
fn warns_before_clients_get_very_many_tools() {
    for (tools, warns) in [(128, false), (129, true)] {
        let home = tempfile::tempdir().unwrap();
        let entries = (0..tools).map(|at| format!("  - {{name: tool-{at}, text: x}}\n"));
        let script = home.path().join("many.mock.yaml");
        let entries: String = entries.collect();
        fs::write(&script, format!("server: {{name: many, version: '1'}}\ntools:\n{entries}"))
            .unwrap();
        write(home.path(), &[mock("many", &script)], ["many"].into_iter());
        let mut served = Served::start(home.path(), &[]);
        served.running.line(&format!("note: serving {tools} tools, "));
        if warns {
            let note = served.running.line("note: a model would get ");
            assert!(note.starts_with("129 tools; more than 128 cost many tokens"), "{note}");
        }
        let mut stderr = served.running.stderr.take().unwrap();
        assert_eq!(served.end(), Some(143));
        let mut rest = String::new();
        std::io::Read::read_to_string(&mut stderr, &mut rest).unwrap();
        assert!(!rest.contains("a model would get"), "{rest}");
    }
}

#[test]
fn accepts_only_clients_with_the_token() {
    let home = home(&[("desk", &script())]);
    let served = Served::start(home.path(), &["--bearer", "open-sesame"]);
    let (printed, code) = served.spar(&["list", "tools"]);
    assert_eq!(code, Some(3), "{printed}");
    assert!(printed.contains("credentials required"), "{printed}");
    let (printed, code) = served.spar(&["list", "tools", "--bearer", "open-sesame"]);
    assert_eq!(code, Some(0), "{printed}");
    assert_eq!(served.end(), Some(143));
}

#[test]
fn reports_a_crash_to_its_callers_and_on_stderr() {
    let home = tempfile::tempdir().unwrap();
    let entries = [shell("box", home.path()), mock("desk", &script())];
    write(home.path(), &entries, ["box", "desk"].into_iter());
    let mut served = Served::start(home.path(), &[]);
    served.running.line("note: serving 6 tools");
    let (printed, code) = served.spar(&["call", "mcp__box__crash"]);
    assert_eq!(code, Some(1), "{printed}");
    assert!(printed.contains("server `box`: ") && printed.contains("no more paper"), "{printed}");
    let lost = served.running.line("error: server `box` was lost: ");
    assert!(lost.contains('7'), "{lost}");
    let call = ["call", "mcp__desk__echo", "message=hi"];
    assert_eq!(served.spar(&call), ("hi\n".to_owned(), Some(0)));
    assert_eq!(served.running.line("note: `box` is connected: "), "2 tools");
    assert_eq!(served.end(), Some(143));
}

#[test]
fn a_signal_fails_the_open_requests_and_leaves_no_child() {
    for over_http in [true, false] {
        let home = tempfile::tempdir().unwrap();
        write(home.path(), &[shell("box", home.path())], ["box"].into_iter());
        let printed = home.path().join("box.pid");
        let (gateway, caller) = if over_http {
            let served = Served::start(home.path(), &[]);
            let mut call = Command::new(SPAR);
            call.args(["call", "mcp__box__hang", "--url", &served.url]);
            let caller = call.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
            (Some(served), caller)
        } else {
            let mut call = at(home.path(), SPAR);
            call.args(["call", "mcp__box__hang", "--", "sh", "-c"]);
            call.args(["echo $$ > gateway.pid; exec \"$0\" serve", SPAR]);
            (None, call.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap())
        };
        wait_for(&home.path().join("box.pid.hangs"));
        let child = wait_for(&printed);
        match &gateway {
            Some(served) => served.running.signal(Signal::INT),
            None => {
                let gateway = wait_for(&home.path().join("gateway.pid"));
                crate::process::signal(gateway.parse().unwrap(), Signal::INT);
            }
        }
        let output = caller.wait_with_output().unwrap();
        let received = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{received}");
        assert!(received.contains("server `box`: no answer to tools/call"), "{received}");
        wait_until_gone(&child);
        if let Some(served) = gateway {
            assert_eq!(served.running.exit(), Some(130));
        }
    }
}

#[test]
fn a_second_signal_does_not_wait_for_servers_that_do_not_end() {
    let home = tempfile::tempdir().unwrap();
    let script = "trap 'echo > asked' TERM; echo $$ > stubborn.pid; exec 0</dev/null; while :; do sleep 1; done";
    let script = json!(script);
    let entry =
        format!("  stubborn: {{command: sh, args: [-c, {script}], cwd: {}}}\n", json!(home.path()));
    write(home.path(), &[entry], ["stubborn"].into_iter());
    let served = Served::start(home.path(), &[]);
    let child = wait_for(&home.path().join("stubborn.pid"));
    served.running.signal(Signal::INT);
    // An orderly end has begun.
    wait_for(&home.path().join("asked"));
    let start = std::time::Instant::now();
    served.running.signal(Signal::INT);
    assert_eq!(served.running.exit(), Some(130));
    wait_until_gone(&child);
    // An orderly end takes up to six seconds.
    assert!(start.elapsed() < std::time::Duration::from_secs(5), "{:?}", start.elapsed());
}

#[test]
fn reports_an_address_in_use_before_any_server_starts() {
    let home = tempfile::tempdir().unwrap();
    write(home.path(), &[shell("box", home.path())], ["box"].into_iter());
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let output = output(at(home.path(), SPAR).args(["serve", "--http", &address]));
    assert_eq!(output.status.code(), Some(2));
    let printed = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(printed.starts_with(&format!("error: cannot listen on {address}: ")), "{printed}");
    assert!(!home.path().join("box.pid").exists());
}

#[test]
fn the_end_of_input_ends_the_program() {
    let home = home(&[("desk", &script())]);
    let mut command = at(home.path(), SPAR);
    let output = output(command.arg("serve"));
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(output.stdout, b"");
}
