//! Everything that is wrong with a suite is told, each with its place.

use crate::fixture::read;

/// Reads a suite with one test on a mock.
#[track_caller]
fn check(test: &str, expected: &[&str]) {
    check_suite(
        &format!("servers: {{it: {{mock: trainer.mock.yaml}}}}\ntests: [{{name: a, {test}}}]"),
        expected,
    );
}

#[track_caller]
fn check_suite(text: &str, expected: &[&str]) {
    let told = read(text).err().unwrap_or_default();
    for part in expected {
        assert!(told.contains(part), "{text}\nmust tell {part:?}, and tells:\n{told}");
    }
    let count = told.lines().filter(|line| line.starts_with("error: ")).count();
    assert_eq!(count, expected.len(), "{told}");
}

#[test]
fn keys_and_verbs() {
    // What is meant is told once, of a server as of a verb.
    let mistyped = "servers: {it: {comand: x}}\ntests: [{name: a, ping: true}]";
    check_suite(mistyped, &["unknown key `comand` in a server"]);
    // That there is no verb is not told besides.
    check("cal: x", &["unknown key `cal` in a test"]);
    check("tags: x", &["a step must have a verb"]);
    check("call: x, read: y", &["`read` is a second verb"]);
    check("ping: false", &["only `ping: true` makes sense"]);
    check("ping: true, with: {}", &["`with` does not go with `ping`"]);
    check("list: tool", &["expected one of tools, resources"]);
    check("complete: {argument: a, value: b}", &["must have one of `prompt` and `template`"]);
    check("complete: {prompt: p, template: t, argument: a, value: b}", &["must have one of"]);
    check("steps: []", &["there is no step"]);
    check("call: x, steps: [{ping: true}]", &["`call` belongs into one of the `steps`"]);
    check("ping: true, server: ti", &["there is no server `ti`"]);
}

#[test]
fn expectations_that_the_verb_cannot_meet() {
    check("list: tools, expect: {text: a}", &["`list` gives nothing that `text` could look at"]);
    check("call: x, expect: {has: a}", &["`call` gives nothing that `has` could look at"]);
    check("read: x, expect: {is_error: true}", &["`read` gives nothing that `is_error`"]);
    check("notify: x, expect: {within: 1s}", &["`notify` gives nothing that `within`"]);
    check("call: x, expect: {error: {}, text: a}", &["no result that `text` could look at"]);
    check("call: x, expect: {notifications: {}}", &["one of `has`, `lacks` and `count`"]);
    check("list: tools, expect: {lacks: []}", &["nothing is expected here"]);
    check("call: x, expect: {called: {}}", &["nothing is expected here"]);
    check("call: x, expect: {called: {it: []}}", &["nothing is expected here"]);
    check("call: x, expect: {text: {all: []}}", &["the list is empty"]);
    check("call: x, expect: {text: {matches: \"(\"}}", &["no regular expression"]);
    check("call: x, expect: {stderr: a}", &["the stderr of `it` cannot be seen from here"]);
    check("call: x, expect: {within: 5}", &["a time such as 200ms, found a number"]);
}

#[test]
fn steps_that_are_more_than_a_request() {
    check("wait: 1s", &["`wait` needs an `expect` of one of notifications"]);
    check("wait: 1s, expect: {within: 1s}", &["`wait` needs", "gives nothing that `within`"]);
    check("wait: true", &["expected a time such as 200ms", "`wait` needs"]);
    check("sleep: 5", &["a time such as 200ms, found a number"]);
    check("restart: false", &["only `restart: true` makes sense"]);
    check("send: {}", &["give a text, or one of `json` and `base64`"]);
    check("send: {json: 1, base64: AA}", &["give a text, or one of"]);
    check("send: {base64: \"?\"}", &["this is no Base64"]);
    check("send: x, expect: {error: {}}", &["`send` gives nothing that `error` could look at"]);
    check("send: x, save: {a: result}", &["`send` gives no `result`"]);
    check("list: tools, cancel: {after: 1s}", &["`cancel` does not go with `list`"]);
    check("call: x, cancel: {}", &["`after` is missing in a cancellation"]);
    check("call: x, cancel: {after: 1s}, expect: {text: a}", &["has no answer for `text`"]);
    check("call: x, cancel: {after: 1s}, save: {a: text}", &["has no answer to save from"]);
    check("subscribe: x, expect: {text: a}", &["`subscribe` gives nothing that `text`"]);
    check("subscribe: x, with: {}", &["`with` does not go with `subscribe`"]);
    let on = |server: &str, test: &str| {
        format!("servers: {{it: {server}}}\ntests: [{{name: a, {test}}}]")
    };
    check_suite(
        &on("{command: a}", "ping: true, expect: {status: 200, headers: {}}"),
        &["`it` is not talked to over HTTP\n --> a.spar.yaml:2:40", "2:53"],
    );
    check_suite(&on("{url: \"http://a\"}", "restart: true"), &["cannot be started anew"]);
    check_suite(&on("{command: a, concurrency: 0}", "ping: true"), &["of at least 1"]);
}

#[test]
fn templates_and_paths() {
    check("call: \"${x\"", &["is not closed"]);
    check("call: \"${x}\"", &["no earlier step saves `x`"]);
    check("call: \"${env}\"", &["write ${env:NAME}"]);
    check("steps: [{call: a, save: {city: text}}, {call: \"${ctiy}\"}]", &["did you mean 'city'?"]);
    check("call: a, expect: {text: \"${later}\"}, save: {later: text}", &["no earlier step saves"]);
    check("call: a, save: {x: \"[\"}", &["this is no path"]);
    check("call: a, save: {x: txet}", &["`call` gives no `txet`"]);
    check("list: tools, save: {x: text}", &["`list` gives no `text`"]);
    check("call: a, save: {tmp: text}", &["`tmp` has a meaning of its own"]);
}

#[test]
fn servers() {
    let with =
        |server: &str| format!("servers: {{it: {server}}}\ntests: [{{name: a, ping: true}}]");
    check_suite("tests: [{name: a, ping: true}]", &["`a` needs a server, and there is none"]);
    check_suite("servers: {}\ntests: []", &["there is no server", "there is no test"]);
    check_suite(&with("{}"), &["must have one of `command`, `url` and `mock`"]);
    check_suite(&with("{url: \"http://a\", mock: m}"), &["must have one of"]);
    check_suite(&with("{url: \"http://a\", args: [b]}"), &["`args` does not go with `url`"]);
    check_suite(&with("{command: a, transport: stdio}"), &["does not go with `command`"]);
    check_suite(&with("{command: a, protocol: 2025-11-2}"), &["did you mean '2025-11-25'"]);
    check_suite(&with("{command: \"a 'b\"}"), &["a quote in this command is not closed"]);
    check_suite(&with("{command: \"\"}"), &["the command is empty"]);
    check_suite(&with("{command: \"\", args: [a]}"), &["the command is empty"]);
    check_suite(&with("{mock: no.mock.yaml}"), &["cannot read"]);
    check_suite(&with("{command: a, env: {A: 1}}"), &["expected a text, found a number"]);
}

#[test]
fn mocks() {
    let with = |mocks: &str, test: &str| {
        format!(
            "servers: {{it: {{mock: trainer.mock.yaml}}}}\nmocks: {{{mocks}}}\n\
             tests: [{{name: a, {test}}}]"
        )
    };
    let of = |mock: &str| with(&format!("api: {mock}"), "ping: true");
    check_suite(
        &of("{}"),
        &["must have one of `http`, `mock`, `mcp_interactions`, `openai` and `anthropic`"],
    );
    check_suite(&of("{http: [], transport: http}"), &["`transport` does not go with `http`"]);
    check_suite(&of("{mcp_interactions: [], vars: {}}"), &["does not go with `mcp_interactions`"]);
    check_suite(&of("{mock: no.mock.yaml}"), &["cannot read"]);
    check_suite(&of("{mock: trainer.mock.yaml, transport: memory}"), &["one of stdio, http, sse"]);
    check_suite(&of("{http: [{when: {}}]}"), &["`reply` is missing in a route"]);
    check_suite(&of("{http: [{reply: {json: 1, text: a}}]}"), &["does not go with `json`"]);
    check_suite(&of("{http: [{reply: {status: 600}}]}"), &["at most 599"]);
    check_suite(&of("{http: [{reply: {fault: {}}}]}"), &["one of `disconnect`, `silent`"]);
    check_suite(&of("{http: [{reply: {fault: {silent: false}}}]}"), &["only `silent: true`"]);
    check_suite(&of("{http: [{when: {path: /a?b}, reply: {}}]}"), &["a path has no query"]);
    check_suite(&of("{http: [{when: {paht: /a}, reply: {}}]}"), &["did you mean 'path'?"]);
    check_suite(&with("it: {http: []}", "ping: true"), &["there is a server `it` already"]);
    let api = "api: {http: [{reply: {}}]}, data: {mcp_interactions: [], transport: stdio}";
    let of = |test: &str| with(api, test);
    check_suite(&of("call: \"${mocks.apj.url}\""), &["there is no mock `apj`"]);
    check_suite(&of("call: \"${mocks.api}\""), &["write ${mocks.NAME.url}"]);
    check_suite(&of("call: \"${mocks.api.ulr}\""), &["`api` has no `ulr`, it has url"]);
    check_suite(&of("call: \"${mocks.data.url}\""), &["`data` has no `url`, it has command"]);
    let expect = |expect: &str| of(&format!("ping: true, expect: {{{expect}}}"));
    check_suite(&expect("received: {apj: {}}"), &["did you mean 'api'?"]);
    check_suite(&expect("called: {api: {}}"), &["`received` looks at what comes to it"]);
    check_suite(&expect("received: {data: {}}"), &["`called` looks at what comes to it"]);
    check_suite(&expect("received: {api: {pth: 1}}"), &["did you mean 'path'?"]);
    let later = "a: {mock: upstream.mock.yaml, vars: {api: \"${mocks.b.url}\"}}, b: {http: []}";
    check_suite(&with(later, "ping: true"), &["is started later, since it stands below"]);
}

#[test]
fn agents() {
    let with = |top: &str, test: &str| format!("{top}\ntests: [{{name: a, {test}}}]");
    let agent = "agent: {command: sh}";
    let of = |test: &str| with(agent, test);
    check_suite(&with("", "input: hi"), &["there is no agent to give this to"]);
    check_suite(&with("agent: {args: [a]}", "input: hi"), &["must have a `command`"]);
    check_suite(&of("input: hi, call: x"), &["`call` is a second verb"]);
    check_suite(&of("input: hi, with: {}"), &["`with` does not go with an agent"]);
    check_suite(&of("input: hi, answer: {}"), &["`answer` does not go with an agent"]);
    check_suite(&of("input: hi, expect: {text: a}"), &["gives nothing that `text`"]);
    check_suite(&of("input: hi, expect: {requests: {count: 0}}"), &["nothing that `requests`"]);
    check_suite(&of("input: hi, save: {x: text}"), &["gives no `text`"]);
    check_suite(&of("input: \"${input}\""), &["the input cannot have itself"]);
    check_suite(&with("", "agent: {command: \"${x}\"}"), &["no earlier step saves `x`"]);
    check("call: x, expect: {exit: 0}", &["`call` gives nothing that `exit`"]);
    check("call: \"${input}\"", &["only an agent has an input"]);
    check_suite(
        &with("agent: {command: a, stdin: \"${mocks.x.url}\"}", "input: a"),
        &["no mock `x`"],
    );
    let files = |files: &str| of(&format!("input: hi, expect: {{files: {{{files}}}}}"));
    check_suite(&files("../a: {}"), &["only files below ${tmp}"]);
    check_suite(&files("/etc/passwd: {}"), &["only files below ${tmp}"]);
    check_suite(&files("\"[a\": {}"), &["this is no pattern"]);
    check_suite(&files("a: {exists: false, text: b}"), &["`text` has nothing to look at"]);
    let brought = "mcp_interactions: [{content: []}]";
    let mock = "mocks: {data: {mcp_interactions: []}}";
    check_suite(&of(&format!("input: hi, {brought}")), &["no mock that would give these"]);
    check_suite(&with(&format!("{agent}\n{brought}"), "input: hi"), &["no mock that would give"]);
    check_suite(
        &with(
            &format!("servers: {{it: {{mock: trainer.mock.yaml}}}}\n{mock}"),
            &format!("ping: true, {brought}"),
        ),
        &["no agent is run that could carry"],
    );
}

#[test]
fn names() {
    let two = |a: &str, b: &str| {
        let tests = format!("tests: [{{name: {a}, ping: true}}, {{name: {b}, ping: true}}]");
        format!("servers: {{it: {{mock: trainer.mock.yaml}}}}\n{tests}")
    };
    check("cases: [], ping: true", &["there is no case"]);
    check("cases: [{x: 1}, {x: 2}], ping: true", &["there is a test `a` already"]);
    check("cases: [{tmp: 1}], ping: true", &["`tmp` has a meaning of its own"]);
    check("cases: [{x: 1}], call: \"${y}\"", &["no earlier step saves `y`"]);
    let named = "servers: {it: {mock: trainer.mock.yaml}}\n\
                 tests: [{name: \"${y}\", cases: [{x: 1}], ping: true}]";
    check_suite(named, &["the table has no column `y`"]);
    check_suite(&two("a", "a"), &["there is a test `a` already"]);
    check_suite(&two("a", "\" \""), &["the name is empty"]);
}

#[test]
fn what_is_wrong_with_a_mock_is_told_in_its_own_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.mock.yaml");
    std::fs::write(&path, "tools: [{nmae: a}]").unwrap();
    let text = format!(
        "servers: {{it: {{mock: \"{}\"}}}}\ntests: [{{name: a, pign: true}}]",
        path.display()
    );
    let told = read(&text).unwrap_err();
    for part in
        ["a.mock.yaml:1:10", "unknown key `nmae`", "a.spar.yaml:2:19", "did you mean 'ping'?"]
    {
        assert!(told.contains(part), "{part} in\n{told}");
    }
}
