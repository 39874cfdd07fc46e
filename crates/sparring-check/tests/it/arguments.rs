//! Faults that only some valid arguments show are found, and reduced to one command.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use sparring_check::{CheckOptions, CheckReport, Finding, ToolUseOutcome, check};
use sparring_wire::{Revision, Rule};

use crate::support::{Action, AlteredServer, options};

/// A correct server with arguments of several types.
const SERVER: &str = r#"
server: {name: planted, version: 1.0.0}
tools:
  - name: repeat
    description: Repeats a text.
    annotations: {read_only_hint: true}
    input_schema:
      type: object
      properties:
        text: {type: string, description: The text.}
        times: {type: integer, description: How often., minimum: 0}
      required: [text]
    text: "${args.text}"
  - name: sum
    description: Adds numbers.
    annotations: {read_only_hint: true}
    input_schema:
      type: object
      properties:
        numbers: {type: array, description: The numbers., items: {type: integer}}
      required: [numbers]
    output_schema: {type: object, properties: {count: {type: integer, minimum: 0}}, required: [count]}
    structured: {count: 1}
  - name: delete
    description: Deletes everything.
    text: deleted
"#;

fn check_options() -> CheckOptions {
    CheckOptions {
        calls: sparring_check::CallPolicy::ReadOnly,
        revisions: vec![Revision::V2025_11_25],
        target_arguments: "-- python server.py".to_owned(),
        ..options()
    }
}

fn server(alter: impl Fn(&str, &Value) -> Option<Action> + Send + Sync + 'static) -> AlteredServer {
    AlteredServer::new(SERVER).on_method("tools/call", move |request| {
        let params = &request["params"];
        alter(params["name"].as_str().unwrap(), &params["arguments"]).unwrap_or(Action::Pass)
    })
}

async fn findings(server: AlteredServer, rule: Rule) -> Vec<Finding> {
    let report = check(Arc::new(server), check_options()).await.unwrap();
    report.verdict(rule, Revision::V2025_11_25).unwrap().findings().to_vec()
}

#[track_caller]
fn assert_command(findings: &[Finding], tool: &str, arguments: &str) {
    let [finding] = findings else { panic!("{findings:#?}") };
    let command =
        format!("spar call {tool} --args '{arguments}' --protocol 2025-11-25 -- python server.py");
    assert_eq!(finding.command.as_deref(), Some(&*command), "{finding:#?}");
    assert_eq!(finding.subject, tool);
    assert!(finding.frames.iter().any(|frame| frame.text.contains("tools/call")), "{finding:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn reduces_a_crash_to_the_smallest_number() {
    let server = server(|_, arguments| {
        arguments["times"].as_i64().filter(|times| *times > 1000).map(|_| Action::Close)
    });
    let findings = findings(server, Rule::ArgumentsCrash).await;
    assert_command(&findings, "repeat", r#"{"text":"text","times":1001}"#);
}

#[tokio::test(flavor = "multi_thread")]
async fn reduces_a_crash_to_one_emoji() {
    let server = server(|_, arguments| {
        let text = arguments["text"].as_str()?;
        text.contains('😀').then_some(Action::Close)
    });
    let findings = findings(server, Rule::ArgumentsCrash).await;
    assert_command(&findings, "repeat", r#"{"text":"😀"}"#);
}

#[tokio::test(flavor = "multi_thread")]
async fn reduces_a_crash_of_two_arguments() {
    let server = server(|_, arguments| {
        let is_long = arguments["text"].as_str()?.len() > 3;
        (is_long && arguments["times"].as_i64()? > 6).then_some(Action::Close)
    });
    let findings = findings(server, Rule::ArgumentsCrash).await;
    let [finding] = &findings[..] else { panic!("{findings:#?}") };
    let command = finding.command.as_deref().unwrap();
    assert!(command.contains(r#""times":7}"#), "{command}");
}

#[tokio::test(flavor = "multi_thread")]
async fn finds_a_hang_for_an_empty_list() {
    let server = server(|_, arguments| {
        (arguments["numbers"] == json!([])).then_some(Action::Answer(Vec::new()))
    });
    let findings = findings(server, Rule::ArgumentsHang).await;
    assert_command(&findings, "sum", r#"{"numbers":[]}"#);
}

#[tokio::test(flavor = "multi_thread")]
async fn reduces_a_hang_to_the_shortest_text() {
    let server = server(|_, arguments| {
        (arguments["text"].as_str()?.len() > 100).then_some(Action::Answer(Vec::new()))
    });
    let findings = findings(server, Rule::ArgumentsHang).await;
    let text = "a".repeat(101);
    assert_command(&findings, "repeat", &format!(r#"{{"text":"{text}"}}"#));
}

#[tokio::test(flavor = "multi_thread")]
async fn reduces_a_wrong_output_to_the_smallest_list() {
    let server = AlteredServer::new(SERVER).on_response("tools/call", |request, response| {
        let numbers = request["params"]["arguments"]["numbers"].as_array();
        if numbers.is_some_and(|all| all.iter().any(|it| it.as_i64() < Some(0))) {
            response["result"]["structuredContent"] = json!({"count": -1});
            response["result"]["content"] = json!([{"type": "text", "text": "{\"count\":-1}"}]);
        }
    });
    let findings = findings(server, Rule::OutputSchema).await;
    assert_command(&findings, "sum", r#"{"numbers":[-1]}"#);
    let expected = "expected structured content that conforms to the output schema; \
                    $.result.structuredContent.count: -1 is less than the minimum of 0";
    assert_eq!(findings[0].message, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn reduces_an_internal_error_and_a_wrong_type_to_one_command() {
    let planted = AlteredServer::new(SERVER).on_response("tools/call", |request, response| {
        if request["params"]["arguments"]["numbers"].as_array().is_some_and(|it| it.len() > 3) {
            let error = json!({"code": -32603, "message": "Internal error"});
            *response = json!({"jsonrpc": "2.0", "id": request["id"], "error": error});
        }
    });
    let found = findings(planted, Rule::ArgumentsInternalError).await;
    assert_command(&found, "sum", r#"{"numbers":[0,0,0,0]}"#);
    let accepting = AlteredServer::new(SERVER).on_response("tools/call", |request, response| {
        if request["params"]["arguments"]["times"].is_object() {
            response["result"] = json!({"content": [{"type": "text", "text": "done"}]});
        }
    });
    let found = findings(accepting, Rule::InvalidArgumentsAccepted).await;
    let arguments = r#"{"text":"text","times":{"sparring":"sparring-unexpected"}}"#;
    assert_command(&found, "repeat", arguments);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_always_hangs_gets_a_verdict_in_time() {
    let began = Instant::now();
    let server = server(|name, _| (name == "repeat").then_some(Action::Answer(Vec::new())));
    let report = check(Arc::new(server), check_options()).await.unwrap();
    let verdict = report.verdict(Rule::ArgumentsHang, Revision::V2025_11_25).unwrap();
    assert_command(verdict.findings(), "repeat", r#"{"text":"text"}"#);
    assert!(matches!(use_of(&report, "sum"), ToolUseOutcome::Succeeded));
    assert!(matches!(use_of(&report, "repeat"), ToolUseOutcome::NeverSucceeded(_)));
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn reports_which_tools_succeeded_and_which_were_not_called() {
    let server = server(|name, _| (name == "sum").then_some(Action::Pass)).on_response(
        "tools/call",
        |request, response| {
            if request["params"]["name"] == "sum" {
                let content = json!([{"type": "text", "text": "out of order"}]);
                response["result"] = json!({"content": content, "isError": true});
            }
        },
    );
    let report = check(Arc::new(server), check_options()).await.unwrap();
    assert_eq!(*use_of(&report, "repeat"), ToolUseOutcome::Succeeded);
    let ToolUseOutcome::NeverSucceeded(answer) = use_of(&report, "sum") else { panic!() };
    assert!(answer.contains("out of order"), "{answer}");
    let ToolUseOutcome::NotCalled(reason) = use_of(&report, "delete") else { panic!() };
    assert!(reason.contains("only reads"), "{reason}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_seed_selects_the_arguments_and_cases_their_number() {
    async fn texts(seed: u64, cases: u32) -> Vec<String> {
        let seen = Arc::new(std::sync::Mutex::new(Vec::new()));
        let all = Arc::clone(&seen);
        let server = server(move |_, arguments| {
            all.lock().unwrap().push(arguments.to_string());
            None
        });
        let options = CheckOptions { seed, cases, ..check_options() };
        check(Arc::new(server), options).await.unwrap();
        std::mem::take(&mut *seen.lock().unwrap())
    }
    let first = texts(0, 20).await;
    assert_eq!(first, texts(0, 20).await);
    assert_ne!(first, texts(1, 20).await);
    assert_eq!(texts(0, 0).await.len() + 40, first.len());
}

fn use_of<'a>(report: &'a CheckReport, tool: &str) -> &'a ToolUseOutcome {
    let mut uses = report.revisions[0].tool_uses.iter();
    &uses.find(|it| it.tool == tool).unwrap().outcome
}

/// A server that puts its arguments into a question is not blamed for a URL that the check has
/// generated, but for one of its own.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_repeats_generated_arguments_is_not_blamed_for_them() {
    for (least_length, is_broken) in [(0, true), (1_000, false)] {
        let server = server(move |_, arguments| {
            let text = arguments["text"].as_str()?;
            let schema = json!({"type": "object", "properties": {"ok": {"type": "boolean"}}});
            let params = json!({"message": "See https://example.com/", "requestedSchema": schema});
            let method = "elicitation/create";
            let ask = json!({"jsonrpc": "2.0", "id": text, "method": method, "params": params});
            (text.len() >= least_length).then(|| Action::AnswerAndPass(vec![ask.to_string()]))
        });
        let found = findings(server, Rule::ClickableUrl).await;
        assert_eq!(!found.is_empty(), is_broken, "{least_length}: {found:?}");
    }
}
