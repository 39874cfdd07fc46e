//! Runs the verbs with planted secrets, and searches everything that they print and write.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use crate::process::SPAR;

/// A server that repeats its secrets on stderr and in every result.
const SERVER: &str = r#"
echo "starting with $API_TOKEN in $1" >&2
while read -r line; do
  id=${line#*\"id\":}; id=${id%%[,\}]*}
  case $line in
  *'"method":"initialize"'*) r='{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"resources":{},"prompts":{},"completions":{}},"serverInfo":{"name":"echo","version":"1"}}' ;;
  *'"method":"notifications/'*) continue ;;
  *'"method":"tools/list"'*) r="{\"tools\":[{\"name\":\"echo\",\"description\":\"$API_TOKEN\",\"inputSchema\":{\"type\":\"object\"},\"annotations\":{\"readOnlyHint\":true}}]}" ;;
  *'"method":"tools/call"'*) r="{\"content\":[{\"type\":\"text\",\"text\":\"$API_TOKEN $1\"}]}" ;;
  *'"method":"resources/list"'*) r='{"resources":[]}' ;;
  *'"method":"resources/templates/list"'*) r='{"resourceTemplates":[]}' ;;
  *'"method":"resources/read"'*) r="{\"contents\":[{\"uri\":\"a:b\",\"text\":\"$API_TOKEN\"}]}" ;;
  *'"method":"prompts/list"'*) r='{"prompts":[]}' ;;
  *'"method":"prompts/get"'*) r="{\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":\"$1\"}}]}" ;;
  *'"method":"completion/complete"'*) r="{\"completion\":{\"values\":[\"$1\"]}}" ;;
  *'"method":"server/discover"'*) echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"error\":{\"code\":-32601,\"message\":\"$API_TOKEN\"}}"; continue ;;
  *) r='{}' ;;
  esac
  printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$r"
done
"#;

const CONFIG: &str = r#"
servers:
  echo: {command: sh, args: [server.sh, "${ARG}"], env: {API_TOKEN: "${T}"}}
  path: {url: "http://127.0.0.1:1/s/${T}/mcp?key=planted-literal-7", auto_connect: false}
  user: {url: "http://me:planted-password-8@127.0.0.1:1/mcp", auto_connect: false, bogus: 1}
  gone: {command: "${T}", cwd: "/tmp/${ARG}", auto_connect: false}
permissions: {allow: [mcp__echo]}
"#;

const SUITE: &str = r#"
servers:
  echo: {command: sh, args: [server.sh, "${ARG}"], env: {API_TOKEN: "${T}"}}
tests:
  - {name: a, call: echo, expect: {text: other}}
"#;

/// Runs a script with the planted secrets in its environment; returns all of its output.
fn run(folder: &Path, script: &str) -> String {
    let path = std::env::var("PATH").unwrap_or_default();
    let bin = Path::new(SPAR).parent().unwrap();
    let output = Command::new("sh")
        .args(["-c", &format!("exec 2>&1\n{script}")])
        .current_dir(folder)
        .env("HOME", folder)
        .env_remove("XDG_CONFIG_HOME")
        .env_remove("XDG_STATE_HOME")
        .env("PATH", format!("{}:{path}", bin.display()))
        .env("T", "planted/variable 1")
        .env("ARG", "planted-argument-2")
        .output()
        .unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Returns the contents of all files that the verbs wrote.
fn written(folder: &Path, text: &mut String) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        match entry.file_type().unwrap().is_dir() {
            true => written(&entry.path(), text),
            false if ["mcp.yaml", "a.spar.yaml"].iter().any(|it| entry.file_name() == *it) => {}
            false => text.push_str(&String::from_utf8_lossy(&fs::read(entry.path()).unwrap())),
        }
    }
}

#[test]
fn no_verb_prints_or_writes_a_planted_secret() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir_all(at(".config/sparring")).unwrap();
    fs::write(at(".config/sparring/mcp.yaml"), CONFIG).unwrap();
    fs::write(at("server.sh"), SERVER).unwrap();
    fs::write(at("a.spar.yaml"), SUITE).unwrap();
    let mut all = String::new();
    for script in [
        "spar ping --server echo --trace trace.jsonl",
        "spar list --server echo; spar list --server echo --json",
        "spar call echo --server echo --show-stderr; spar call echo --server echo --json",
        "spar read a:b --server echo; spar prompt p --server echo",
        "spar complete p a b --server echo; spar raw tools/call '{}' --server echo --json",
        "spar codegen --server echo -o out.rs; spar codegen --server echo",
        "spar init suites --server echo",
        "spar ping --server path; spar ping --server path --json --trace path.jsonl",
        "spar ping --server user; spar ping --server gone; spar ping --server gone --json",
        "spar config list; spar config list --json; spar config check; spar config check --json",
        "spar test a.spar.yaml --report junit=j.xml --report html=h.html --report json=r.json",
        "printf '/mcp\\n/mcp call echo echo\\n/mcp log echo\\n/mcp connect path\\n/mcp connect gone\\n' | spar shell",
        "printf '%s\\n' '{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{\"name\":\"a\",\"version\":\"1\"}}}' '{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"mcp__echo__echo\"}}' | spar serve",
        "spar ping --url http://127.0.0.1:1/mcp --basic me:planted-basic-3 --trace b.jsonl",
        "spar ping --url http://127.0.0.1:1/mcp?token=planted-query-4 --bearer planted-bearer-5",
        "spar ping --env API_TOKEN=planted-env-6 --show-stderr -- sh server.sh planted",
    ] {
        let printed = run(folder.path(), script);
        assert!(!printed.is_empty(), "{script}");
        for secret in ["planted/variable 1", "planted%2Fvariable%201", "planted-"] {
            assert!(!printed.contains(secret), "{script}\n{printed}");
        }
        all.push_str(&printed);
    }
    assert!(all.matches("(hidden)").count() > 20, "{all}");
    let mut files = String::new();
    written(folder.path(), &mut files);
    for secret in ["planted/variable 1", "planted%2Fvariable%201", "planted-"] {
        assert!(!files.contains(secret), "{secret}");
    }
    let mode = fs::metadata(at("trace.jsonl")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}
