//! Servers of a suite: commands, containers, URLs and mocks.

use sparring_mock::MockServer;
use sparring_suite::Outcome;

use crate::fixture::{MOCK, block_on, outcomes};

/// A server whose only tool returns its first argument, `$WHOM` and its working directory.
const SHELL: &str = r#"
while read -r line; do
  id=$(printf %s "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
  case "$line" in
    *'"server/discover"'*) echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"error\":{\"code\":-32601,\"message\":\"no\"}}" ;;
    *'"initialize"'*) echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{\"tools\":{}},\"serverInfo\":{\"name\":\"sh\",\"version\":\"1\"}}}" ;;
    *'"tools/list"'*) echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"tools\":[{\"name\":\"me\",\"inputSchema\":{\"type\":\"object\"}}]}}" ;;
    *'"tools/call"'*) echo "called by $WHOM" >&2; echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"$1 $WHOM $(basename "$PWD")\"}]}}" ;;
  esac
done
"#;

#[track_caller]
fn all_pass(text: &str) {
    for (name, outcome) in block_on(outcomes(text, false)) {
        assert!(matches!(outcome, Some(Outcome::Passed)), "{name}: {outcome:#?}");
    }
}

#[test]
fn a_command_gets_its_arguments_its_environment_and_the_folder_of_the_suite() {
    let script = serde_json::json!(SHELL);
    let expect = "expect: {text: hi Ada tests, stderr: {contains: called by Ada}}";
    all_pass(&format!(
        "servers: {{it: {{command: sh, args: [-c, {script}, sh, hi], env: {{WHOM: \"${{WHO}}\"}}}}}}\n\
         tests: [{{name: a, call: me, {expect}}}]"
    ));
    all_pass(&format!(
        "servers: {{it: {{command: sh, args: [-c, {script}, sh, \"${{NOBODY:-you}}\"], cwd: it, \
         env: {{WHOM: Bob}}}}}}\n\
         tests: [{{name: a, call: me, expect: {{text: you Bob it}}}}]"
    ));
}

#[test]
fn a_command_can_be_one_string() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a server.sh");
    std::fs::write(&path, SHELL).unwrap();
    let command = serde_json::json!(format!("sh '{}' 'hi there'", path.display()));
    all_pass(&format!(
        "servers: {{it: {{command: {command}, env: {{WHOM: you}}}}}}\n\
         tests: [{{name: a, call: me, expect: {{text: hi there you tests}}}}]"
    ));
}

#[test]
fn a_server_over_http_gets_token_and_headers() {
    let script = MOCK.replace("server: {", "auth: {bearer: [secret]}\nserver: {");
    let work = async {
        let mock = MockServer::from_yaml(&script, ".").unwrap();
        let serving = mock.listen("127.0.0.1:0".parse().unwrap()).await.unwrap();
        let url = mock.urls(serving.address().unwrap()).mcp;
        let text = |beside: &str| {
            format!(
                "servers: {{it: {{url: \"{url}\", timeout: 5s{beside}}}}}\n\
                 tests: [{{name: a, call: two, expect: {{text: {{contains: one}}}}}}]"
            )
        };
        let good = outcomes(&text(", bearer: secret, headers: {X-A: b}"), false).await;
        let bad = outcomes(&text(""), false).await;
        serving.stop(std::time::Duration::ZERO).await;
        (good, bad, mock.received())
    };
    let (good, bad, received) = block_on(work);
    assert!(matches!(good[0].1, Some(Outcome::Passed)), "{good:?}");
    let Some(Outcome::Failed(failed)) = &bad[0].1 else { panic!("{bad:?}") };
    assert!(failed.failures[0].message.contains("credentials required"), "{failed:?}");
    let header = received.iter().filter_map(|it| it.headers()?.get("x-a").map(str::to_owned));
    assert!(header.clone().count() > 0 && header.clone().all(|value| value == "b"));
}

#[test]
fn a_mock_gets_its_variables() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.mock.yaml");
    std::fs::write(&path, "vars: {x: 1}\ntools: [{name: a, text: \"${vars.x}\"}]").unwrap();
    let path = path.display();
    all_pass(&format!(
        "servers: {{it: {{mock: \"{path}\", vars: {{x: \"${{WHO}}!\"}}}}}}\n\
         tests: [{{name: a, call: a, expect: {{text: Ada!}}}}]"
    ));
}

#[test]
fn reports_a_container_that_does_not_exist() {
    let text = "servers: {it: {command: server, container: no-such-container, timeout: 5s}}\n\
                tests: [{name: a, ping: true}]";
    let results = block_on(outcomes(text, false));
    let Some(Outcome::Failed(failed)) = &results[0].1 else { panic!("{results:?}") };
    assert!(failed.failures[0].message.starts_with("cannot use server `it`: "), "{failed:?}");
}

#[test]
fn reports_a_server_that_exits_at_once_with_its_stderr() {
    let text = "servers: {it: {command: sh, args: [-c, \"echo cannot open config >&2; exit 3\"]}}\n\
                tests: [{name: a, ping: true}]";
    let results = block_on(outcomes(text, false));
    let Some(Outcome::Failed(failed)) = &results[0].1 else { panic!("{results:?}") };
    assert!(failed.failures[0].message.contains("exited with status 3"), "{failed:?}");
    assert_eq!(failed.stderr, "cannot open config");
}

#[test]
fn reports_an_unset_variable_at_its_position() {
    let text = "servers: {it: {command: \"${NOBODY}\"}}\ntests: [{name: a, ping: true}]";
    let results = block_on(outcomes(text, false));
    let Some(Outcome::Failed(failed)) = &results[0].1 else { panic!("{results:?}") };
    let failure = &failed.failures[0];
    assert!(failure.message.contains("environment variable `NOBODY` is not set"), "{failure:?}");
    assert_eq!(&text[failure.span.start..failure.span.end], "\"${NOBODY}\"");
}
