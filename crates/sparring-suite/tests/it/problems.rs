//! Loading reports all problems of a suite, each with its position.

use crate::fixture::read;

/// Checks that a suite with this test on a mock has exactly these problems.
#[track_caller]
fn check(test: &str, expected: &[&str]) {
    check_suite(
        &format!("servers: {{it: {{mock: trainer.mock.yaml}}}}\ntests: [{{name: a, {test}}}]"),
        expected,
    );
}

#[track_caller]
fn check_suite(text: &str, expected: &[&str]) {
    let problems = read(text).err().unwrap_or_default();
    for part in expected {
        assert!(problems.contains(part), "{text}\nexpected {part:?} in:\n{problems}");
    }
    let count = problems.lines().filter(|line| line.starts_with("error: ")).count();
    assert_eq!(count, expected.len(), "{problems}");
}

#[test]
fn reports_answers_that_no_client_can_give() {
    let check = |answer: &str, expected: &[&str]| {
        check(&format!("call: ask, answer: {{{answer}}}"), expected);
    };
    check("elicitation: {acton: decline}", &["did you mean 'action'?", "missing key `action`"]);
    check("elicitation: {action: declin}", &["did you mean 'decline'?"]);
    check("elicitation: {action: accept, contnt: {}}", &["did you mean 'content'?"]);
    check("elicitation: {}", &["missing key `action`"]);
    check("elicitation: {action: accept, content: 5}", &["expected a map, found a number"]);
    check("elicitation: [{action: accept, expect: {text: a}}]", &["unknown key `expect`"]);
    let sampling = |rest: &str| format!("sampling: {{model: m, {rest}}}");
    check(
        &sampling("rol: user, content: {type: text, text: a}"),
        &["did you mean 'role'?", "missing key"],
    );
    check(&sampling("role: assistant, content: {type: text, txt: x}"), &["unknown key `txt`"]);
    check(&sampling("role: asistant, content: []"), &["did you mean 'assistant'?", "is empty"]);
    check(&sampling("role: assistant, content: {type: txt}"), &["did you mean 'text'?"]);
    check(&sampling("role: assistant, content: \"a\""), &["expected a content block (a map)"]);
    check(&sampling("role: assistant, content: [{type: text, text: a}], stopReason: b"), &[]);
    check("elicitation: {action: \"${env:WHO}\", content: \"${env:WHO}\"}", &[]);
}

#[test]
fn reports_problems_of_keys_and_verbs() {
    // A mistyped `command` is reported once, not also as a missing kind of server.
    let mistyped = "servers: {it: {comand: x}}\ntests: [{name: a, ping: true}]";
    check_suite(mistyped, &["unknown key `comand` in a server"]);
    // A synonym is suggested before a similar name.
    for (written, meant) in [
        ("call: x, args: {}", "with"),
        ("call: x, arguments: {}", "with"),
        ("call: x, params: {}", "with"),
        ("call: x, assert: {}", "expect"),
        ("call: x, expected: {}", "expect"),
        ("tool: x", "call"),
    ] {
        check(written, &[&format!("did you mean '{meant}'?")]);
    }
    check("call: x, input: hi", &["did you mean 'with'?"]);
    // A mistyped verb is reported once, not also as a missing verb.
    check("cal: x", &["unknown key `cal` in a test"]);
    check("tags: x", &["a step needs a verb"]);
    check("call: x, read: y", &["`read` is a second verb"]);
    check("ping: false", &["`ping` can only be true"]);
    check("ping: true, with: {}", &["`with` cannot be used with `ping`"]);
    check("list: tool", &["expected one of tools, resources"]);
    check("complete: {argument: a, value: b}", &["needs either `prompt` or `template`"]);
    check(
        "complete: {prompt: p, template: t, argument: a, value: b}",
        &["needs either `prompt` or `template`"],
    );
    check("steps: []", &["`steps` is empty"]);
    check("call: x, steps: [{ping: true}]", &["`call` belongs in one of the `steps`"]);
    check("ping: true, server: ti", &["no server named `ti`"]);
}

#[test]
fn reports_expectations_that_the_verb_cannot_have() {
    check("list: tools, expect: {text: a}", &["`text` cannot be used with `list`"]);
    check("call: x, expect: {has: a}", &["`has` cannot be used with `call`"]);
    check("read: x, expect: {is_error: true}", &["`is_error` cannot be used with `read`"]);
    check("notify: x, expect: {within: 1s}", &["`within` cannot be used with `notify`"]);
    check("call: x, expect: {error: {}, text: a}", &["`text` needs a result"]);
    check("call: x, expect: {notifications: {}}", &["write `has`, `lacks` or `count`"]);
    check(
        "list: tools, expect: {has: {name: a}, count: 0}",
        &["`has` expects an item, and `count` expects none; use `lacks`"],
    );
    check("list: tools, expect: {lacks: []}", &["this expects nothing"]);
    check("call: x, expect: {}", &["the map is empty"]);
    check("call: x, expect: {called: {}}", &["this expects nothing"]);
    check("call: x, expect: {called: {it: []}}", &["the list is empty"]);
    check("call: x, expect: {text: {all: []}}", &["the list is empty"]);
    check("call: x, expect: {text: {matches: \"(\"}}", &["invalid regular expression"]);
    check(
        "call: x, expect: {stderr: a}",
        &["spar does not start `it`, so it cannot read its stderr"],
    );
    check("call: x, expect: {within: 5}", &["a duration such as 200ms, found a number"]);
}

#[test]
fn reports_matchers_that_cannot_match() {
    let expect = |expect: &str| format!("call: x, expect: {{{expect}}}");
    check(
        &expect("text: {not: {contain: cloudy}}"),
        &["`contain` is not a matcher\n --> a.spar.yaml:2:50"],
    );
    check(&expect("json: {temperature: {not: {gte: 5}}}"), &["`gte` is not a matcher"]);
    check(&expect("structured: {a: {not: {gte: 5}}, b: \"${tmp}\"}"), &["did you mean 'ge'?"]);
    check("list: tools, expect: {lacks: {nam: get_weather}}", &["no field `nam` in a tool"]);
    check("list: tools, expect: {lacks: get_weather}", &["use `{name: get_weather}`"]);
    check(
        "list: tools, expect: {lacks: {annotations: {readOnlyHnt: true}}}",
        &["no field `readOnlyHnt` in the annotations of a tool"],
    );
    check("list: resources, expect: {lacks: {urii: x}}", &["no field `urii` in a resource"]);
    check("list: templates, expect: {lacks: {uri: x}}", &["no field `uri` in a resource template"]);
    check("list: prompts, expect: {lacks: {title: {regex: x}}}", &["did you mean 'matches'?"]);
    check(
        "complete: {prompt: p, argument: a, value: b}, expect: {lacks: {name: x}}",
        &["`name` is not a matcher"],
    );
    check(&expect("notifications: {lacks: {metod: x}}"), &["no field `metod` in a message"]);
    check(&expect("requests: {lacks: {metod: x}}"), &["no field `metod` in a message"]);
    check(&expect("frames: {lacks: {metod: x}}"), &["no field `metod` in a frame"]);
    check(&expect("violations: {lacks: {rul: x}}"), &["no field `rul` in a violation"]);
    check(&expect("violations: {lacks: {rule: wire/not-jsn}}"), &["unknown value `wire/not-jsn`"]);
    check(&expect("violations: {count: {gte: 1}}"), &["did you mean 'ge'?"]);
    check(&expect("error: {kod: 1}"), &["no field `kod` in an error"]);
    check(&expect("error: {kind: timout}"), &["did you mean 'timeout'?"]);
    check(&expect("content: {not: {has: {typ: image}}}"), &["did you mean 'type'?"]);
    check(&expect("called: {it: {tool: {contian: a}, count: 0}}"), &["did you mean 'contains'?"]);
    check(&expect("text: {exists: true}"), &["`exists` has no effect here"]);
    check(&expect("text: 5"), &["expected a string, found a number"]);
}

#[test]
fn reports_problems_of_steps_other_than_requests() {
    check("wait: 1s", &["`wait` needs an `expect` of one of notifications"]);
    check(
        "wait: 1s, expect: {within: 1s}",
        &["`wait` needs", "`within` cannot be used with `wait`"],
    );
    check("wait: true", &["expected a duration such as 200ms", "`wait` needs"]);
    check("sleep: 5", &["a duration such as 200ms, found a number"]);
    check("restart: false", &["`restart` can only be true"]);
    check("send: {}", &["write a string, `json` or `base64`"]);
    check("send: {json: 1, base64: AA}", &["write a string, `json` or"]);
    check("send: {base64: \"?\"}", &["not Base64"]);
    check("send: x, expect: {error: {}}", &["`error` cannot be used with `send`"]);
    check("send: x, save: {a: result}", &["`send` has no `result`"]);
    check("list: tools, cancel: {after: 1s}", &["`cancel` cannot be used with `list`"]);
    check("call: x, cancel: {}", &["missing key `after` in a cancellation"]);
    check("call: x, cancel: {after: 1s}, expect: {text: a}", &["has no answer for `text`"]);
    check("call: x, cancel: {after: 1s}, save: {a: text}", &["has no answer to save from"]);
    check("subscribe: x, expect: {text: a}", &["`text` cannot be used with `subscribe`"]);
    check("subscribe: x, with: {}", &["`with` cannot be used with `subscribe`"]);
    let on = |server: &str, test: &str| {
        format!("servers: {{it: {server}}}\ntests: [{{name: a, {test}}}]")
    };
    check_suite(
        &on("{command: a}", "ping: true, expect: {status: 200, headers: {a: b}}"),
        &["`it` does not use HTTP\n --> a.spar.yaml:2:40", "2:53"],
    );
    check_suite(&on("{url: \"http://a\"}", "restart: true"), &["so it cannot restart it"]);
    check_suite(&on("{command: a, concurrency: 0}", "ping: true"), &["of at least 1"]);
}

#[test]
fn reports_problems_of_templates_and_paths() {
    check("call: \"${x\"", &["is not closed"]);
    check("call: \"${x}\"", &["no earlier step saves `x`"]);
    check("call: \"${MY_TOKEN}\"", &["for an environment variable, write ${env:MY_TOKEN}"]);
    check("call: \"${env}\"", &["write ${env:NAME}"]);
    check("steps: [{call: a, save: {city: text}}, {call: \"${ctiy}\"}]", &["did you mean 'city'?"]);
    check("call: a, expect: {text: \"${later}\"}, save: {later: text}", &["no earlier step saves"]);
    check("call: a, save: {x: \"[\"}", &["not a path"]);
    check("call: a, save: {x: txet}", &["`call` has no `txet`"]);
    check("list: tools, save: {x: text}", &["`list` has no `text`"]);
    check("call: a, save: {tmp: text}", &["`tmp` is reserved in templates"]);
}

#[test]
fn reports_problems_of_servers() {
    let with =
        |server: &str| format!("servers: {{it: {server}}}\ntests: [{{name: a, ping: true}}]");
    check_suite(
        "tests: [{name: a, ping: true}]",
        &["test `a` needs a server, and the suite has none"],
    );
    check_suite("servers: {}\ntests: []", &["`servers` is empty", "`tests` is empty"]);
    check_suite(&with("{}"), &["needs one of `command`, `url` and `mock`"]);
    check_suite(&with("{url: \"http://a\", mock: m}"), &["needs one of"]);
    check_suite(&with("{url: \"http://a\", args: [b]}"), &["`args` cannot be used with `url`"]);
    check_suite(&with("{command: a, transport: stdio}"), &["cannot be used with `command`"]);
    check_suite(&with("{command: a, protocol: 2025-11-2}"), &["did you mean '2025-11-25'"]);
    check_suite(&with("{command: a, protocol: []}"), &["the list is empty, and has no effect"]);
    check_suite(&with("{mock: trainer.mock.yaml, transport: []}"), &["the list is empty"]);
    check_suite(&with("{command: \"a 'b\"}"), &["this command has an unclosed quote"]);
    check_suite(&with("{command: \"\"}"), &["the command is empty"]);
    check_suite(&with("{command: \"\", args: [a]}"), &["the command is empty"]);
    check_suite(&with("{mock: no.mock.yaml}"), &["cannot read"]);
    check_suite(&with("{command: a, env: {A: 1}}"), &["expected a string, found a number"]);
}

#[test]
fn reports_problems_of_mocks() {
    let with = |mocks: &str, test: &str| {
        format!(
            "servers: {{it: {{mock: trainer.mock.yaml}}}}\nmocks: {{{mocks}}}\n\
             tests: [{{name: a, {test}}}]"
        )
    };
    let of = |mock: &str| with(&format!("api: {mock}"), "ping: true");
    check_suite(
        &of("{}"),
        &[
            "needs one of `http`, `mock`, `mcp_interactions`, `turns`, `openai`, `anthropic` and `gemini`",
        ],
    );
    check_suite(&of("{http: [], transport: http}"), &["`transport` cannot be used with `http`"]);
    check_suite(
        &of("{mcp_interactions: [], vars: {}}"),
        &["cannot be used with `mcp_interactions`"],
    );
    check_suite(&of("{mock: no.mock.yaml}"), &["cannot read"]);
    check_suite(&of("{mock: trainer.mock.yaml, transport: memory}"), &["one of stdio, http, sse"]);
    check_suite(&of("{http: [{when: {}}]}"), &["missing key `reply` in a route"]);
    check_suite(&of("{http: [{reply: {json: 1, text: a}}]}"), &["cannot be used with `json`"]);
    check_suite(&of("{http: [{reply: {status: 600}}]}"), &["the highest status is 599"]);
    check_suite(&of("{http: [{reply: {fault: {}}}]}"), &["write one of `disconnect`, `silent`"]);
    check_suite(&of("{http: [{reply: {fault: {silent: false}}}]}"), &["`silent` can only be true"]);
    check_suite(&of("{http: [{when: {path: /a?b}, reply: {}}]}"), &["a path has no query"]);
    check_suite(&of("{http: [{when: {paht: /a}, reply: {}}]}"), &["did you mean 'path'?"]);
    check_suite(&with("it: {http: []}", "ping: true"), &["a server is already named `it`"]);
    let api = "api: {http: [{reply: {}}]}, data: {mcp_interactions: [], transport: stdio}";
    let of = |test: &str| with(api, test);
    check_suite(&of("call: \"${mocks.apj.url}\""), &["no mock named `apj`"]);
    check_suite(&of("call: \"${mocks.api}\""), &["write ${mocks.NAME.url}"]);
    check_suite(&of("call: \"${mocks.api.ulr}\""), &["`api` has no `ulr`; it has url"]);
    check_suite(&of("call: \"${mocks.data.url}\""), &["`data` has no `url`; it has command"]);
    let expect = |expect: &str| of(&format!("ping: true, expect: {{{expect}}}"));
    check_suite(&expect("received: {apj: {}}"), &["did you mean 'api'?"]);
    check_suite(&expect("called: {api: {}}"), &["use `received`"]);
    check_suite(&expect("received: {data: {query: {}}}"), &["`query` needs an HTTP server"]);
    check_suite(&expect("received: {api: {pth: 1}}"), &["did you mean 'path'?"]);
    let later = "a: {mock: upstream.mock.yaml, vars: {api: \"${mocks.b.url}\"}}, b: {http: []}";
    check_suite(&with(later, "ping: true"), &["is started later; move it up"]);
}

#[test]
fn reports_problems_of_agents() {
    let with = |top: &str, test: &str| format!("{top}\ntests: [{{name: a, {test}}}]");
    let agent = "agent: {command: sh}";
    let of = |test: &str| with(agent, test);
    check_suite(&with("", "input: hi"), &["the suite has no agent for this input"]);
    check_suite(&with("agent: {args: [a]}", "input: hi"), &["needs a `command`"]);
    check_suite(&of("input: hi, call: x"), &["`call` is a second verb"]);
    check_suite(&of("input: hi, with: {}"), &["`with` cannot be used with an agent"]);
    check_suite(&of("input: hi, answer: {roots: []}"), &["`answer` cannot be used with an agent"]);
    check_suite(&of("input: hi, expect: {text: a}"), &["`text` cannot be used with `agent`"]);
    check_suite(
        &of("input: hi, expect: {requests: {count: 0}}"),
        &["`requests` cannot be used with `agent`"],
    );
    check_suite(&of("input: hi, save: {x: text}"), &["has no `text`"]);
    check_suite(&of("input: \"${input}\""), &["`input` cannot use `${input}`"]);
    check_suite(&with("", "agent: {command: \"${x}\"}"), &["no earlier step saves `x`"]);
    check("call: x, expect: {exit: 0}", &["`exit` cannot be used with `call`"]);
    check("call: \"${input}\"", &["only an agent step has `${input}`"]);
    check_suite(
        &with("agent: {command: a, stdin: \"${mocks.x.url}\"}", "input: a"),
        &["no mock named `x`"],
    );
    let files = |files: &str| of(&format!("input: hi, expect: {{files: {{{files}}}}}"));
    check_suite(&files("../a: {}"), &["only files below ${tmp}"]);
    check_suite(&files("/etc/passwd: {}"), &["only files below ${tmp}"]);
    check_suite(&files("\"[a\": {}"), &["not a file pattern"]);
    check_suite(
        &files("a: {exists: false, text: b}"),
        &["`text` cannot be used with `exists: false`"],
    );
    let brought = "mcp_interactions: [{content: []}]";
    let mock = "mocks: {data: {mcp_interactions: []}}";
    check_suite(&of(&format!("input: hi, {brought}")), &["the suite has no mock for these"]);
    check_suite(&with(&format!("{agent}\n{brought}"), "input: hi"), &["the suite has no mock for"]);
    check_suite(
        &with(
            &format!("servers: {{it: {{mock: trainer.mock.yaml}}}}\n{mock}"),
            &format!("ping: true, {brought}"),
        ),
        &["no step runs an agent that could carry"],
    );
}

#[test]
fn reports_problems_of_names() {
    let two = |a: &str, b: &str| {
        let tests = format!("tests: [{{name: {a}, ping: true}}, {{name: {b}, ping: true}}]");
        format!("servers: {{it: {{mock: trainer.mock.yaml}}}}\n{tests}")
    };
    check("cases: [], ping: true", &["`cases` is empty"]);
    check("cases: [{x: 1}, {x: 2}], call: \"${x}\"", &["a test named `a` exists already"]);
    check("cases: [{tmp: 1}], ping: true", &["`tmp` is reserved in templates"]);
    check("cases: [{x: 1}], call: \"${y}${x}\"", &["no earlier step saves `y`"]);
    let named = "servers: {it: {mock: trainer.mock.yaml}}\n\
                 tests: [{name: \"${y}\", cases: [{x: 1}], call: \"${x}\"}]";
    check_suite(named, &["the case has no value `y`"]);
    check_suite(&two("a", "a"), &["a test named `a` exists already"]);
    check_suite(&two("a", "\" \""), &["the name is empty"]);
}

#[test]
fn reports_columns_that_no_template_uses() {
    let step = "call: echo, with: {message: \"${n}\"}";
    let unused = |column: &str, row: &str, help: &str| {
        let message = format!("no template uses the column `{column}`");
        let problems = read(&format!(
            "servers: {{it: {{mock: trainer.mock.yaml}}}}\n\
             tests: [{{name: a, cases: [{{{row}}}], {step}}}]"
        ));
        let problems = problems.unwrap_err();
        assert!(problems.contains(&message) && problems.contains(help), "{problems}");
    };
    unused("expect", "n: 1, expect: {text: nope}", "move it to the test");
    unused("m", "n: 1, m: 2", "write `${m}` where the test needs the value");
    check(&format!("cases: [{{n: 1}}, {{}}], {step}"), &["no values", "already", "saves `n`"]);
    let used = |test: &str| {
        let text = format!(
            "servers: {{it: {{mock: trainer.mock.yaml}}}}\n\
             fragments: {{say: [{{call: echo, with: {{\"${{key:-message}}\": hi, message: \"${{n}}\"}}}}]}}\n\
             tests: [{{{test}}}]"
        );
        read(&text).unwrap_or_else(|problems| panic!("{test}: {problems}"));
    };
    used("name: a, cases: [{n: 1}], use: say");
    used("name: \"a ${n}\", cases: [{n: 1}], ping: true");
    used("name: a, cases: [{n: {a: 1}}], call: echo, expect: {json: {b: \"${n.a}\"}}");
    used("name: a, cases: [{n: 1}], setup: [{call: \"${n}\"}], ping: true");
    used("name: a, cases: [{n: 1, m: 2}], call: \"${n}\", teardown: [{call: \"${m:-x}\"}]");
}

#[test]
fn reports_keys_without_effect() {
    for empty in ["setup: []", "teardown: []", "tags: \"\"", "tags: [a, \" \"]", "skip: \"\""] {
        check(&format!("ping: true, {empty}"), &["is empty"]);
    }
    let server = |keys: &str, expected: &str| {
        let text = format!(
            "servers: {{it: {{mock: trainer.mock.yaml, {keys}}}}}\ntests: [{{name: a, ping: true}}]"
        );
        check_suite(&text, &[expected]);
    };
    server("protocol: [2025-11-25, 2025-11-25]", "`2025-11-25` is here twice");
    server("transport: [http, http]", "`http` is here twice");
    server("timeout: 0s", "a timeout of zero leaves no time for an answer");
    server("capabilities: {smapling: {}}", "did you mean 'sampling'?");
    server("capabilities: {roots: {listChangd: true}}", "did you mean 'listChanged'?");
    read(
        "servers: {it: {mock: trainer.mock.yaml, process: false}}\ntests: [{name: a, ping: true}]",
    )
    .unwrap();
    check("ping: true, timeout: 0s", &["a timeout of zero leaves no time for an answer"]);
    let top = |key: &str, expected: &str| {
        let servers = "servers: {it: {mock: trainer.mock.yaml}}";
        check_suite(&format!("{servers}\n{key}\ntests: [{{name: a, ping: true}}]"), &[expected]);
    };
    top("mocks: {}", "the map is empty");
    top("fragments: {}", "the map is empty");
    let routes = |routes: &str, expected: &str| {
        top(&format!("mocks: {{api: {{http: [{routes}]}}}}"), expected)
    };
    routes("{reply: {text: a}}, {when: {path: /b}, reply: {text: b}}", "no request gets to this");
    routes("{when: {}, reply: {text: a}}, {reply: {text: b}}", "no request gets to this route");
    routes("{when: {path: a}, reply: {text: a}}", "because a path begins with `/`");
    routes("{when: {method: gte}, reply: {text: a}}", "did you mean 'GET'?");
}

#[test]
fn reports_words_that_nothing_can_have_below_a_negation() {
    let message = "did you mean 'notifications/message'?";
    check("call: two, expect: {notifications: {lacks: {method: message}}}", &[message]);
    let message = "did you mean 'notifications/tools/list_changed'?";
    check(
        "call: two, expect: {notifications: {lacks: {method: notifications/tools/list_chagned}}}",
        &[message],
    );
    check("call: two, expect: {requests: {lacks: {method: my/own}}}", &[]);
    check(
        "call: two, expect: {violations: {lacks: {rule: {starts_with: wyre/}}}}",
        &["`starts_with: wyre/` matches none of the known values"],
    );
    check(
        "prompt: greet, expect: {content: {not: {has: {content: {txt: a}}}}}",
        &["no field `txt` in a content block"],
    );
    check("call: echo, expect: {contains: a}", &["did you mean 'text' or 'has'?"]);
    check(
        "call: echo, expect: {received: {it: {method: tools/cal, count: 0}}}",
        &["did you mean 'tools/call'?"],
    );
}

#[test]
fn reports_problems_of_a_mock_script_in_its_own_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.mock.yaml");
    std::fs::write(&path, "tools: [{nmae: a}]").unwrap();
    let text = format!(
        "servers: {{it: {{mock: \"{}\"}}}}\ntests: [{{name: a, pign: true}}]",
        path.display()
    );
    let problems = read(&text).unwrap_err();
    for part in
        ["a.mock.yaml:1:10", "unknown key `nmae`", "a.spar.yaml:2:19", "did you mean 'ping'?"]
    {
        assert!(problems.contains(part), "{part} in\n{problems}");
    }
}
