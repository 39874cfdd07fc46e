//! NDJSON: what happens in a run as it happens, a line of JSON each.

use serde::Serialize;

use crate::{Run, Summary, Test, VERSION};

/// One line. Tests are named by their place in the plan, from 0.
#[derive(Debug, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Line<'a> {
    /// A run begins.
    Run {
        /// The version of the form, that of the JSON report.
        version: u32,
        /// The version of the program.
        spar: &'a str,
        /// When, as RFC 3339 in UTC.
        began: &'a str,
        /// Which part of a run it is.
        #[serde(skip_serializing_if = "Option::is_none")]
        shard: Option<&'a str>,
        /// How many tests are to run.
        tests: usize,
    },
    /// A test begins.
    Started {
        /// Which.
        number: usize,
        /// Its suite.
        suite: &'a str,
        /// What it shows.
        name: &'a str,
        /// The revision, where the plan says so.
        #[serde(skip_serializing_if = "Option::is_none")]
        protocol: Option<&'a str>,
        /// The transport, where the plan says so.
        #[serde(skip_serializing_if = "Option::is_none")]
        transport: Option<&'a str>,
    },
    /// A test is over, or did not get its turn.
    Finished {
        /// Which.
        number: usize,
        /// All that is to be known of it.
        test: &'a Test,
    },
    /// The run is over.
    End {
        /// How long it took.
        took_ms: f64,
        /// Whether it was ended early.
        stopped: bool,
        /// How many tests came to what.
        summary: Summary,
    },
}

impl<'a> Line<'a> {
    /// That a run begins.
    pub fn began(run: &'a Run) -> Self {
        Line::Run {
            version: VERSION,
            spar: &run.spar,
            began: &run.began,
            shard: run.shard.as_deref(),
            tests: run.tests.len(),
        }
    }

    /// That a test begins.
    pub fn started(number: usize, test: &'a Test) -> Self {
        Line::Started {
            number,
            suite: &test.suite,
            name: &test.name,
            protocol: test.protocol.as_deref(),
            transport: test.transport.as_deref(),
        }
    }

    /// That a run is over.
    pub fn ended(run: &Run) -> Self {
        Line::End { took_ms: run.took_ms, stopped: run.stopped, summary: run.summary }
    }

    /// The line, with its end.
    pub fn text(&self) -> String {
        let mut text = serde_json::to_string(self).expect("a line is plain data");
        text.push('\n');
        text
    }
}

/// The lines of a run that is over: as they came, but for when tests began.
pub fn ndjson(run: &Run) -> String {
    let tests = run.tests.iter().enumerate();
    let finished = tests.map(|(number, test)| Line::Finished { number, test });
    let first = std::iter::once(Line::began(run));
    first.chain(finished).chain([Line::ended(run)]).map(|line| line.text()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::example;

    #[test]
    fn every_line_is_an_object_that_says_what_happened() {
        let run = example::whole();
        let text = ndjson(&run);
        let lines: Vec<Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let events: Vec<_> = lines.iter().map(|line| line["event"].as_str().unwrap()).collect();
        assert_eq!(events, ["run", "finished", "finished", "end"]);
        assert_eq!(lines[0]["tests"], 2);
        assert_eq!(lines[1]["test"], serde_json::to_value(&run.tests[0]).unwrap());
        assert_eq!(lines[3]["summary"], serde_json::to_value(run.summary).unwrap());
        let started: Value = serde_json::from_str(&Line::started(1, &run.tests[1]).text()).unwrap();
        let expected =
            json!({"event": "started", "number": 1, "suite": "a.spar.yaml", "name": "other"});
        assert_eq!(started, expected);
    }
}
