//! The NDJSON report: one line of JSON for each event of a run.

use serde::Serialize;

use crate::{Run, Summary, Test, VERSION};

/// One line. `number` is the index of a test in the plan, from 0.
#[derive(Debug, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum NdjsonLine<'a> {
    /// The run starts.
    Run {
        /// The version of the format, the same as that of the JSON report.
        version: u32,
        /// The version of spar.
        spar: &'a str,
        /// The start time, as RFC 3339 in UTC.
        began: &'a str,
        /// The shard.
        #[serde(skip_serializing_if = "Option::is_none")]
        shard: Option<&'a str>,
        /// The number of tests in the plan.
        tests: usize,
    },
    /// A test starts.
    Started {
        /// The index of the test.
        number: usize,
        /// The suite.
        suite: &'a str,
        /// The name of the test.
        name: &'a str,
        /// The protocol revision, if the plan sets one.
        #[serde(skip_serializing_if = "Option::is_none")]
        protocol: Option<&'a str>,
        /// The transport, if the plan sets one.
        #[serde(skip_serializing_if = "Option::is_none")]
        transport: Option<&'a str>,
    },
    /// A test has ended, or will not run.
    Finished {
        /// The index of the test.
        number: usize,
        /// The complete result.
        test: &'a Test,
    },
    /// The run has ended.
    End {
        /// The duration in milliseconds.
        took_ms: f64,
        /// True if the run was stopped early.
        stopped: bool,
        /// The number of tests by outcome.
        summary: Summary,
    },
}

impl<'a> NdjsonLine<'a> {
    /// Creates the line of a run that starts.
    pub fn began(run: &'a Run) -> Self {
        NdjsonLine::Run {
            version: VERSION,
            spar: &run.spar,
            began: &run.began,
            shard: run.shard.as_deref(),
            tests: run.tests.len(),
        }
    }

    /// Creates the line of a test that starts.
    pub fn started(number: usize, test: &'a Test) -> Self {
        NdjsonLine::Started {
            number,
            suite: &test.suite,
            name: &test.name,
            protocol: test.protocol.as_deref(),
            transport: test.transport.as_deref(),
        }
    }

    /// Creates the line of a run that has ended.
    pub fn ended(run: &Run) -> Self {
        NdjsonLine::End { took_ms: run.took_ms, stopped: run.stopped, summary: run.summary }
    }

    /// Renders the line with its line break.
    pub fn text(&self) -> String {
        let mut text = serde_json::to_string(self).expect("a line is plain data");
        text.push('\n');
        text
    }
}

/// Renders the lines of a finished run. There are no lines for the starts of tests.
pub fn render_ndjson(run: &Run) -> String {
    let tests = run.tests.iter().enumerate();
    let finished = tests.map(|(number, test)| NdjsonLine::Finished { number, test });
    let first = std::iter::once(NdjsonLine::began(run));
    first.chain(finished).chain([NdjsonLine::ended(run)]).map(|line| line.text()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::sample_run;

    #[test]
    fn every_line_is_an_event() {
        let run = sample_run::run();
        let text = render_ndjson(&run);
        let lines: Vec<Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let events: Vec<_> = lines.iter().map(|line| line["event"].as_str().unwrap()).collect();
        assert_eq!(events, ["run", "finished", "finished", "end"]);
        assert_eq!(lines[0]["tests"], 2);
        assert_eq!(lines[1]["test"], serde_json::to_value(&run.tests[0]).unwrap());
        assert_eq!(lines[3]["summary"], serde_json::to_value(run.summary).unwrap());
        let started: Value =
            serde_json::from_str(&NdjsonLine::started(1, &run.tests[1]).text()).unwrap();
        let expected =
            json!({"event": "started", "number": 1, "suite": "a.spar.yaml", "name": "other"});
        assert_eq!(started, expected);
    }
}
