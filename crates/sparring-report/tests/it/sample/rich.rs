//! A run of ordinary size with every kind of result.

use serde_json::json;
use sparring_report::{Build, FailedTry, Failure, Outcome, Run, Sender, SourceLocation, Test};

use super::traffic::TrafficBuilder;
use super::{run, test};

const WEATHER: &str = "tests/weather.spar.yaml";
const FILES: &str = "tests/files.spar.yaml";
const AGENT: &str = "tests/agents/travel.spar.yaml";
const VARIANTS: [(&str, &str); 5] = [
    ("2025-06-18", "stdio"),
    ("2025-11-25", "stdio"),
    ("2025-11-25", "http"),
    ("2026-07-28", "stdio"),
    ("2026-07-28", "http"),
];

const MISMATCH: &str = "\
json: 2 values do not fit
  temperature: expected 15, found \"15\"
  sky: expected \"cloudy\", found \"rain\"";
const DIFF: &str = "  {
-   \"temperature\": 15,
-   \"sky\": \"cloudy\"
+   \"temperature\": \"15\",
+   \"sky\": \"rain\"
  }
";
const STDERR: &str = "\
INFO  weather: listening
WARN  weather::upstream: 503 from api, trying the mirror
WARN  weather::upstream: mirror answered after 163 ms
";

/// Returns a run with every kind of result.
pub(crate) fn rich() -> Run {
    let mut tests = Vec::new();
    for (at, (protocol, transport)) in VARIANTS.into_iter().enumerate() {
        let variant = |mut test: Test| {
            test.server = Some("weather".to_owned());
            test.protocol = Some(protocol.to_owned());
            test.transport = Some(transport.to_owned());
            test.rerun_command =
                format!("{} --protocol {protocol} --transport {transport}", test.rerun_command);
            test
        };
        let slow = 1.0 + at as f64 * 0.7;
        tests.extend([
            with_traffic(variant(listed()), slow),
            london(variant(test(WEATHER, 22, "London has a forecast for today")), slow, protocol),
            units(variant(test(WEATHER, 31, "units are converted")), slow, transport),
            flaky(variant(test(WEATHER, 40, "a cold cache is filled")), slow, at),
            with_traffic(
                variant(test(WEATHER, 52, "an unknown city is a protocol error")),
                slow * 1.4,
            ),
            skip(variant(test(WEATHER, 60, "a subscription tells of a storm")), protocol),
        ]);
    }
    tests.extend(files());
    tests.push(agent());
    tests.extend(
        ["a flight is booked", "a hotel is found", "the budget is kept"].iter().enumerate().map(
            |(at, name)| Test {
                outcome: Outcome::NotRun,
                tags: vec!["agent".to_owned()],
                ..test(AGENT, 40 + at * 9, name)
            },
        ),
    );
    let text = |text: &str| Some(text.to_owned());
    let build = Build {
        project: text("team/weather-server"),
        commit: text("4a6d1f0c9be27d8853f1e0b7c2a94d6613580e7f"),
        branch: text("convert-units"),
        url: text("https://ci.example/team/weather-server/runs/1873"),
    };
    Run { stopped: true, build: Some(build), ..run(tests) }
}

/// Adds the frames of a handshake and of `tools/list`.
fn with_traffic(mut test: Test, took: f64) -> Test {
    let tool = json!({"name": "forecast", "inputSchema": {"type": "object"}});
    let mut traffic = TrafficBuilder::new(&mut test);
    traffic.initialize(took * 8.0).ask("tools/list", json!({}), took, json!({"tools": [tool]}));
    test
}

fn skip(mut test: Test, protocol: &str) -> Test {
    test.outcome = Outcome::Skipped;
    test.reason = Some(format!("needs a feed, which {protocol} servers here do not have"));
    test
}

fn listed() -> Test {
    Test { tags: vec!["smoke".to_owned()], ..test(WEATHER, 14, "the tools are listed") }
}

/// Returns a test that fails in the newest revision: a field is missing, and the text differs.
fn london(mut test: Test, slow: f64, protocol: &str) -> Test {
    test.tags = vec!["smoke".to_owned(), "forecast".to_owned()];
    let arguments = json!({"city": "London", "days": 1, "units": "metric"});
    let mut traffic = TrafficBuilder::new(&mut test);
    traffic.initialize(11.0 * slow);
    if protocol != "2026-07-28" {
        traffic.call("forecast", arguments, 23.0 * slow, "{\"temperature\":15,\"sky\":\"cloudy\"}");
        return test;
    }
    traffic
        .notify(
            Sender::Server,
            "notifications/message",
            json!({"level": "warning", "data": "upstream is slow"}),
        )
        .add_violation(
            "schema/wrong-type",
            "$.params.logger",
            "`logger` is a string, and stands here not at all",
            "2026-07-28/server/utilities/logging#log-message-notifications",
        );
    let weather = json!({"temperature": "15", "sky": "rain"});
    let answer = json!({
        "content": [
            {"type": "text", "text": weather.to_string()},
            {"type": "image", "data": "iVBORw0KGgo="},
        ],
        "isError": false,
        "structuredContent": {"temperature": "15", "big": 12345678901234567890_u64},
    });
    let params = json!({"name": "forecast", "arguments": arguments});
    traffic
        .ask("tools/call", params, 180.0 * slow, answer)
        .add_violation(
            "schema/missing-field",
            "$.result.content[1].mimeType",
            "an image has a `mimeType`",
            "2026-07-28/server/tools#image-content",
        )
        .add_violation(
            "tools/output-schema",
            "$.result.structuredContent.temperature",
            "the tool's own schema wants a number here",
            "2026-07-28/server/tools#output-schema",
        );
    test.outcome = Outcome::Failed;
    let line = "      json: {temperature: 15, sky: cloudy}";
    let other = "  - name: London has a forecast for today";
    let broken = "2 violations that were not expected: schema/missing-field, tools/output-schema";
    let failures = vec![
        Failure { diff: Some(DIFF.to_owned()), ..failure(WEATHER, 26, 13, line, MISMATCH) },
        failure(WEATHER, 22, 5, other, broken),
    ];
    test.failed_tries =
        vec![FailedTry { failures, stderr: STDERR.to_owned(), ..FailedTry::default() }];
    test
}

/// Returns a test that fails over HTTP only.
fn units(mut test: Test, slow: f64, transport: &str) -> Test {
    test.tags = vec!["forecast".to_owned()];
    let mut traffic = TrafficBuilder::new(&mut test);
    traffic.initialize(9.0 * slow).call(
        "convert",
        json!({"from": "C", "to": "F", "value": 21.5}),
        1.8 * slow,
        "70.7",
    );
    if transport == "http" {
        traffic.ask_without_response(
            "tools/call",
            json!({"name": "convert", "arguments": {"from": "K"}}),
        );
        traffic
            .pass_time(500.0)
            .raw(Sender::Server, "Traceback (most recent call last): KeyError 'K'")
            .add_violation(
                "wire/not-json",
                "$",
                "a line that is no JSON stands between the frames",
                "basic/transports#stdio",
            );
        test.outcome = Outcome::Failed;
        let message = "tools/call convert: no answer within 500 ms";
        let once = FailedTry {
            failures: vec![failure(WEATHER, 34, 7, "      - call: convert", message)],
            ..FailedTry::default()
        };
        test.failed_tries = vec![once.clone(), once];
    }
    test
}

/// Returns a test that is flaky in some variants.
fn flaky(mut test: Test, slow: f64, at: usize) -> Test {
    test.tags = vec!["cache".to_owned()];
    TrafficBuilder::new(&mut test).initialize(10.0 * slow).call(
        "forecast",
        json!({"city": "Oslo"}),
        340.0 / slow,
        "snow",
    );
    if at % 2 == 1 {
        let failures = vec![failure(
            WEATHER,
            45,
            15,
            "      within: 200ms",
            "within: expected at most 200 ms, took 340 ms",
        )];
        test.failed_tries = vec![FailedTry {
            failures,
            stderr: "cache: cold\n".to_owned(),
            ..FailedTry::default()
        }];
    }
    test
}

fn files() -> Vec<Test> {
    let names = [
        "a file is read",
        "a folder is listed",
        "a path outside is refused",
        "a link is not followed",
        "a big file comes in pages",
        "a name with spaces is found",
        "an empty file is empty",
        "what is deleted is gone",
        "two writers do not mix",
        "binary data survives",
    ];
    let mut tests = Vec::new();
    for (at, name) in names.into_iter().enumerate() {
        let mut test = test(FILES, 10 + at * 8, name);
        test.server = Some("files".to_owned());
        test.tags = vec![if at % 2 == 0 { "read" } else { "write" }.to_owned()];
        let mut traffic = TrafficBuilder::new(&mut test);
        traffic.initialize(6.5);
        for round in 0..=at {
            let took = 0.4 + (at * 37 + round * 53) as f64 % 29.0 / 10.0;
            traffic.call(
                if at % 3 == 0 { "read_file" } else { "list_directory" },
                json!({"path": format!("/data/{round}.txt")}),
                took,
                "ok",
            );
        }
        if at == 4 {
            // The response to the request before them is among the omitted frames.
            test.frames.remove(6);
            test.frames_left_out = 112;
            test.frames_shared = true;
        }
        tests.push(test);
    }
    tests
}

fn agent() -> Test {
    let mut test = test(AGENT, 12, "the agent asks for the weather before it packs");
    test.outcome = Outcome::Failed;
    test.tags = vec!["agent".to_owned()];
    test.took_ms = 4231.0;
    let failures = vec![failure(AGENT, 19, 13, "    exit: 0", "exit: expected 0, found 3")];
    test.failed_tries = vec![FailedTry {
        failures,
        stderr: "packing: no forecast, giving up\n".to_owned(),
        stdout: "Planning the trip …\nAsked: nothing\n".to_owned(),
        ..FailedTry::default()
    }];
    test
}

fn failure(file: &str, line: usize, column: usize, source: &str, message: &str) -> Failure {
    let place = SourceLocation { file: file.to_owned(), line, column };
    Failure {
        span: 0..0,
        place,
        source: source.to_owned(),
        message: message.to_owned(),
        diff: None,
    }
}
