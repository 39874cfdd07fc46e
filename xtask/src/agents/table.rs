//! The table of the suites' results, from the JSON reports of `spar test`.

use std::fmt;

use anyhow::{Context as _, Result};
use serde_json::Value;

/// The results of all suites.
#[derive(Default)]
pub(super) struct Table {
    rows: Vec<Row>,
}

struct Row {
    label: String,
    /// `None` if the agent could not be installed.
    counts: Option<Counts>,
}

struct Counts {
    passed: u64,
    failed: u64,
    skipped: u64,
    seconds: f64,
}

impl Table {
    /// Adds the results in a report.
    pub(super) fn add(&mut self, label: &str, report: &[u8]) -> Result<()> {
        let report: Value = serde_json::from_slice(report)
            .with_context(|| format!("the report of {label} is not JSON"))?;
        let count = |name: &str| report["summary"][name].as_u64().unwrap_or_default();
        let counts = Counts {
            passed: count("passed"),
            failed: count("failed") + count("not_run"),
            skipped: count("skipped"),
            seconds: report["took_ms"].as_f64().unwrap_or_default() / 1000.0,
        };
        self.rows.push(Row { label: label.to_owned(), counts: Some(counts) });
        Ok(())
    }

    /// Adds an agent that could not be installed.
    pub(super) fn add_missing(&mut self, label: &str) {
        self.rows.push(Row { label: label.to_owned(), counts: None });
    }

    /// Returns true if every suite ran and no test failed.
    pub(super) fn all_passed(&self) -> bool {
        let passed = |counts: &Counts| counts.passed > 0 && counts.failed + counts.skipped == 0;
        self.rows.iter().all(|row| row.counts.as_ref().is_some_and(passed))
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.rows.iter().map(|row| row.label.len()).max().unwrap_or_default();
        writeln!(f, "{:width$}  passed  failed  skipped     time", "suite")?;
        for Row { label, counts } in &self.rows {
            match counts {
                None => writeln!(f, "{label:width$}  cannot be installed")?,
                Some(Counts { passed, failed, skipped, seconds }) => writeln!(
                    f,
                    "{label:width$}  {passed:6}  {failed:6}  {skipped:7}  {seconds:6.1}s"
                )?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Table;

    fn report(passed: u64, failed: u64, skipped: u64) -> Vec<u8> {
        let summary = json!({"passed": passed, "failed": failed, "skipped": skipped, "not_run": 0});
        json!({"took_ms": 12_345.6, "summary": summary}).to_string().into_bytes()
    }

    #[test]
    fn shows_a_row_for_each_suite() {
        let mut table = Table::default();
        table.add("a/long.spar.yaml", &report(8, 0, 0)).unwrap();
        table.add_missing("b");
        let expected = "\
suite             passed  failed  skipped     time
a/long.spar.yaml       8       0        0    12.3s
b                 cannot be installed
";
        assert_eq!(table.to_string(), expected);
    }

    #[test]
    fn fails_unless_every_test_of_every_suite_passed() {
        for (passed, failed, skipped, expected) in
            [(1, 0, 0, true), (1, 1, 0, false), (0, 0, 2, false), (0, 0, 0, false)]
        {
            let mut table = Table::default();
            table.add("a", &report(passed, failed, skipped)).unwrap();
            assert_eq!(table.all_passed(), expected, "{passed} {failed} {skipped}");
        }
        let mut table = Table::default();
        table.add_missing("b");
        assert!(!table.all_passed());
    }
}
