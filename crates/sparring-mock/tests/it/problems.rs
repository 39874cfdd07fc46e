//! What is wrong with a script is told before anything starts: all of it, with
//! its place, a caret, and what would be right.

use sparring_mock::MockServer;

fn told(script: &str) -> String {
    match MockServer::from_yaml(script, "tests") {
        Ok(_) => panic!("{script}\nis taken for good"),
        Err(problems) => problems.to_string(),
    }
}

#[track_caller]
fn check(script: &str, place: &str, message: &str) {
    let told = told(script);
    assert!(told.contains(message), "{message} is not in\n{told}");
    assert!(told.contains(&format!("mock.yaml:{place}\n")), "{place} is not in\n{told}");
}

#[test]
fn everything_wrong_is_told_at_once() {
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

error: ${agrs.x}: there is no `agrs`
 --> mock.yaml:3:40
  |
3 |   - {name: a, input: {x: strin}, text: \"${agrs.x}\"}
  |                                        ^^^^^^^^^^^
  |
  = help: did you mean 'args' or 'vars'?

error: a second tool of the name `a`
 --> mock.yaml:4:12
  |
4 |   - {name: a, image: {data: \"%\", mime_type: image/png}}
  |            ^

error: this is no Base64: Invalid symbol 37, offset 0.
 --> mock.yaml:4:29
  |
4 |   - {name: a, image: {data: \"%\", mime_type: image/png}}
  |                             ^^^

error: `name` is missing in a tool
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

error: `soon` is no time; write a number and a unit: ms, s, m, h
 --> mock.yaml:5:31
  |
5 |   - {nmae: b, text: x, delay: soon}
  |                               ^^^^";
    let told = told(script);
    assert_eq!(told, expected, "{told}");
}

#[test]
fn a_schema_that_is_none_is_told() {
    check("tools: [{name: a, input_schema: {type: nope}, text: x}]", "1:33", "no JSON Schema");
    check("tools: [{name: a, input_schema: {type: array}, text: x}]", "1:33", "`type: object`");
    check("tools: [{name: a, output_schema: {type: 1}, text: x}]", "1:34", "no JSON Schema");
    check("tools: [{name: a, input: {}, input_schema: {type: object}, text: x}]", "1:44", "either");
}

#[test]
fn a_reply_that_can_never_be_reached_is_told() {
    let script = "tools:\n  - name: a\n    replies:\n      - text: x\n      - text: y\n";
    check(script, "5:9", "can never be reached");
    check("tools: [{name: a, replies: []}]", "1:28", "no reply in this list");
    check("tools: [{name: a, text: x, replies: [{text: y}]}]", "1:19", "beside `replies`");
}

#[test]
fn an_answer_that_says_nothing_or_too_much_is_told() {
    check("tools: [{name: a}]", "1:9", "there is no answer here: give one of text, json, image");
    check("tools: [{name: a, text: x, error: {message: y}}]", "1:28", "is the whole answer");
    check("tools: [{name: a, content: [{text: x, json: 1}]}]", "1:29", "exactly one of text");
    check("resources: [{uri: \"a:b\", text: x, blob: AAEC}]", "1:13", "exactly one of text, json");
    check("prompts: [{name: p, text: x, messages: []}]", "1:11", "either `messages` or `text`");
    check("tools: [{name: a, image: {data: AAEC}}]", "1:26", "`mime_type` is missing");
    check("tools: [{name: a, image: {file: nope.png}}]", "1:33", "cannot read tests/nope.png");
}

#[test]
fn what_a_hole_asks_for_is_checked_as_far_as_it_is_known() {
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
        "only vars are known here",
    );
}

#[test]
fn names_of_entries_that_are_not_there_are_told() {
    check(
        "tools: [{name: abc, after: [{show: {tool: abd}}], text: x}]",
        "1:43",
        "there is no tool `abd`",
    );
    check("completions: [{prompt: p, argument: a, values: []}]", "1:24", "there is no prompt `p`");
    check("completions: [{argument: a, values: []}]", "1:15", "either `prompt` or `template`");
    check("templates: [{uri_template: \"a://{x\", text: x}]", "1:28", "no URI template");
}

#[test]
fn steps_and_questions_are_checked() {
    check("tools: [{name: a, during: [brake_off], text: x}]", "1:28", "expected one of break_off");
    check("tools: [{name: a, after: [{progress: 1}], text: x}]", "1:28", "unknown key `progress`");
    check("tools: [{name: a, during: [{show: {}}], text: x}]", "1:35", "name one of tool");
    check("tools: [{name: a, ask: {b: {}}, text: x}]", "1:28", "exactly one of elicitation");
    check(
        "tools: [{name: a, ask: [{b: {roots: {}}}, {b: {roots: {}}}], text: x}]",
        "1:44",
        "a second question",
    );
    check("tools: [{name: a, delay: [2s, 1s], text: x}]", "1:26", "the least and the most");
    check("timers: [{notify: x}]", "1:10", "either `every` or `after`");
    check("timers: [{every: 0s, notify: x}]", "1:10", "more than nothing");
    check("timers: [{every: 1s}]", "1:10", "nothing happens here");
    check(
        "timers: [{every: 1s, notify: {method: x, params: {a: \"${args.b}\"}}}]",
        "1:54",
        "only vars are known",
    );
}

#[test]
fn a_matcher_that_is_wrong_is_told() {
    let script = "tools: [{name: a, replies: [{when: {args: {x: {matches: \"(\"}}}, text: x}]}]";
    check(script, "1:57", "no regular expression");
}

#[test]
fn an_issuer_that_cannot_be_is_told() {
    let oauth = |keys: &str| format!("auth: {{oauth: {{{keys}}}}}\ntools: [{{name: a, text: x}}]");
    for (keys, place, message) in [
        ("path: as", "1:22", "the path must be one of a URL, as `/as`"),
        ("path: \"/a?b\"", "1:22", "the path must be one of a URL, as `/as`"),
        ("scopes: [a b]", "1:25", "a scope is a word without spaces"),
        ("scopes: [read], requires: raed", "1:42", "did you mean 'read'?"),
        ("scopes: [read], tools: {a: write}", "1:43", "`scopes` has no `write`"),
        ("tools: {b: read}", "1:24", "there is no tool `b`"),
        ("clients: [{secret: x}]", "1:26", "`id` is missing"),
        ("clients: [{id: a}, {id: a}]", "1:35", "a second client of the id `a`"),
        ("clients: [{id: a, secret: s, key: k}]", "1:50", "give either `secret` or `key`"),
        ("clients: [{id: a, key: nope.pem}]", "1:39", "cannot read tests/nope.pem"),
        ("clients: [{id: a, key: it/main.rs}]", "1:39", "this is no key: it is no key in PEM"),
        ("clients: [{id: a, redirect_uris: /back}]", "1:49", "it is not absolute"),
        ("wrong: sideways", "1:23", "sideways"),
        ("refresh: sometimes", "1:25", "sometimes"),
        ("refuse: a b", "1:24", "an error of OAuth is a word"),
        ("lifetime: 5", "1:26", "a time such as 200ms"),
        ("scope: read", "1:16", "did you mean 'scopes'?"),
    ] {
        check(&oauth(keys), place, message);
    }
}

/// Levels of alternatives that share their targets, too many to check.
fn complex_schema() -> String {
    let levels = (0..40).map(|level| {
        let next = format!("{{$ref: '#/$defs/l{}'}}", level + 1);
        format!("l{level}: {{anyOf: [{next}, {next}]}}")
    });
    let levels: Vec<String> = levels.chain(["l40: {type: string}".to_owned()]).collect();
    format!("{{type: object, $ref: '#/$defs/l0', $defs: {{{}}}}}", levels.join(", "))
}

#[test]
fn a_schema_that_is_too_complex_may_be_listed_but_not_used() {
    let schema = complex_schema();
    let script = |keys: &str| format!("tools:\n  - {{name: a, text: x, {keys}: {schema}}}\n");
    check(&script("input_schema"), "2:38", "schema too complex to check");
    for keys in ["output_schema", "validate: false, input_schema"] {
        MockServer::from_yaml(&script(keys), "tests").unwrap();
    }
}
