//! Loading reports all problems of a script, with position, caret and suggestion.

use sparring_mock::MockServer;

fn reported(script: &str) -> String {
    match MockServer::from_yaml(script, "tests") {
        Ok(_) => panic!("{script}\nis taken for good"),
        Err(problems) => problems.to_string(),
    }
}

#[track_caller]
fn check(script: &str, place: &str, message: &str) {
    let reported = reported(script);
    assert!(reported.contains(message), "{message} is not in\n{reported}");
    assert!(reported.contains(&format!("mock.yaml:{place}\n")), "{place} is not in\n{reported}");
}

#[test]
fn reports_all_problems_at_once() {
    let script = "\
tols: []
tools:
  - {name: a, input: {x: strin}, text: \"${agrs.x}\"}
  - {name: a, image: {data: \"%\", mime_type: image/png}}
  - {nmae: b, text: x, delay: soon}
";
    let expected = "\
error: unknown key `tols` in a script
 --> mock.yaml:1:1
  |
1 | tols: []
  | ^^^^
  |
  = help: did you mean 'tools'?

error: unknown type `strin`
 --> mock.yaml:3:26
  |
3 |   - {name: a, input: {x: strin}, text: \"${agrs.x}\"}
  |                          ^^^^^
  |
  = help: did you mean 'string'?

error: ${agrs.x}: unknown name `agrs`
 --> mock.yaml:3:40
  |
3 |   - {name: a, input: {x: strin}, text: \"${agrs.x}\"}
  |                                        ^^^^^^^^^^^
  |
  = help: did you mean 'args'?

error: duplicate tool `a`
 --> mock.yaml:4:12
  |
4 |   - {name: a, image: {data: \"%\", mime_type: image/png}}
  |            ^

error: not Base64: Invalid symbol 37, offset 0.
 --> mock.yaml:4:29
  |
4 |   - {name: a, image: {data: \"%\", mime_type: image/png}}
  |                             ^^^

error: missing key `name` in a tool
 --> mock.yaml:5:5
  |
5 |   - {nmae: b, text: x, delay: soon}
  |     ^

error: unknown key `nmae` in a tool
 --> mock.yaml:5:6
  |
5 |   - {nmae: b, text: x, delay: soon}
  |      ^^^^
  |
  = help: did you mean 'name' or 'image'?

error: `soon` is not a duration (try `200ms` or `2s`)
 --> mock.yaml:5:31
  |
5 |   - {nmae: b, text: x, delay: soon}
  |                               ^^^^";
    let reported = reported(script);
    assert_eq!(reported, expected, "{reported}");
}

#[test]
fn reports_an_invalid_schema() {
    check("tools: [{name: a, input_schema: {type: nope}, text: x}]", "1:33", "not a JSON Schema");
    check("tools: [{name: a, input_schema: {type: array}, text: x}]", "1:33", "`type: object`");
    check("tools: [{name: a, output_schema: {type: 1}, text: x}]", "1:34", "not a JSON Schema");
    check("tools: [{name: a, input: {}, input_schema: {type: object}, text: x}]", "1:44", "either");
}

#[test]
fn reports_an_unreachable_reply() {
    let script = "tools:\n  - name: a\n    replies:\n      - text: x\n      - text: y\n";
    check(script, "5:9", "is never reached");
    check("tools: [{name: a, replies: []}]", "1:28", "`replies` is empty");
    check("tools: [{name: a, text: x, replies: [{text: y}]}]", "1:19", "beside `replies`");
}

#[test]
fn reports_a_reply_that_no_request_reaches() {
    let tool = |input: &str, first: &str| {
        let replies = format!("[{{when: {{{first}}}, text: x}}, {{when: {{calls: 2}}, text: y}}]");
        format!("protocol: 2025-06-18\ntools: [{{name: a, {input}, replies: {replies}}}]")
    };
    let city = "input: {city: string, days: integer}";
    for (input, first, message) in [
        (city, "calls: 0", "requests are counted from 1"),
        (city, "calls: 2", "an earlier one has the same `when`"),
        (city, "revision: 2026-07-28", "`protocol` has no such revision"),
        (city, "args: {city: 5}", "the input schema refuses this: 5 is not of type"),
        (city, "args: {days: '5'}", "the input schema refuses this: \"5\" is not of type"),
        (
            "input_schema: {type: object, properties: {u: {enum: [c, f]}}}",
            "args: {u: k}",
            "the input schema refuses this",
        ),
    ] {
        let reported = reported(&tool(input, first));
        let message = format!("this reply is never reached: {message}");
        assert!(reported.contains(&message), "{message} is not in\n{reported}");
    }
    let resource = "resources: [{uri: \"a:b\", replies: [{when: {args: {a: 1}}, text: x}]}]";
    check(resource, "1:44", "a resource has no arguments");
    for (input, first) in [
        (city, "args: {city: Oslo, days: 5}"),
        (city, "args: {city: {contains: s}}"),
        (city, "revision: {not: 2026-07-28}"),
        (city, "calls: {gt: 2}"),
        ("validate: false, input: {city: string}", "args: {city: 5}"),
    ] {
        let script = tool(input, first);
        MockServer::from_yaml(&script, "tests").unwrap_or_else(|it| panic!("{script}\n{it}"));
    }
    let twice = "tools: [{name: a, replies: [{when: {args: {b: 1}}, times: 1, text: x}, \
                 {when: {args: {b: 1}}, text: y}]}]";
    MockServer::from_yaml(twice, "tests").unwrap();
}

#[test]
fn reports_faults_of_an_answer_that_is_not_sent() {
    for (first, name) in [
        ("silent: true", "silent"),
        ("exit: 3", "exit"),
        ("disconnect: before", "disconnect: before"),
    ] {
        for second in ["duplicate: true", "slow: 5", "truncate: true", "oversized: 9"] {
            let script = format!("tools: [{{name: a, text: x, fault: {{{first}, {second}}}}}]");
            let key = second.split(':').next().unwrap();
            let message = format!("`{key}` has no effect: `{name}` prevents any answer");
            let place = format!("1:{}", script.find(second).unwrap() + 1);
            check(&script, &place, &message);
        }
    }
    let both = "tools: [{name: a, text: x, fault: {exit: 3, disconnect: after, duplicate: true}}]";
    MockServer::from_yaml(both, "tests").unwrap();
}

#[test]
fn reports_what_no_revision_of_the_script_has() {
    let script = |keys: &str| format!("protocol: [2024-11-05, 2025-03-26]\n{keys}");
    for (keys, place, message) in [
        ("tools: [{name: a, text: x, requires: elicitation}]", "2:38", "no `elicitation`"),
        (
            "tools: [{name: a, text: x, ask: {q: {elicitation: {message: hi}}}}]",
            "2:38",
            "no `elicitation`",
        ),
        ("cache: {ttl: 5s}\ntools: []", "2:8", "no revision of `protocol` has caching hints"),
        ("resources: [{uri: \"a:b\", text: x, cache: {ttl: 5s}}]", "2:42", "caching hints"),
    ] {
        check(&script(keys), place, message);
        MockServer::from_yaml(keys, "tests").unwrap();
    }
    MockServer::from_yaml(&script("tools: [{name: a, text: x, requires: roots}]"), "tests")
        .unwrap();
}

#[test]
fn reports_completions_without_effect() {
    let script = |completions: &str| {
        format!(
            "prompts: [{{name: p, text: x, arguments: [{{name: city}}]}}]\n\
             templates: [{{uri_template: \"a://{{id}}{{?q}}\", text: x}}]\n\
             completions: [{completions}]"
        )
    };
    let of = |target: &str, argument: &str| {
        let target = target.replace('T', "template: \"a://{id}{?q}\"").replace('P', "prompt: p");
        format!("{{{target}, argument: {argument}, values: []}}")
    };
    check(&script(&of("P", "cty")), "3:37", "the prompt has no argument `cty`");
    check(&script(&of("T", "x")), "3:52", "the template has no argument `x`");
    let twice = format!("{}, {}", of("P", "city"), of("P", "city"));
    check(&script(&twice), "3:78", "duplicate completion of `city`");
    let good = [of("P", "city"), of("T", "id"), of("T", "q")].join(", ");
    MockServer::from_yaml(&script(&good), "tests").unwrap();
}

#[test]
fn reports_paths_that_cannot_be_served() {
    check("paths: {mcp: x}\ntools: []", "1:14", "the path must begin with `/`");
    check("paths: {mcp: /a, sse: /a}\ntools: []", "1:23", "`sse` and `mcp` have the same path");
    check("paths: {mcp: /messages}\ntools: []", "1:14", "`mcp` and `messages` have the same path");
    check("auth: {bearer: ''}\ntools: []", "1:16", "the token is empty");
}

#[test]
fn reports_missing_and_conflicting_bodies() {
    check("tools: [{name: a}]", "1:9", "the reply has no answer: give one of text, json, image");
    check("tools: [{name: a, text: x, error: {message: y}}]", "1:28", "is the complete answer");
    for body in ["error: {message: y}", "raw: x", "http: {url: \"http://a\"}"] {
        let script = format!("tools: [{{name: a, replies: [{{_meta: {{a: 1}}, {body}}}]}}]");
        check(&script, "1:30", "is the complete answer");
    }
    for body in ["error: {message: y}", "result: {content: []}", "raw: x"] {
        let script = format!("tools: [{{name: a, is_error: true, {body}}}]");
        check(&script, "1:19", "is the complete answer");
    }
    check("tools: [{name: a, content: [{text: x, json: 1}]}]", "1:29", "exactly one of text");
    check("resources: [{uri: \"a:b\", text: x, blob: AAEC}]", "1:13", "exactly one of text, json");
    check("prompts: [{name: p, text: x, messages: []}]", "1:11", "either `messages` or `text`");
    check("tools: [{name: a, image: {data: AAEC}}]", "1:26", "`mime_type` is missing");
    check("tools: [{name: a, image: {file: nope.png}}]", "1:33", "cannot read tests/nope.png");
}

#[test]
fn checks_template_paths_as_far_as_they_are_known() {
    check(
        "vars: {host: x}\ntools: [{name: a, text: \"${vars.hots}\"}]",
        "2:25",
        "vars has no `hots`",
    );
    check(
        "tools: [{name: a, ask: {b: {roots: {}}}, text: \"${answers.c}\"}]",
        "1:48",
        "answers has no `c`",
    );
    check("tools: [{name: a, text: \"${random.dice}\"}]", "1:25", "random has no `dice`");
    check("tools: [{name: a, text: \"${calls.b.count}\"}]", "1:25", "calls has no `b`");
    check("tools: [{name: a, text: \"${args.x\"}]", "1:26", "not closed");
    check(
        "tools: [{name: a, replies: [{when: {args: {x: \"${args.y}\"}}, text: x}]}]",
        "1:47",
        "only `vars` can be used here",
    );
}

#[test]
fn reports_references_to_unknown_entries() {
    check(
        "tools: [{name: abc, after: [{show: {tool: abd}}], text: x}]",
        "1:43",
        "no such tool: `abd`",
    );
    check("completions: [{prompt: p, argument: a, values: []}]", "1:24", "no such prompt: `p`");
    check("completions: [{argument: a, values: []}]", "1:15", "either `prompt` or `template`");
    check("templates: [{uri_template: \"a://{x\", text: x}]", "1:28", "not a URI template");
}

#[test]
fn steps_and_questions_are_checked() {
    check("tools: [{name: a, during: [brake_off], text: x}]", "1:28", "expected one of break_off");
    check("tools: [{name: a, after: [{progress: 1}], text: x}]", "1:28", "unknown key `progress`");
    for key in ["during", "after"] {
        for (steps, what) in [("[]", "list"), ("[{}]", "map")] {
            let script = format!("tools: [{{name: a, text: x, {key}: {steps}}}]");
            assert!(reported(&script).contains(&format!("the {what} is empty")), "{script}");
        }
    }
    check("tools: [{name: a, during: [{show: {}}], text: x}]", "1:35", "exactly one of tool");
    check("tools: [{name: a, ask: {b: {}}, text: x}]", "1:28", "exactly one of elicitation");
    check(
        "tools: [{name: a, ask: [{b: {roots: {}}}, {b: {roots: {}}}], text: x}]",
        "1:44",
        "duplicate question",
    );
    check("tools: [{name: a, delay: [2s, 1s], text: x}]", "1:26", "minimum and maximum");
    check("timers: [{notify: x}]", "1:10", "either `every` or `after`");
    check("timers: [{every: 0s, notify: x}]", "1:10", "longer than 0");
    check("timers: [{every: 1s}]", "1:10", "the timer has no steps");
    check(
        "timers: [{every: 1s, notify: {method: x, params: {a: \"${args.b}\"}}}]",
        "1:54",
        "only `vars` can be used",
    );
}

#[test]
fn reports_an_invalid_matcher() {
    let script = "tools: [{name: a, replies: [{when: {args: {x: {matches: \"(\"}}}, text: x}]}]";
    check(script, "1:57", "invalid regular expression");
}

#[test]
fn reports_an_invalid_issuer() {
    let oauth = |keys: &str| format!("auth: {{oauth: {{{keys}}}}}\ntools: [{{name: a, text: x}}]");
    for (keys, place, message) in [
        ("path: as", "1:22", "the path must be a URL path such as `/as`"),
        ("path: \"/a?b\"", "1:22", "the path must be a URL path such as `/as`"),
        ("scopes: [a b]", "1:25", "a scope cannot have spaces"),
        ("scopes: [read], requires: raed", "1:42", "did you mean 'read'?"),
        ("scopes: [read], tools: {a: write}", "1:43", "`write` is not in `scopes`"),
        ("tools: {b: read}", "1:24", "no such tool: `b`"),
        ("clients: [{secret: x}]", "1:26", "missing key `id`"),
        ("clients: [{id: a}, {id: a}]", "1:35", "duplicate client id `a`"),
        ("clients: [{id: a, secret: s, key: k}]", "1:50", "give either `secret` or `key`"),
        ("clients: [{id: a, key: nope.pem}]", "1:39", "cannot read tests/nope.pem"),
        ("clients: [{id: a, key: it/main.rs}]", "1:39", "not a PEM key: not a key in PEM"),
        ("clients: [{id: a, redirect_uris: /back}]", "1:49", "a redirect URI must be absolute"),
        ("wrong: sideways", "1:23", "sideways"),
        ("refresh: sometimes", "1:25", "sometimes"),
        ("refuse: a b", "1:24", "an OAuth error is a word"),
        ("lifetime: 5", "1:26", "a duration such as 200ms"),
        ("lifetime: 100ms", "1:26", "the lifetime must be in whole seconds"),
        ("login: []", "1:23", "the list is empty"),
        ("refuse: []", "1:24", "the list is empty"),
        ("wrong: []", "1:23", "the list is empty"),
        ("scope: read", "1:16", "did you mean 'scopes'?"),
    ] {
        check(&oauth(keys), place, message);
    }
}

/// Builds a schema with too many shared alternatives to check.
fn complex_schema() -> String {
    let levels = (0..40).map(|level| {
        let next = format!("{{$ref: '#/$defs/l{}'}}", level + 1);
        format!("l{level}: {{anyOf: [{next}, {next}]}}")
    });
    let levels: Vec<String> = levels.chain(["l40: {type: string}".to_owned()]).collect();
    format!("{{type: object, $ref: '#/$defs/l0', $defs: {{{}}}}}", levels.join(", "))
}

#[test]
fn a_too_complex_schema_can_be_listed_but_not_used() {
    let schema = complex_schema();
    let script = |keys: &str| format!("tools:\n  - {{name: a, text: x, {keys}: {schema}}}\n");
    check(&script("input_schema"), "2:38", "schema too complex to check");
    for keys in ["output_schema", "validate: false, input_schema"] {
        MockServer::from_yaml(&script(keys), "tests").unwrap();
    }
}
