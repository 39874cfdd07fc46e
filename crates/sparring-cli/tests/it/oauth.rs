//! Tests OAuth: the printed login page, the stored tokens, and that no output shows a
//! secret.

#[path = "../../../sparring-transport/tests/it/oauth/scripted_servers.rs"]
#[expect(dead_code, reason = "its other tests use all of it")]
mod scripted_servers;

use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::process::Signal;
use scripted_servers::{Behavior, Replacement, ScriptedServers};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::process::{Running, SPAR};

/// An authorization server and an MCP server, and a folder for the client.
struct OAuthSetup {
    runtime: Runtime,
    servers: ScriptedServers,
    folder: tempfile::TempDir,
}

/// The outcome of a run, with all of its output.
struct RunOutput {
    exit: Option<i32>,
    stdout: String,
    stderr: String,
    trace: String,
    /// True if a page was to be opened.
    asked: bool,
}

impl OAuthSetup {
    fn new(behavior: Behavior) -> OAuthSetup {
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        let runtime = builder.worker_threads(1).enable_all().build().unwrap();
        let servers = runtime.block_on(ScriptedServers::new(behavior));
        OAuthSetup { runtime, servers, folder: tempfile::tempdir().unwrap() }
    }

    fn file(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    fn start(&self, verb: &[&str], flags: &[&str]) -> Running {
        let (url, trace) = (self.servers.url(), self.file("trace.jsonl"));
        let mut command = Command::new(SPAR);
        command.args(verb).args(["--url", &url, "--trace", &trace]).args(flags);
        command.env("XDG_CONFIG_HOME", self.folder.path());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Running::of(command.spawn().unwrap())
    }

    /// Runs `spar` to its end, and logs in when asked.
    fn run(&self, verb: &[&str], flags: &[&str]) -> RunOutput {
        let mut running = self.start(verb, flags);
        let mut stdout = running.child.stdout.take().unwrap();
        let mut lines = running.stderr.take().unwrap();
        let (mut stderr, mut asked) = (String::new(), false);
        while std::io::BufRead::read_line(&mut lines, &mut stderr).unwrap() > 0 {
            let page = stderr.lines().next_back().unwrap().to_owned();
            if page.starts_with("http") && page.contains("/authorize?") {
                asked = true;
                // The page is gone if `spar` refuses the login.
                let _ = self.runtime.block_on(reqwest::get(page));
            }
        }
        let mut printed = String::new();
        stdout.read_to_string(&mut printed).unwrap();
        let trace = std::fs::read_to_string(self.file("trace.jsonl")).unwrap_or_default();
        RunOutput { exit: running.exit(), stdout: printed, stderr, trace, asked }
    }
}

const ECHO: [&str; 3] = ["call", "echo", "message=hi"];

#[test]
fn a_user_logs_in_once() {
    let setup = OAuthSetup::new(Behavior::default());
    let output = setup.run(&ECHO, &["--oauth"]);
    assert_eq!((output.exit, &*output.stdout), (Some(0), "hi\n"), "{}", output.stderr);
    assert!(output.stderr.starts_with("To log in, open this page:\nhttp://"), "{}", output.stderr);
    for flags in [&["--oauth"][..], &["--oauth", "--no-browser"]] {
        let output = setup.run(&ECHO, flags);
        assert_eq!((output.exit, &*output.stdout, output.asked), (Some(0), "hi\n", false));
    }
    let kept = Path::new(&setup.file("sparring/credentials.json")).exists();
    assert!(kept, "in the folder of the user's settings");
    // Without stored tokens the user has to log in again.
    let other = setup.file("other.json");
    assert!(setup.run(&ECHO, &["--oauth", "--oauth-file", &other]).asked);
    assert!(Path::new(&other).exists());
}

/// On Linux `xdg-open` opens a page if stderr is a terminal.
#[cfg(target_os = "linux")]
#[test]
fn opens_the_login_page_if_stderr_is_a_terminal() {
    use std::os::unix::fs::PermissionsExt;

    for (flags, opens) in [(&["--oauth"][..], true), (&["--oauth", "--no-browser"], false)] {
        let setup = OAuthSetup::new(Behavior::default());
        let (browser, opened) = (setup.file("xdg-open"), setup.file("opened"));
        std::fs::write(
            &browser,
            format!("#!/bin/sh\necho \"$1\" >{opened}.new\nmv {opened}.new {opened}\n"),
        )
        .unwrap();
        std::fs::set_permissions(&browser, PermissionsExt::from_mode(0o755)).unwrap();
        let (terminal, mut lines) = crate::terminal::terminal();
        let path = std::env::var("PATH").unwrap();
        let mut command = Command::new(SPAR);
        command.args(ECHO).args(["--url", &setup.servers.url()]).args(flags);
        command.env("PATH", format!("{}:{path}", setup.folder.path().display()));
        command.env("XDG_CONFIG_HOME", setup.folder.path());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(terminal);
        let child = command.spawn().unwrap();
        drop(command);
        let mut page = String::new();
        while !page.starts_with("http") {
            page.clear();
            std::io::BufRead::read_line(&mut lines, &mut page).unwrap();
        }
        if opens {
            let until = std::time::Instant::now() + crate::process::WAIT_LIMIT;
            while !Path::new(&opened).exists() {
                assert!(std::time::Instant::now() < until, "no page was opened");
                std::thread::yield_now();
            }
            let given = std::fs::read_to_string(&opened).unwrap();
            assert_eq!(given.trim(), page.trim(), "the page that was printed");
        }
        let _ = setup.runtime.block_on(reqwest::get(page.trim()));
        assert_eq!(Running::of(child).exit(), Some(0));
        assert_eq!(Path::new(&opened).exists(), opens, "{flags:?}");
    }
}

#[test]
fn uses_client_credentials() {
    let setup = OAuthSetup::new(Behavior::default());
    let flags = ["--oauth=client-credentials", "--oauth-client", "me", "--oauth-secret", "hunter2"];
    let scope = ["--oauth-scope", "a", "--oauth-scope", "b"];
    let output = setup.run(&ECHO, &[&flags[..], &scope].concat());
    assert_eq!(
        (output.exit, &*output.stdout, output.asked),
        (Some(0), "hi\n", false),
        "{}",
        output.stderr
    );
    assert_eq!(setup.servers.event_params("token")[0]["scope"], "a b");
    // The issuer of the client is stored, and its secret goes to no other.
    setup.servers.change(|behavior| behavior.issuer = "/other");
    let output = setup.run(&ECHO, &flags);
    let expected = "wrong issuer: the client me belongs to";
    assert!(output.exit == Some(3) && output.stderr.contains(expected), "{}", output.stderr);
    assert_eq!(setup.servers.event_params("token").len(), 1);
    let issuer = format!("{}/other", setup.servers.origin());
    let output = setup.run(&ECHO, &[&flags[..], &["--oauth-issuer", &issuer]].concat());
    assert_eq!((output.exit, &*output.stdout), (Some(0), "hi\n"), "{}", output.stderr);
}

#[test]
fn a_login_has_a_timeout() {
    let setup = OAuthSetup::new(Behavior {
        redirect_query: json!({"state": "other"}),
        ..Behavior::default()
    });
    // A redirect with another state does not end the login.
    let output = setup.run(&ECHO, &["--oauth", "--json", "--oauth-timeout", "300ms"]);
    assert_eq!(output.exit, Some(3));
    let printed: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(printed["error"]["kind"], "not-authorized");
    let message = printed["error"]["message"].as_str().unwrap();
    assert!(message.contains("no login within 300ms"), "{printed}");
    let shown = [output.stdout, output.stderr, output.trace].concat();
    assert!(!shown.contains("hunter"), "{shown}");

    let mut running = setup.start(&ECHO, &["--oauth", "--oauth-timeout", "50ms"]);
    running.line("To log in");
    assert!(running.line("error: ").contains("no login within 50ms"));
    assert_eq!(running.exit(), Some(3));
}

#[test]
fn ctrl_c_ends_the_wait_for_a_login() {
    let setup = OAuthSetup::new(Behavior::default());
    let mut running = setup.start(&ECHO, &["--oauth"]);
    running.line("To log in");
    let page = running.line("http://");
    running.signal(Signal::INT);
    assert_eq!(running.line("error: "), "stopped by SIGINT");
    assert_eq!(running.exit(), Some(130));
    let (_, port) = page.split_once("redirect_uri=http%3A%2F%2F127.0.0.1%3A").unwrap();
    let port: String = port.chars().take_while(char::is_ascii_digit).collect();
    let visit = std::net::TcpStream::connect(format!("127.0.0.1:{port}"));
    assert!(visit.is_err(), "the redirect listener has closed");
}

#[test]
fn ctrl_c_ends_the_wait_for_an_authorization_server() {
    for end in
        ["/oauth-protected-resource/mcp", "/oauth-authorization-server/as", "/register", "/token"]
    {
        let setup = OAuthSetup::new(Behavior {
            replacements: vec![(end, Replacement::Silence)],
            ..Behavior::default()
        });
        let mut running = setup.start(&ECHO, &["--oauth", "--timeout", "1s"]);
        if end == "/token" {
            running.line("To log in");
            let page = format!("http://{}", running.line("http://"));
            let visit = setup.runtime.block_on(reqwest::get(page));
            assert!(visit.unwrap().status().is_success());
        }
        while !setup.servers.event_names().contains(&end) {
            std::thread::yield_now();
        }
        let begun = std::time::Instant::now();
        running.signal(Signal::INT);
        assert_eq!(running.line("error: "), "stopped by SIGINT");
        assert_eq!(running.exit(), Some(130), "{end}");
        assert!(begun.elapsed() < std::time::Duration::from_secs(10), "{end}");
    }
}

#[test]
fn a_login_works_while_stderr_is_not_read() {
    let setup = OAuthSetup::new(Behavior::default());
    let mut running = setup.start(&ECHO, &["--oauth", "--oauth-timeout", "50ms", "--json"]);
    drop(running.stderr.take());
    assert_eq!(running.exit(), Some(3));
}

#[test]
fn no_output_shows_a_secret() {
    let key = rcgen::KeyPair::generate().unwrap().serialize_pem();
    let body = key.lines().nth(1).unwrap().to_owned();
    let by_secret =
        ["--oauth=client-credentials", "--oauth-client", "me", "--oauth-secret", "hunter-secret"];
    let registration_fields = json!({
        "client_secret": "hunter-registered", "token_endpoint_auth_method": "client_secret_post"
    });
    let refusal = |status: u16| {
        let body = json!({"error": "invalid_grant", "error_description": "ECHO"});
        Behavior { refusals: vec![(status, body); 100], ..Behavior::default() }
    };
    let worlds = [
        Behavior::default(),
        Behavior { registration_fields, ..Behavior::default() },
        Behavior { token_lifetime: 0, ..Behavior::default() },
        Behavior { rejects_every_token: true, ..Behavior::default() },
        Behavior { tool_scope: Some("write"), granted_scope: Some("read"), ..Behavior::default() },
        Behavior { redirect_query: json!({"iss": null}), ..Behavior::default() },
        Behavior { resource: None, ..Behavior::default() },
        refusal(400),
        refusal(500),
        Behavior { refusals: vec![(200, json!("hunter-access"))], ..Behavior::default() },
    ];
    let verbs: [&[&str]; 6] = [
        &ECHO,
        &["call", "echo", "--args", "[]"],
        &["list", "tools"],
        &["read", "x://y"],
        &["ping"],
        &["raw", r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#],
    ];
    let (mut runs, mut succeeded) = (0, 0);
    for behavior in worlds {
        let setup = OAuthSetup::new(behavior);
        let file = setup.file("key.pem");
        std::fs::write(&file, &key).unwrap();
        let by_key = ["--oauth=client-credentials", "--oauth-client", "me", "--oauth-key", &file];
        for how in [&["--oauth"][..], &by_secret, &by_key] {
            for (number, verb) in verbs.iter().enumerate() {
                // A renewed token shows more than a valid one.
                setup.servers.revoke(number == 0);
                for json in [&[][..], &["--json"]] {
                    let output = setup.run(verb, &[how, json].concat());
                    let shown = [output.stdout, output.stderr, output.trace].concat();
                    assert!(!shown.contains("hunter"), "{verb:?} {how:?}: {shown}");
                    assert!(!shown.contains(&body), "{verb:?} {how:?}: {shown}");
                    assert!(!shown.contains("eyJ"), "an assertion: {shown}");
                    (runs, succeeded) = (runs + 1, succeeded + usize::from(output.exit == Some(0)));
                }
            }
        }
    }
    assert!(succeeded > 20 && runs - succeeded > 20, "of {runs} runs {succeeded} succeeded");
    for flags in [
        &["--oauth-secret", "hunter2"][..],
        &["--oauth", "--oauth-secret", "hunter2"],
        &["--oauth", "--oauth-client", "me", "--oauth-secret", "hunter2", "--oauth-key", "x"],
        &["--oauth", "--bearer", "hunter2"],
        &["--oauth", "--basic", "me:hunter2"],
        &["--oauth", "--header", "Authorization: hunter2"],
        &["--oauth=client-credentials", "--oauth-client", "me"],
        &["--oauth", "--oauth-document", "http://hunter2/"],
        &["--oauth", "--oauth-redirect", "https://127.0.0.1/"],
    ] {
        let output =
            Command::new(SPAR).args(["ping", "--url", "http://127.0.0.1:1/"]).args(flags).output();
        let output = output.unwrap();
        let shown = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        assert_eq!(output.status.code(), Some(2), "{flags:?}: {shown}");
        assert!(!shown.contains("hunter"), "{flags:?}: {shown}");
    }
}
