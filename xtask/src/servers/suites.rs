//! Writes a suite for a real server with `spar init`, in each revision that the server speaks,
//! and runs it with `spar test`.

use std::fs;
use std::time::Instant;

use anyhow::{Context as _, Result};

use super::list::RealServer;
use super::{Installation, Outcome, run_spar};

const REVISIONS: [&str; 5] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];

impl Installation {
    /// Writes and runs the suites of a server. They fail only in the revisions in which the
    /// server is known to break a rule that its suite shows.
    pub(super) fn run_suites(&self, server: &'static RealServer) -> Result<Vec<Outcome>> {
        let mut outcomes = Vec::new();
        for revision in REVISIONS {
            if self.speaks(server, revision)? {
                outcomes.push(self.run_suite(server, revision)?);
            }
        }
        Ok(outcomes)
    }

    /// Returns true if the server answers a request in this revision.
    fn speaks(&self, server: &RealServer, revision: &str) -> Result<bool> {
        let work = self.create_work_folder(server)?;
        let ping = self.spar(&work, &["ping", "--protocol", revision])?;
        Ok(self.run_on(server, &work, ping)?.status.success())
    }

    fn run_suite(&self, server: &'static RealServer, revision: &'static str) -> Result<Outcome> {
        let work = self.create_work_folder(server)?;
        let began = Instant::now();
        let mut init = self.spar(&work, &["init", "suite", "--protocol", revision])?;
        if server.calls_all_tools() {
            init.arg("--all-tools");
        }
        let written = self.run_on(server, &work, init)?;
        // The suite reads the variables from its own environment.
        let mut test = self.spar(&work, &["test", "suite"])?;
        for (name, value) in server.variables {
            test.env(name, self.replace(server, &work, value));
        }
        let tested = run_spar(test)?;
        let texts = [written.stdout, written.stderr, tested.stdout.clone(), tested.stderr].concat();
        let report = work.with_file_name(format!("{}-{revision}.txt", server.name));
        fs::write(&report, &texts).with_context(|| format!("writing {}", report.display()))?;
        let text = String::from_utf8_lossy(&tested.stdout);
        let last_line = text.lines().last().unwrap_or("no report");
        let fails = !written.status.success() || !tested.status.success();
        let known = server.failing_suites.iter().find(|(known, _)| *known == revision);
        let is_good = fails == known.is_some();
        if !is_good {
            eprintln!("{}", String::from_utf8_lossy(&texts));
        }
        let result = match known {
            Some((_, reason)) => format!("{last_line} ({reason})"),
            None => last_line.to_owned(),
        };
        let name = format!("{} {revision}", server.name);
        Ok(Outcome { name, result, is_good, took: began.elapsed() })
    }
}
