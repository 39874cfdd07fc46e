//! All reports that somebody asked for: looked at before a run, begun with it,
//! and written at its end, also when that is an early one.

use std::future::poll_fn;
use std::io;
use std::sync::Arc;

use sparring_report::{Line, Outcome, Run};
use sparring_suite::{Event, Plan};
use sparring_transport::Secrets;

use super::asked::Asked;
use super::ci::Ci;
use super::destination::Destination;
use super::kind::Kind;
use super::record::Record;
use crate::failure::Failure;
use crate::output::{Outlet, Printer};
use crate::signals::Signals;

/// Reports, and where each of them goes.
pub(crate) struct Reports {
    all: Vec<Wanted>,
    ci: Arc<Ci>,
    /// Whether lines go out as they come, and have gone out at the end.
    live: bool,
}

struct Wanted {
    kind: Kind,
    to: Destination,
    /// Where that is, as it was typed.
    typed: String,
    /// Where lines go as they come, once they do.
    stream: Option<Outlet>,
}

/// The reports of one run.
pub(crate) struct Round<'a> {
    reports: &'a Reports,
    printer: &'a Printer,
    record: Record<'a>,
}

impl Reports {
    /// Looks whether all of them can be written.
    ///
    /// # Errors
    /// When one cannot be, or two would be at one place.
    pub(crate) fn new(asked: &[Asked], ci: Ci) -> Result<Reports, Failure> {
        let mut all: Vec<Wanted> = Vec::new();
        for Asked { kind, path } in asked {
            let to = match path {
                None => Destination::Stdout,
                Some(path) => Destination::of(path)?,
            };
            let typed = path.as_ref().map_or("stdout".into(), |path| path.display().to_string());
            if let Some(other) = all.iter().find(|it| it.to.is_taken_from(&to)) {
                let (one, other) = (other.kind.name(), kind.name());
                let told = format!("two reports go to {typed}: {one} and {other}");
                return Err(Failure::Usage(told));
            }
            all.push(Wanted { kind: *kind, to, typed, stream: None });
        }
        Ok(Reports { all, ci: Arc::new(ci), live: false })
    }

    /// Whether there is anything to gather.
    pub(crate) fn are_wanted(&self) -> bool {
        !self.all.is_empty() || self.ci.is_github
    }

    /// Whether stdout is for one of them.
    pub(crate) fn have_stdout(&self) -> bool {
        self.all.iter().any(|it| it.to == Destination::Stdout)
    }

    /// A run begins.
    ///
    /// # Errors
    /// When one that comes line by line cannot be begun, or a signal comes.
    pub(crate) async fn begin<'a>(
        &'a mut self,
        plan: &'a Plan,
        shard: Option<String>,
        secrets: &'a Secrets,
        printer: &'a Printer,
        signals: &mut Signals,
    ) -> Result<Round<'a>, Failure> {
        self.live = true;
        for wanted in &mut self.all {
            wanted.open(signals).await?;
        }
        let record = Record::new(plan, shard, secrets);
        let round = Round { reports: self, printer, record };
        signals.during(round.stream(|| Line::began(&round.record.run).text())).await?;
        Ok(round)
    }

    /// Writes a run, and gives what could not be written. What came line by line
    /// is only waited for.
    ///
    /// # Errors
    /// When a signal comes first.
    pub(crate) async fn write(
        &self,
        run: Run,
        printer: &Printer,
        signals: &mut Signals,
    ) -> Result<Vec<Failure>, Failure> {
        let (run, mut failures) = (Arc::new(run), Vec::new());
        for wanted in &self.all {
            let written = match (&wanted.stream, &wanted.to) {
                (Some(stream), _) => signals.during(stream.written()).await?,
                (None, Destination::Stdout) => {
                    let has_come = self.live && wanted.kind == Kind::Ndjson;
                    // Of lines that have gone out it is only asked whether they could.
                    let text = (!has_come).then(|| wanted.kind.text(&run, &self.ci));
                    let text = text.unwrap_or_default();
                    let printed = signals.during(printer.print_foreign(text.as_bytes())).await?;
                    failures.extend(printed.err());
                    Ok(())
                }
                (None, _) => {
                    let (to, kind, run) = (wanted.to.clone(), wanted.kind, Arc::clone(&run));
                    let ci = Arc::clone(&self.ci);
                    signals.beside(move || to.write(&kind.text(&run, &ci))).await?
                }
            };
            failures.extend(written.err().map(|error| wanted.unwritten(&error)));
        }
        failures.retain(|failure| !failure.is_silent());
        if self.live && self.ci.is_github {
            self.tell_github(run, printer, signals).await?;
        }
        Ok(failures)
    }

    /// Gives GitHub what it shows beside the files and on the page of the run.
    /// It reads both streams, and stdout is for what was asked for.
    async fn tell_github(
        &self,
        run: Arc<Run>,
        printer: &Printer,
        signals: &mut Signals,
    ) -> Result<(), Failure> {
        let is_told = |it: &Wanted| it.kind == Kind::Github && it.to == Destination::Stdout;
        if !self.all.iter().any(is_told) {
            let text = Kind::Github.text(&run, &self.ci);
            signals.during(printer.remark(&text)).await?;
        }
        let ci = Arc::clone(&self.ci);
        let summarize = move || ci.summarize(&Kind::Markdown.text(&run, &ci));
        if let Err(told) = signals.beside(summarize).await? {
            printer.note(&told).await;
        }
        Ok(())
    }
}

impl Wanted {
    /// Opens what is written line by line, the first time.
    async fn open(&mut self, signals: &mut Signals) -> Result<(), Failure> {
        if self.kind != Kind::Ndjson || self.to == Destination::Stdout || self.stream.is_some() {
            return Ok(());
        }
        let to = self.to.clone();
        let opened = signals.beside(move || to.open()).await?;
        self.stream = Some(Outlet::new(opened.map_err(|error| self.unwritten(&error))?));
        Ok(())
    }

    fn unwritten(&self, error: &io::Error) -> Failure {
        let (name, typed) = (self.kind.name(), &self.typed);
        Failure::File(format!("cannot write the {name} report to {typed}: {error}"))
    }
}

impl Round<'_> {
    /// Takes note of something that happened; what was said in a test is taken
    /// out of it.
    pub(crate) async fn take(&mut self, event: &mut Event) {
        match event {
            Event::Started { test } => {
                let of = &self.record.run.tests[*test];
                self.stream(|| Line::started(*test, of).text()).await;
            }
            Event::Finished { test, end } => {
                self.record.finish(*test, end);
                self.finished(*test).await;
            }
            _ => {}
        }
    }

    /// Writes all of them, and gives what could not be written.
    ///
    /// # Errors
    /// When a signal comes first.
    pub(crate) async fn end(
        mut self,
        stopped: bool,
        signals: &mut Signals,
    ) -> Result<Vec<Failure>, Failure> {
        self.record.end(stopped);
        let last = async {
            for (number, test) in self.record.run.tests.iter().enumerate() {
                if test.outcome == Outcome::NotRun {
                    self.finished(number).await;
                }
            }
            self.stream(|| Line::ended(&self.record.run).text()).await;
        };
        signals.during(last).await?;
        self.reports.write(self.record.run, self.printer, signals).await
    }

    async fn finished(&self, number: usize) {
        let test = &self.record.run.tests[number];
        self.stream(|| Line::Finished { number, test }.text()).await;
    }

    /// Gives a line to all who get them as they come. Whether somebody takes it
    /// changes nothing about the tests.
    async fn stream(&self, line: impl Fn() -> String) {
        for wanted in self.reports.all.iter().filter(|it| it.kind == Kind::Ndjson) {
            match &wanted.stream {
                Some(stream) => {
                    poll_fn(|cx| stream.poll_room(cx)).await;
                    stream.queue(line().as_bytes());
                }
                None => drop(self.printer.print_foreign(line().as_bytes()).await),
            }
        }
    }
}
