//! Tests `spar mock` with a token issuer: it authorizes `spar` and the client of the
//! Python SDK, which `cargo xtask peers` installs.

use std::io::{BufRead as _, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::process::Signal;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::mock::over_http_of;
use crate::other_clients::python;
use crate::process::{Running, SPAR, output};

fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/issuer.mock.yaml")
}

/// A mock, and a folder for its client.
struct OAuthSetup {
    runtime: Runtime,
    folder: TempDir,
    mock: Running,
    url: String,
}

impl OAuthSetup {
    fn new(script: &Path) -> OAuthSetup {
        let folder = tempfile::tempdir().unwrap();
        let journal = folder.path().join("journal.jsonl").display().to_string();
        let (mock, url) = over_http_of(script, &["--journal", &journal]);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        OAuthSetup { runtime, folder, mock, url }
    }

    /// Calls a tool, and logs in when asked. Returns the output and the number of logins.
    fn call(&self, tool: &str, flags: &[&str]) -> (String, usize) {
        let trace = self.folder.path().join("trace.jsonl");
        let mut command = Command::new(SPAR);
        command.args(["call", tool, "--url", &self.url, "--trace"]).arg(&trace).args(flags);
        command.env("XDG_CONFIG_HOME", self.folder.path());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut running = Running::of(command.spawn().unwrap());
        let mut stdout = running.child.stdout.take().unwrap();
        let mut lines = running.stderr.take().unwrap();
        let (mut spoken_text, mut logins, mut line) = (String::new(), 0, String::new());
        while lines.read_line(&mut line).unwrap() > 0 {
            if line.starts_with("http") && line.contains("/authorize?") {
                logins += 1;
                let page = self.runtime.block_on(reqwest::get(line.trim())).unwrap();
                assert!(page.status().is_success(), "{page:?}");
            } else if line.starts_with("error") {
                spoken_text += &line;
            }
            line.clear();
        }
        stdout.read_to_string(&mut spoken_text).unwrap();
        running.exit();
        let shown = std::fs::read_to_string(trace).unwrap();
        assert!(!shown.contains("eyJ") && !shown.contains("hush"), "a secret: {shown}");
        (spoken_text.trim().to_owned(), logins)
    }

    /// Sends a control request to the mock.
    fn control(&self, path: &str, body: &Value) {
        let url = self.url.replace("/mcp", &format!("/_spar/oauth{path}"));
        let asked = reqwest::Client::new().post(url).bearer_auth("operator");
        let asked = asked.body(body.to_string()).send();
        assert!(self.runtime.block_on(asked).unwrap().status().is_success());
    }

    /// Ends the mock, and checks that its output shows no token.
    fn end(self) {
        self.mock.signal(Signal::TERM);
        assert_eq!(self.mock.exit(), Some(143));
        let journal = std::fs::read_to_string(self.folder.path().join("journal.jsonl")).unwrap();
        assert!(journal.contains("tools/call") && !journal.contains("eyJ"), "{journal}");
    }
}

#[test]
fn spar_logs_in_renews_its_token_and_requests_more_scopes() {
    let setup = OAuthSetup::new(&example());
    let call = |tool: &str, flags: &[&str]| setup.call(tool, flags);
    let seen = "somebody who may read".to_owned();
    assert_eq!(call("whoami", &["--oauth"]), (seen.clone(), 1));
    assert_eq!(call("whoami", &["--oauth"]), (seen.clone(), 0), "the token was kept");
    setup.control("/expire", &json!({}));
    assert_eq!(call("whoami", &["--oauth"]), (seen.clone(), 0), "it was renewed");
    assert_eq!(call("forget", &["--oauth"]), ("forgotten".to_owned(), 1), "it needs more");
    // Again with registered clients, by their document or by their id.
    let document = "https://desk.example.com/client.json";
    let other = setup.folder.path().join("other.json").display().to_string();
    for known in [["--oauth-document", document], ["--oauth-client", "desk"]] {
        let flags = [&["--oauth", "--oauth-file", &other][..], &known].concat();
        assert_eq!(call("whoami", &flags), (seen.clone(), 1), "{known:?}");
        std::fs::remove_file(&other).unwrap();
    }
    setup.end();
}

#[test]
fn spar_uses_client_credentials_with_a_secret_and_with_a_key() {
    let folder = tempfile::tempdir().unwrap();
    let key = rcgen::KeyPair::generate().unwrap();
    std::fs::write(folder.path().join("public.pem"), key.public_key_pem()).unwrap();
    let private = folder.path().join("private.pem");
    std::fs::write(&private, key.serialize_pem()).unwrap();
    let script = folder.path().join("key.mock.yaml");
    let text = std::fs::read_to_string(example()).unwrap();
    let clients = "    clients:\n      - {id: signer, key: public.pem}\n";
    std::fs::write(&script, text.replace("    clients:\n", clients)).unwrap();
    let setup = OAuthSetup::new(&script);
    let private = private.display().to_string();
    for who in [
        ["--oauth-client", "robot", "--oauth-secret", "hush"],
        ["--oauth-client", "signer", "--oauth-key", &private],
    ] {
        let flags = [&["--oauth=client-credentials"][..], &who].concat();
        assert_eq!(setup.call("forget", &flags), ("forgotten".to_owned(), 0), "{who:?}");
    }
    setup.end();
}

#[test]
fn reports_each_fault_of_the_issuer_by_name() {
    let setup = OAuthSetup::new(&example());
    let flags = ["--oauth=client-credentials", "--oauth-client", "robot", "--oauth-secret", "hush"];
    for (change, printed) in [
        (json!({"refuse": ["invalid_client"]}), "invalid_client"),
        (json!({"wrong": ["signature"]}), "the signature is not the issuer's"),
        (json!({"wrong": ["issuer"]}), "it is from another issuer"),
        (json!({"wrong": ["audience"]}), "it is for another audience"),
        (json!({"wrong": ["expired"]}), "it has expired"),
        (json!({"wrong": "scope"}), "scope"),
    ] {
        setup.control("", &change);
        let (spoken_text, _) = setup.call("whoami", &flags);
        assert!(
            spoken_text.starts_with("error: ") && spoken_text.contains(printed),
            "{change}: {spoken_text}"
        );
    }
    setup.control("", &json!({"wrong": []}));
    assert_eq!(setup.call("whoami", &flags).0, "somebody who may read");
    setup.end();
}

#[test]
fn the_issuer_authorizes_the_python_sdks_client() {
    let folder = tempfile::tempdir().unwrap();
    let key = folder.path().join("key.pem");
    std::fs::write(&key, rcgen::KeyPair::generate().unwrap().serialize_pem()).unwrap();
    let script = folder.path().join("key.mock.yaml");
    let text = std::fs::read_to_string(example()).unwrap();
    let clients = "    clients:\n      - {id: signer, key: key.pem}\n";
    std::fs::write(&script, text.replace("    clients:\n", clients)).unwrap();
    let key = key.display().to_string();
    for (mode, how, logins) in [
        ("legacy", &["code"][..], 2),
        ("2026-07-28", &["code"], 2),
        ("legacy", &["credentials", "robot", "hush"], 0),
        ("2026-07-28", &["key", "signer", &key], 0),
    ] {
        let Some(client) = python("oauth.py", mode) else { return };
        let setup = OAuthSetup::new(&script);
        let output = output(Command::new(&client[0]).args(&client[1..]).arg(&setup.url).args(how));
        let spoken_text = String::from_utf8_lossy(&output.stdout).into_owned();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{mode} {how:?}: {spoken_text}{stderr}");
        let received: Value = serde_json::from_str(&spoken_text).unwrap();
        let right = json!({
            "whoami": "somebody who may read", "again": "somebody who may read",
            "forget": "forgotten", "logins": logins, "scope": ["read", "write"],
        });
        assert_eq!(received, right, "{mode} {how:?}");
        setup.end();
    }
}
