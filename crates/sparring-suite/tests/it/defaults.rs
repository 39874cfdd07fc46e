//! What fails a test that does not expect it.

use crate::fixture::{fail, pass};

#[test]
fn a_breach_of_the_protocol() {
    fail("call: noise, expect: {text: heard}", "not-json");
    pass(&["call: noise, expect: {text: heard, violations: {has: {rule: not-json}, count: 1}}"]);
    fail("call: two, expect: {violations: {has: {rule: not-json}}}", "there are no violations");
}

#[test]
fn a_tool_that_says_that_it_failed() {
    fail("call: failing", "the tool says that it failed: \"no such city\"");
}

#[test]
fn an_error_instead_of_a_result() {
    fail("call: refused", "the server answered with an error: not today (-32001)");
    fail("read: \"b://nowhere\"", "the server answered with an error");
    fail("call: exit", "tools/call has no answer: the other side closed the connection");
}

#[test]
fn a_result_that_breaks_the_tools_own_schema() {
    fail("call: typed, with: {days: many}", "output-schema: /days: \"many\" is not of type");
    pass(&["call: typed, with: {days: many}, expect: {violations: {has: {rule: output-schema}}}"]);
}

#[test]
fn a_tool_that_is_not_listed() {
    fail("call: secret", "unlisted-tool: the server does not list a tool `secret`");
    fail("call: ehco", "did you mean 'echo'?");
    pass(&["call: ehco, expect: {error: {code: -32602}}"]);
}

#[test]
fn a_question_that_no_answer_covers() {
    let later = "call: ask, answer: {elicitation: {action: decline}}";
    let test = format!("steps: [{{call: ask}}, {{{later}}}]");
    fail(&test, "tools/call needs elicitation/create (sure), which was not answered");
    fail(
        "call: ask_twice, answer: {elicitation: [{action: accept, content: {}}]}",
        "tools/call needs elicitation/create",
    );
}
