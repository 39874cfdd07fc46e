//! JUnit XML for Jenkins, GitLab and GitHub actions.
//!
//! It conforms to the schemas of Jenkins' xUnit plugin. One of them has `file` and `line`,
//! the other has the elements of Surefire for tries (`flakyFailure`, `rerunFailure`).
//! Readers ignore unknown elements and attributes.

use std::collections::{HashMap, HashSet};
use std::io;

use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};

use crate::{FailedTry, Outcome, Run, Summary, Test, failure_text, format, sanitize, truncate};

/// The maximum length of a name or a message in an attribute, in bytes.
const MAX_ATTRIBUTE_BYTES: usize = 1_000;
/// The maximum length of an output, in bytes.
const MAX_OUTPUT_BYTES: usize = 64 * 1024;

type Xml = Writer<Vec<u8>>;

/// Renders JUnit XML: a `testsuite` for each file, a `testcase` for each variant of a test.
pub fn render_junit(run: &Run) -> String {
    let mut xml = Writer::new_with_indent(Vec::new(), b' ', 2);
    write_run(&mut xml, run).expect("writing to memory succeeds");
    let mut text = String::from_utf8(xml.into_inner()).expect("all parts are strings");
    text.push('\n');
    text
}

fn write_run(xml: &mut Xml, run: &Run) -> io::Result<()> {
    xml.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let counts = Summary::from_tests(&run.tests);
    let all = xml.create_element("testsuites").with_attributes([
        ("name", run.verb()),
        ("tests", &run.tests.len().to_string()),
        ("failures", &counts.failed.to_string()),
        ("errors", "0"),
        ("time", &seconds(run.took_ms)),
    ]);
    let suites = group_by_suite(&run.tests);
    if suites.is_empty() {
        return all.write_empty().map(drop);
    }
    let mut names = UsedNames::default();
    all.write_inner_content(|xml| {
        suites.iter().try_for_each(|tests| write_suite(xml, run, tests, &mut names))
    })?;
    Ok(())
}

/// Groups the tests by suite, in the order of the run.
fn group_by_suite(tests: &[Test]) -> Vec<Vec<&Test>> {
    let mut suites: Vec<Vec<&Test>> = Vec::new();
    let mut indices = HashMap::new();
    for test in tests {
        let index = *indices.entry(test.suite.as_str()).or_insert(suites.len());
        match suites.get_mut(index) {
            Some(suite) => suite.push(test),
            None => suites.push(vec![test]),
        }
    }
    suites
}

fn write_suite(xml: &mut Xml, run: &Run, tests: &[&Test], names: &mut UsedNames) -> io::Result<()> {
    let count = |outcome| tests.iter().filter(|test| test.outcome == outcome).count();
    let skipped = count(Outcome::Skipped) + count(Outcome::NotRun);
    let file = tests
        .first()
        .map(|test| truncate::one_line(&test.suite, MAX_ATTRIBUTE_BYTES))
        .unwrap_or_default();
    let suite = xml.create_element("testsuite").with_attributes([
        ("name", file.as_str()),
        ("tests", &tests.len().to_string()),
        ("failures", &count(Outcome::Failed).to_string()),
        ("errors", "0"),
        ("skipped", &skipped.to_string()),
        ("time", &seconds(tests.iter().map(|test| format::seconds(test.took_ms) * 1e3).sum())),
        ("timestamp", &timestamp(&run.began)),
    ]);
    let is_file = tests.first().is_some_and(|test| test.rule.is_none());
    let suite = suite.with_attributes(is_file.then_some(("file", file.as_str())));
    suite.write_inner_content(|xml| {
        write_properties(xml, run)?;
        tests.iter().try_for_each(|test| write_case(xml, test, names))
    })?;
    Ok(())
}

fn write_properties(xml: &mut Xml, run: &Run) -> io::Result<()> {
    let version = Some(("spar", run.spar.as_str()));
    let shard = run.shard.as_deref().map(|shard| ("shard", shard));
    xml.create_element("properties").write_inner_content(|xml| {
        version.into_iter().chain(shard).try_for_each(|(name, value)| {
            let value = truncate::one_line(value, MAX_ATTRIBUTE_BYTES);
            let property = xml.create_element("property");
            property.with_attributes([("name", name), ("value", &value)]).write_empty()?;
            Ok(())
        })
    })?;
    Ok(())
}

fn write_case(xml: &mut Xml, test: &Test, names: &mut UsedNames) -> io::Result<()> {
    let class = class_name(&test.suite);
    let case = xml.create_element("testcase").with_attributes([
        (
            "name",
            names.unique(&class, truncate::one_line(&test.title(), MAX_ATTRIBUTE_BYTES)).as_str(),
        ),
        ("classname", &class),
    ]);
    let (file, line) =
        (truncate::one_line(&test.place.file, MAX_ATTRIBUTE_BYTES), test.place.line.to_string());
    let place = test.place.has_file().then_some([("file", file.as_str()), ("line", &line)]);
    let case = case
        .with_attributes(place.into_iter().flatten())
        .with_attribute(("time", seconds(test.took_ms).as_str()));
    let reason = match test.outcome {
        Outcome::Passed if test.failed_tries.is_empty() && test.notes.is_empty() => {
            return case.write_empty().map(drop);
        }
        Outcome::Passed => {
            case.write_inner_content(|xml| {
                write_tries(xml, "flakyFailure", &test.failed_tries)?;
                write_outputs(xml, &render_notes(test), "")
            })?;
            return Ok(());
        }
        Outcome::Failed => {
            case.write_inner_content(|xml| write_failure(xml, test))?;
            return Ok(());
        }
        Outcome::Skipped => {
            truncate::one_line(test.reason.as_deref().unwrap_or_default(), MAX_ATTRIBUTE_BYTES)
        }
        Outcome::NotRun => "not run: the run stopped early".to_owned(),
    };
    case.write_inner_content(|xml| {
        xml.create_element("skipped").with_attribute(("message", reason.as_str())).write_empty()?;
        Ok(())
    })?;
    Ok(())
}

fn write_failure(xml: &mut Xml, test: &Test) -> io::Result<()> {
    let Some((last, earlier)) = test.failed_tries.split_last() else {
        let failure = xml.create_element("failure");
        failure
            .with_attributes([("message", "failed without a message"), ("type", "expectation")])
            .write_empty()?;
        return Ok(());
    };
    let message = failure_text::headline(last, MAX_ATTRIBUTE_BYTES);
    xml.create_element("failure")
        .with_attributes([("message", message.as_str()), ("type", "expectation")])
        .write_text_content(BytesText::new(&failure_text::render_failed_test(test, last)))?;
    write_tries(xml, "rerunFailure", earlier)?;
    write_outputs(xml, &format!("{}{}", render_notes(test), last.stdout), &last.stderr)
}

/// Renders the notes as lines of output: the format has no element for them.
fn render_notes(test: &Test) -> String {
    failure_text::render_notes(test).iter().map(|note| format!("note: {note}\n")).collect()
}

/// Writes the tries before the last one.
fn write_tries(xml: &mut Xml, element: &str, tries: &[FailedTry]) -> io::Result<()> {
    tries.iter().try_for_each(|it| {
        let message = failure_text::headline(it, MAX_ATTRIBUTE_BYTES);
        let rerun = xml.create_element(element);
        let rerun = rerun.with_attributes([("message", message.as_str()), ("type", "expectation")]);
        rerun.write_inner_content(|xml| {
            write_text(xml, "stackTrace", &failure_text::render_failures(it))?;
            write_outputs(xml, &it.stdout, &it.stderr)
        })?;
        Ok(())
    })
}

fn write_outputs(xml: &mut Xml, stdout: &str, stderr: &str) -> io::Result<()> {
    for (element, output) in [("system-out", stdout), ("system-err", stderr)] {
        if !output.is_empty() {
            // GitLab would link to this as an attached file.
            let output = sanitize::escape_invisible(&truncate::end(output, MAX_OUTPUT_BYTES));
            write_text(xml, element, &output.replace("[[ATTACHMENT|", "[ [ATTACHMENT|"))?;
        }
    }
    Ok(())
}

fn write_text(xml: &mut Xml, element: &str, text: &str) -> io::Result<()> {
    xml.create_element(element).write_text_content(BytesText::new(text)).map(drop)
}

/// Removes the fraction of a second from a UTC time: some readers reject it.
fn timestamp(began: &str) -> String {
    let whole = began.split_once('.').map(|(whole, _)| format!("{whole}Z"));
    truncate::one_line(whole.as_deref().unwrap_or(began), MAX_ATTRIBUTE_BYTES)
}

fn seconds(ms: f64) -> String {
    format!("{:.3}", format::seconds(ms))
}

/// Returns the class name of a suite: its path with dots and without the extension. Readers
/// take the part before the last dot as the package.
fn class_name(suite: &str) -> String {
    let path = suite.strip_suffix(".yaml").unwrap_or(suite);
    let path = path.strip_suffix(".spar").unwrap_or(path);
    let folders = path.split('/').filter(|it| !matches!(*it, "" | "." | ".."));
    truncate::one_line(&folders.collect::<Vec<_>>().join("."), MAX_ATTRIBUTE_BYTES)
}

/// The names that are in use. Readers identify tests by class and name only.
#[derive(Default)]
struct UsedNames(HashSet<(String, String)>);

impl UsedNames {
    fn unique(&mut self, class: &str, name: String) -> String {
        let mut unique = name.clone();
        let mut number = 1;
        while !self.0.insert((class.to_owned(), unique.clone())) {
            number += 1;
            unique = format!("{name} ({number})");
        }
        unique
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_is_the_path_of_its_suite() {
        let classes =
            ["examples/weather.spar.yaml", "../a/b.spar.yaml", "./x.yaml", "plain"].map(class_name);
        assert_eq!(classes, ["examples.weather", "a.b", "x", "plain"]);
    }

    #[test]
    fn a_timestamp_has_whole_seconds() {
        let times = ["2026-07-28T12:00:00.123456789Z", "2026-07-28T12:00:00Z"].map(timestamp);
        assert_eq!(times, ["2026-07-28T12:00:00Z"; 2]);
    }

    #[test]
    fn names_are_unique_in_their_class() {
        let mut names = UsedNames::default();
        let mut given = |class, name: &str| names.unique(class, name.to_owned());
        assert_eq!([given("a", "x"), given("a", "x (2)"), given("b", "x")], ["x", "x (2)", "x"]);
        assert_eq!([given("a", "x"), given("a", "x")], ["x (3)", "x (4)"]);
    }
}
