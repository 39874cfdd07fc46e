//! JUnit XML, as Jenkins, GitLab and what GitHub's users run read it.
//!
//! It keeps to the schemas of Jenkins' xUnit plugin: `file` and `line` stand in
//! one of them, what Surefire says of tries (`flakyFailure`, `rerunFailure`) in
//! the other, and both are read by those who know them and left unread by others.

use std::collections::{HashMap, HashSet};
use std::io;

use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};

use crate::{Outcome, Run, Summary, Test, Try, clean, cut, duration, story};

/// How much of a name or a message stands in an attribute.
const ATTRIBUTE: usize = 1_000;
/// How much of an output is kept.
const OUTPUT: usize = 64 * 1024;

type Xml = Writer<Vec<u8>>;

/// The run as JUnit XML: a `testsuite` a file, a `testcase` a test and variant.
pub fn junit(run: &Run) -> String {
    let mut xml = Writer::new_with_indent(Vec::new(), b' ', 2);
    written(&mut xml, run).expect("memory takes all that is written");
    let mut text = String::from_utf8(xml.into_inner()).expect("it is made of strings");
    text.push('\n');
    text
}

fn written(xml: &mut Xml, run: &Run) -> io::Result<()> {
    xml.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let counts = Summary::of(&run.tests);
    let all = xml.create_element("testsuites").with_attributes([
        ("name", "spar test"),
        ("tests", &run.tests.len().to_string()),
        ("failures", &counts.failed.to_string()),
        ("errors", "0"),
        ("time", &seconds(run.took_ms)),
    ]);
    let suites = suites(&run.tests);
    if suites.is_empty() {
        return all.write_empty().map(drop);
    }
    let mut names = Names::default();
    all.write_inner_content(|xml| {
        suites.iter().try_for_each(|tests| suite(xml, run, tests, &mut names))
    })?;
    Ok(())
}

/// The tests by suite, in the order in which suites first come.
fn suites(tests: &[Test]) -> Vec<Vec<&Test>> {
    let mut suites: Vec<Vec<&Test>> = Vec::new();
    let mut places = HashMap::new();
    for test in tests {
        let at = *places.entry(test.suite.as_str()).or_insert(suites.len());
        match suites.get_mut(at) {
            Some(suite) => suite.push(test),
            None => suites.push(vec![test]),
        }
    }
    suites
}

fn suite(xml: &mut Xml, run: &Run, tests: &[&Test], names: &mut Names) -> io::Result<()> {
    let count = |outcome| tests.iter().filter(|test| test.outcome == outcome).count();
    let skipped = count(Outcome::Skipped) + count(Outcome::NotRun);
    let file = tests.first().map(|test| cut::line(&test.suite, ATTRIBUTE)).unwrap_or_default();
    let suite = xml.create_element("testsuite").with_attributes([
        ("name", file.as_str()),
        ("tests", &tests.len().to_string()),
        ("failures", &count(Outcome::Failed).to_string()),
        ("errors", "0"),
        ("skipped", &skipped.to_string()),
        ("time", &seconds(tests.iter().map(|test| duration::seconds(test.took_ms) * 1e3).sum())),
        ("timestamp", &timestamp(&run.began)),
        ("file", &file),
    ]);
    suite.write_inner_content(|xml| {
        properties(xml, run)?;
        tests.iter().try_for_each(|test| case(xml, test, names))
    })?;
    Ok(())
}

fn properties(xml: &mut Xml, run: &Run) -> io::Result<()> {
    let version = Some(("spar", run.spar.as_str()));
    let shard = run.shard.as_deref().map(|shard| ("shard", shard));
    xml.create_element("properties").write_inner_content(|xml| {
        version.into_iter().chain(shard).try_for_each(|(name, value)| {
            let value = cut::line(value, ATTRIBUTE);
            let property = xml.create_element("property");
            property.with_attributes([("name", name), ("value", &value)]).write_empty()?;
            Ok(())
        })
    })?;
    Ok(())
}

fn case(xml: &mut Xml, test: &Test, names: &mut Names) -> io::Result<()> {
    let class = class(&test.suite);
    let case = xml.create_element("testcase").with_attributes([
        ("name", names.unique(&class, cut::line(&test.title(), ATTRIBUTE)).as_str()),
        ("classname", &class),
        ("file", &cut::line(&test.place.file, ATTRIBUTE)),
        ("line", &test.place.line.to_string()),
        ("time", &seconds(test.took_ms)),
    ]);
    let reason = match test.outcome {
        Outcome::Passed if test.failed_tries.is_empty() => return case.write_empty().map(drop),
        Outcome::Passed => {
            case.write_inner_content(|xml| tries(xml, "flakyFailure", &test.failed_tries))?;
            return Ok(());
        }
        Outcome::Failed => {
            case.write_inner_content(|xml| failed(xml, test))?;
            return Ok(());
        }
        Outcome::Skipped => cut::line(test.reason.as_deref().unwrap_or_default(), ATTRIBUTE),
        Outcome::NotRun => "not run: the run ended first".to_owned(),
    };
    case.write_inner_content(|xml| {
        xml.create_element("skipped").with_attribute(("message", reason.as_str())).write_empty()?;
        Ok(())
    })?;
    Ok(())
}

fn failed(xml: &mut Xml, test: &Test) -> io::Result<()> {
    let Some((last, earlier)) = test.failed_tries.split_last() else {
        let failure = xml.create_element("failure");
        failure
            .with_attributes([("message", "it failed"), ("type", "expectation")])
            .write_empty()?;
        return Ok(());
    };
    let message = story::headline(last, ATTRIBUTE);
    xml.create_element("failure")
        .with_attributes([("message", message.as_str()), ("type", "expectation")])
        .write_text_content(BytesText::new(&story::told(test, last)))?;
    tries(xml, "rerunFailure", earlier)?;
    outputs(xml, last)
}

/// Tries that were not the last.
fn tries(xml: &mut Xml, element: &str, tries: &[Try]) -> io::Result<()> {
    tries.iter().try_for_each(|it| {
        let message = story::headline(it, ATTRIBUTE);
        let rerun = xml.create_element(element);
        let rerun = rerun.with_attributes([("message", message.as_str()), ("type", "expectation")]);
        rerun.write_inner_content(|xml| {
            text(xml, "stackTrace", &story::failures(it))?;
            outputs(xml, it)
        })?;
        Ok(())
    })
}

fn outputs(xml: &mut Xml, failed: &Try) -> io::Result<()> {
    for (element, output) in [("system-out", &failed.stdout), ("system-err", &failed.stderr)] {
        if !output.is_empty() {
            // GitLab would take this for a file of ours to link to.
            let output = clean::visible(&cut::tail(output, OUTPUT));
            text(xml, element, &output.replace("[[ATTACHMENT|", "[ [ATTACHMENT|"))?;
        }
    }
    Ok(())
}

fn text(xml: &mut Xml, element: &str, text: &str) -> io::Result<()> {
    xml.create_element(element).write_text_content(BytesText::new(text)).map(drop)
}

/// A time in UTC without fractions of a second, which not all readers take.
fn timestamp(began: &str) -> String {
    let whole = began.split_once('.').map(|(whole, _)| format!("{whole}Z"));
    cut::line(whole.as_deref().unwrap_or(began), ATTRIBUTE)
}

fn seconds(ms: f64) -> String {
    format!("{:.3}", duration::seconds(ms))
}

/// The class of a suite's tests: its path with dots, without the ending. What
/// shows classes takes what is before the last dot for their package.
fn class(suite: &str) -> String {
    let path = suite.strip_suffix(".yaml").unwrap_or(suite);
    let path = path.strip_suffix(".spar").unwrap_or(path);
    let folders = path.split('/').filter(|it| !matches!(*it, "" | "." | ".."));
    cut::line(&folders.collect::<Vec<_>>().join("."), ATTRIBUTE)
}

/// Names that were given. Readers tell tests by class and name alone.
#[derive(Default)]
struct Names(HashSet<(String, String)>);

impl Names {
    fn unique(&mut self, class: &str, name: String) -> String {
        let mut given = name.clone();
        let mut number = 1;
        while !self.0.insert((class.to_owned(), given.clone())) {
            number += 1;
            given = format!("{name} ({number})");
        }
        given
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_is_the_path_of_its_suite() {
        let classes =
            ["examples/weather.spar.yaml", "../a/b.spar.yaml", "./x.yaml", "plain"].map(class);
        assert_eq!(classes, ["examples.weather", "a.b", "x", "plain"]);
    }

    #[test]
    fn a_timestamp_has_whole_seconds() {
        let times = ["2026-07-28T12:00:00.123456789Z", "2026-07-28T12:00:00Z"].map(timestamp);
        assert_eq!(times, ["2026-07-28T12:00:00Z"; 2]);
    }

    #[test]
    fn names_are_unique_in_their_class() {
        let mut names = Names::default();
        let mut given = |class, name: &str| names.unique(class, name.to_owned());
        assert_eq!([given("a", "x"), given("a", "x (2)"), given("b", "x")], ["x", "x (2)", "x"]);
        assert_eq!([given("a", "x"), given("a", "x")], ["x (3)", "x (4)"]);
    }
}
