//! The result of every verb, and saved values.

use crate::fixture::{fail, pass};

#[test]
fn every_verb_has_a_result_to_check() {
    pass(&[
        "call: echo, with: {message: hi}, expect: {text: hi}",
        "read: \"a://b\", expect: {text: inside, content: [{uri: \"a://b\", mime_type: text/plain}]}",
        "prompt: greet, with: {who: Ada}, expect: {text: hello Ada, content: [{role: user}]}",
        "prompt: greet, expect: {text: hello nobody}",
        "list: tools, expect: {has: {name: echo}}",
        "list: resources, expect: {has: {uri: \"a://b\"}, count: 1}",
        "list: templates, expect: {has: {uri_template: \"a://{x}\"}}",
        "list: prompts, expect: {has: {name: greet, arguments: [{name: who}]}}",
        "complete: {prompt: greet, argument: who, value: A}, expect: {has: [Ada, Alan], lacks: Bob}",
        "complete: {template: \"a://{x}\", argument: x, value: \"\"}, expect: {count: 2}",
        "complete: {prompt: greet, argument: who, value: B}, with: {x: y}, \
         expect: {result: {completion: {values: [Bob]}}}",
        "ping: true, expect: {result: {}}",
        "request: resources/read, with: {uri: \"a://c\"}, \
         expect: {result: {contents: [{text: x is c}]}}",
        "request: tools/list, expect: {result: {tools: {len: {gt: 5}}}}",
        "notify: notifications/roots/list_changed",
    ]);
}

#[test]
fn later_steps_use_saved_values_with_their_types() {
    pass(&[
        "steps: [{call: typed, with: {days: 3}, save: {days: structured.days, all: structured}}, \
         {call: typed, with: {days: \"${days}\"}, \
          expect: {structured: {days: \"${days}\"}, json: \"${all}\"}}, \
         {call: echo, with: {message: \"${days} days\"}, expect: {text: 3 days}}]",
        "steps: [{list: tools, save: {first: \"list[0].name\"}}, \
         {call: \"${first}\", with: {message: x}, expect: {text: x}}]",
        "steps: [{call: refused, expect: {error: {code: -32001}}, save: {until: error.data.until}}, \
         {call: echo, with: {message: \"${until}\"}, expect: {text: monday}}]",
        "call: echo, with: {message: \"${env:WHO} $${x} ${env:NOBODY:-default}\"}, \
         expect: {text: \"Ada $${x} default\"}",
        "steps: [{call: echo, with: {message: \"${tmp}\"}, save: {tmp_of_test: text}}, \
         {call: echo, with: {message: \"${tmp}\"}, expect: {text: \"${tmp_of_test}\"}}]",
        "call: echo, with: {message: \"${spar}\"}, expect: {text: spar}",
    ]);
}

#[test]
fn template_values_in_the_path_of_a_uri_are_percent_encoded() {
    pass(&[
        "cases: [{x: \"a b/c\"}], read: \"a://of/${x}\", \
         expect: {text: y is a b/c, content: [{uri: \"a://of/a%20b%2Fc\"}]}",
        "cases: [{x: \"a://b\"}], read: \"${x}\", expect: {text: inside}",
    ]);
}

#[test]
fn reports_values_that_cannot_be_saved_or_rendered() {
    fail(
        "call: typed, with: {days: 3}, save: {x: structured.dyas}",
        "cannot save `x`: structured has no key `dyas`; did you mean 'days'?",
    );
    fail(
        "call: echo, with: {message: \"${env:NOBODY}\"}",
        "environment variable `NOBODY` is not set",
    );
}

#[test]
fn a_test_stops_at_the_step_that_fails() {
    fail(
        "steps: [{call: echo, with: {message: a}, expect: {text: b}}, {call: exit}]",
        "text: expected \"b\", found \"a\"\n",
    );
}
