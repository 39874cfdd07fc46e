//! Runs the verbs with planted secrets, and searches everything that they print and write.
//! Every secret contains the word that is searched.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use crate::process::SPAR;

/// A server that repeats its secrets on stderr and in every result.
const SERVER: &str = r#"
all="$API_TOKEN $1 $PASSED $FROM_FILE $OTHER_TOKEN"
echo "starting with $all" >&2
while read -r line; do
  id=${line#*\"id\":}; id=${id%%[,\}]*}
  case $line in
  *'"method":"initialize"'*) r='{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"resources":{},"prompts":{},"completions":{}},"serverInfo":{"name":"echo","version":"1"},"instructions":"say '$all'"}' ;;
  *'"method":"notifications/'*) continue ;;
  *'"method":"tools/list"'*) r="{\"tools\":[{\"name\":\"echo\",\"description\":\"$all\",\"inputSchema\":{\"type\":\"object\"},\"annotations\":{\"readOnlyHint\":true}},{\"name\":\"crash\",\"inputSchema\":{\"type\":\"object\"}}]}" ;;
  *'"name":"crash"'*) echo "crashed with $all" >&2; exit 7 ;;
  *'"method":"tools/call"'*) r="{\"content\":[{\"type\":\"text\",\"text\":\"$all\"},{\"type\":\"text\",\"text\":\"{\\\"token\\\": \\\"$all\\\"}\"}]}" ;;
  *'"method":"resources/list"'*) r="{\"resources\":[{\"uri\":\"a:b\",\"name\":\"$all\"}]}" ;;
  *'"method":"resources/templates/list"'*) r='{"resourceTemplates":[]}' ;;
  *'"method":"resources/read"'*) r="{\"contents\":[{\"uri\":\"a:b\",\"text\":\"$all\"}]}" ;;
  *'"method":"prompts/list"'*) r="{\"prompts\":[{\"name\":\"p\",\"description\":\"$all\"}]}" ;;
  *'"method":"prompts/get"'*) r="{\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":\"$all\"}}]}" ;;
  *'"method":"completion/complete"'*) r="{\"completion\":{\"values\":[\"$all\"]}}" ;;
  *'"method":"server/discover"'*) echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"error\":{\"code\":-32601,\"message\":\"$all\",\"data\":\"$all\"}}"; continue ;;
  *) r='{}' ;;
  esac
  printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$r"
done
"#;

const CONFIG: &str = r#"
servers:
  echo:
    command: sh
    args: [server.sh, "${ARG}"]
    env: {API_TOKEN: "${T}"}
    pass_env: [PASSED]
    env_file: server.env
  path: {url: "http://127.0.0.1:1/s/${T}/mcp?key=planted-literal", auto_connect: false}
  user: {url: "http://me:planted-password@127.0.0.1:1/mcp", auto_connect: false}
  head: {url: "http://127.0.0.1:1/mcp", headers: {X-Any: planted-header}, auto_connect: false}
  gone: {command: "${T}", auto_connect: false}
  lost: {command: sh, cwd: "/tmp/${ARG}", auto_connect: false}
  wrong: {url: "http://me:planted-wrong@127.0.0.1:1/mcp", bogus: 1}
permissions: {allow: [mcp__echo]}
"#;

const PROJECT: &str = r#"{"mcpServers": {"project": {"command": "sh",
  "args": ["server.sh", "--token", "planted-flag"], "env": {"API_KEY": "planted-env"}}}}"#;

const SUITE: &str = r#"
servers:
  echo: {command: sh, args: [server.sh, "${ARG}"], env: {API_TOKEN: "${T}"}}
tests:
  - {name: a, call: echo, expect: {text: other}}
  - {name: b, call: crash}
"#;

const WEB: &str = r#"
server: {name: web, version: 1.0.0}
tools:
  - {name: say, text: "${args.text}"}
  - {name: ping, text: pong}
"#;

const OAUTH: &str = r#"
server: {name: web, version: 1.0.0}
auth: {oauth: {scopes: [read], requires: read, clients: [{id: robot, secret: planted-client}]}}
tools: [{name: ping, text: pong}]
"#;

const MODEL: &str = r#"
openai:
  - call: {tool: mcp__echo__echo}
  - call: {tool: read_resource, with: {server: echo, uri: "a:b"}}
  - call: {tool: mcp__echo__crash}
  - text: "${last.tool_result}"
"#;

/// The files that contain the secrets, because a person or `spar config` wrote them there, and
/// the tokens, which only their owner can read.
const OWN_FILES: [&str; 7] = [
    "mcp.yaml",
    ".mcp.json",
    "a.spar.yaml",
    "server.env",
    "oauth.mock.yaml",
    "added.yaml",
    "tokens.json",
];

const SCRIPTS: [&str; 28] = [
    // Every verb with a target.
    "spar ping --server echo --trace trace.jsonl; spar ping --server echo --show-stderr",
    "spar list --server echo; spar list --server echo --json",
    "spar call echo --server echo; spar call echo --server echo --json --trace call.jsonl",
    "spar call crash --server echo; spar call crash --server echo --json",
    "spar read a:b --server echo; spar read a:b --server echo --json",
    "spar prompt p --server echo; spar prompt p --server echo --json",
    "spar complete prompt p a b --server echo; spar complete prompt p a b --server echo --json",
    "spar raw tools/call '{\"name\": \"echo\"}' --server echo; spar raw ping --json --server echo",
    "spar codegen --server echo --output out.rs; spar codegen --server echo",
    "spar init suites --server echo --all-tools; spar init suites --server path",
    "for s in path user head gone lost; do spar ping --server $s --trace $s.jsonl; \
     spar ping --server $s --json; done",
    "unset PASSED; spar ping --env API_TOKEN=planted-flag --show-stderr -- sh server.sh x",
    "unset PASSED; spar call echo --json -- sh server.sh --token=planted-flag",
    // Flags for URLs.
    "spar ping --url http://127.0.0.1:1/mcp --basic me:planted-basic --trace b.jsonl",
    "spar ping --url http://127.0.0.1:1/mcp?token=planted-query --bearer planted-bearer --json",
    "served web.mock.yaml 'for t in planted-bearer \"a planted-header b\"; do spar call say \
     \"text=$t\" --url $URL --bearer planted-bearer --header \"X-Any: planted-header\" \
     --trace web.jsonl; done; spar call say text=bWU6cGxhbnRlZC1iYXNpYw== --json --url $URL \
     --basic me:planted-basic'",
    "served 'web.mock.yaml --journal journal.jsonl' 'spar call ping --url $URL --header \
     \"X-Auth-Token: planted-1\" --header \"X-Amz-Security-Token: planted-2\" --header \
     \"X-Goog-Api-Key: planted-3\" --bearer planted-4'",
    "served oauth.mock.yaml 'for s in planted-client planted-other; do spar call ping --url $URL \
     --oauth=client-credentials --oauth-client robot --oauth-secret $s --oauth-file tokens.json \
     --trace oauth.jsonl; done; spar raw ping --json --url $URL --oauth=client-credentials \
     --oauth-client robot --oauth-secret planted-client --oauth-file tokens.json'",
    // The config files.
    "spar config list; spar config list --json; spar config check; spar config check --json",
    "for s in echo path user head gone wrong project; do spar config get $s; \
     spar config get $s --json; done; spar config grants; spar config list --check --json",
    "spar config trust --yes; spar config list --check",
    "spar config add more --url http://h/mcp?key=planted-key --bearer planted-more --file \
     added.yaml; spar config import ./.mcp.json --file added.yaml --json",
    // The hosts.
    "printf '%s\\n' /mcp '/mcp servers' '/mcp tools' '/mcp resources' '/mcp prompts' \
     '/mcp call echo echo' '/mcp read echo a:b' '/mcp prompt echo p' '/mcp call echo crash' \
     '/mcp log echo' '/mcp connect path' '/mcp connect gone' '/mcp connect lost' /mcp > lines; \
     spar shell --save s.json --audit audit.jsonl < lines; spar shell --resume s.json --json < lines",
    "for m in echo crash; do printf '%s\\n' '{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\
     \"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\
     \"clientInfo\":{\"name\":\"a\",\"version\":\"1\"}}}' '{\"jsonrpc\":\"2.0\",\"id\":2,\
     \"method\":\"tools/list\"}' \"{\\\"jsonrpc\\\":\\\"2.0\\\",\\\"id\\\":3,\\\"method\\\":\
     \\\"tools/call\\\",\\\"params\\\":{\\\"name\\\":\\\"mcp__echo__$m\\\"}}\" | \
     spar serve --audit audit.jsonl; done",
    "mkfifo f; SPAR_SERVE_TOKEN=planted-serve spar serve --http 127.0.0.1:0 > f & read -r URL < f; \
     spar call mcp__echo__echo --url $URL --bearer planted-serve; spar call mcp__echo__crash \
     --url $URL --bearer planted-serve; spar ping --url $URL --bearer planted-nothing; \
     kill $!; wait",
    "served '--llm a.llm.yaml --journal llm.jsonl' 'OPENAI_API_KEY=planted-key spar agent go \
     --llm $URL --artifacts out --save t.json --audit audit.jsonl --setting keep_arguments=true'; \
     served '--llm a.llm.yaml' 'OPENAI_API_KEY=planted-key spar agent go --llm $URL --json'; \
     spar agent go --llm 'http://me:planted-model@127.0.0.1:1/v1?key=planted-query'",
    // Suites and reports.
    "unset PASSED; spar test a.spar.yaml --report junit=r.xml --report html=r.html --report json=r.json \
     --report markdown=r.md --report tap=r.tap --report github=r.gh --report agent=r.txt",
    "spar report merge r.json r.json",
];

/// Runs a script with the planted secrets in its environment; returns all of its output.
fn run(folder: &Path, script: &str) -> String {
    let path = std::env::var("PATH").unwrap_or_default();
    let bin = Path::new(SPAR).parent().unwrap();
    let served = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/served.sh");
    let served =
        format!("served() {{ TMP=$(mktemp -d ./XXXXXX) sh '{}' \"$@\"; }}", served.display());
    let output = Command::new("sh")
        .args(["-c", &format!("exec 2>&1\n{served}\n{script}")])
        .current_dir(folder)
        .env("HOME", folder)
        .env_remove("XDG_CONFIG_HOME")
        .env_remove("XDG_STATE_HOME")
        .env("PATH", format!("{}:{path}", bin.display()))
        .env("T", "planted/variable 1")
        .env("ARG", "planted-argument")
        .env("PASSED", "planted-passed")
        .env("OTHER_TOKEN", "planted-inherited")
        .output()
        .unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Calls `check` with each file that the verbs wrote.
fn each_written_file(folder: &Path, check: &mut dyn FnMut(&Path, &str)) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let (path, kind) = (entry.path(), entry.file_type().unwrap());
        if kind.is_dir() {
            each_written_file(&path, check);
        } else if kind.is_file() && !OWN_FILES.iter().any(|own| entry.file_name() == *own) {
            check(&path, &String::from_utf8_lossy(&fs::read(&path).unwrap()));
        }
    }
}

#[test]
fn no_verb_prints_or_writes_a_planted_secret() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir_all(at(".config/sparring")).unwrap();
    for (name, text) in [
        (".config/sparring/mcp.yaml", CONFIG),
        (".mcp.json", PROJECT),
        ("server.sh", SERVER),
        ("server.env", "FROM_FILE=planted-file\n"),
        ("a.spar.yaml", SUITE),
        ("web.mock.yaml", WEB),
        ("oauth.mock.yaml", OAUTH),
        ("a.llm.yaml", MODEL),
    ] {
        fs::write(at(name), text).unwrap();
    }
    // In Base64, and the beginning of the header of every token of the issuer.
    let searched = ["planted", "bWU6cGxhbnRlZC1iYXNpYw", "eyJhbGciOi"];
    let mut hidden = 0;
    for script in SCRIPTS {
        let printed = run(folder.path(), script);
        assert!(!printed.is_empty(), "{script}");
        for secret in searched {
            assert!(!printed.contains(secret), "{secret}: {script}\n{printed}");
        }
        hidden += printed.matches("(hidden)").count();
    }
    assert!(hidden > 100, "{hidden}: the servers did not repeat their secrets");
    let mut written = Vec::new();
    each_written_file(folder.path(), &mut |path, text| {
        for secret in searched {
            assert!(!text.contains(secret), "{secret}: {}\n{text}", path.display());
        }
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if text.contains("(hidden)") {
            written.push(name.clone());
        }
        if name.ends_with(".jsonl") {
            let mode = fs::metadata(path).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "{name}");
        }
    });
    for name in ["trace.jsonl", "journal.jsonl", "oauth.jsonl", "llm.jsonl", "r.json", "out.rs"] {
        assert!(written.iter().any(|it| it == name), "{name}: {written:?}");
    }
}
