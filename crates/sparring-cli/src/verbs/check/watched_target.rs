//! The server under check: opens its connections, writes the trace, copies its stderr, and
//! keeps the progress.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sparring_check::{CheckObserver, CheckTarget, OpenFuture};
use sparring_transport::http::HttpTarget;
use sparring_transport::{Stderr, Target};
use sparring_wire::{Revision, Rule, TranscriptItem};

use crate::args::TargetFlags;
use crate::backpressure_link::BackpressureLink;
use crate::command_error::CommandError;
use crate::frame_queue::FrameQueue;
use crate::output::{Printer, ThreadedWriter};
use crate::stderr_relay::StderrRelay;
use crate::{trace, traffic_observer};

/// The server under check.
pub(super) struct WatchedTarget {
    target: Target,
    trace: Option<(PathBuf, ThreadedWriter)>,
    /// The writer and the rawness of copied stderr (`--show-stderr`).
    relay_to: Option<(ThreadedWriter, bool)>,
    opened: Mutex<Opened>,
    started_probes: AtomicUsize,
    current: Mutex<Option<(Revision, Rule)>>,
    revisions: usize,
}

#[derive(Default)]
struct Opened {
    connections: usize,
    /// The stderr of the last process.
    stderr: Option<Stderr>,
    relays: Vec<StderrRelay>,
}

impl WatchedTarget {
    /// Creates the trace file.
    ///
    /// # Errors
    /// When the trace file cannot be created.
    pub(super) async fn new(
        target: Target,
        flags: &TargetFlags,
        revisions: usize,
        printer: &Printer,
    ) -> Result<Arc<WatchedTarget>, CommandError> {
        let trace = match flags.connection.trace.clone() {
            None => None,
            Some(path) => Some(traffic_observer::create(path, printer.secrets()).await?),
        };
        let relay_to = flags.show_stderr().then(|| (printer.stderr().clone(), flags.raw()));
        Ok(Arc::new(WatchedTarget {
            target,
            trace,
            relay_to,
            opened: Mutex::default(),
            started_probes: AtomicUsize::new(0),
            current: Mutex::default(),
            revisions,
        }))
    }

    /// Returns the transport in a few words.
    pub(super) fn transport(&self) -> &'static str {
        match &self.target {
            Target::Child(_) => "stdio",
            Target::Container(_) => "stdio in a container",
            Target::Http(_) => "HTTP",
            _ => "a socket",
        }
    }

    /// Returns the transport in one word, for reports.
    pub(super) fn transport_name(&self) -> &'static str {
        match &self.target {
            Target::Child(_) => "stdio",
            Target::Container(_) => "container",
            Target::Http(_) => "http",
            _ => "unix",
        }
    }

    /// Returns the end of the stderr of the last process.
    pub(super) fn stderr(&self) -> Option<String> {
        let opened = self.opened();
        opened.stderr.as_ref().filter(|_| self.relay_to.is_none()).map(Stderr::tail)
    }

    /// Describes the progress in one line.
    pub(super) fn progress(&self) -> String {
        let all = sparring_check::probe_count() * self.revisions.max(1);
        let started = self.started_probes.load(Ordering::Relaxed);
        let connections = self.opened().connections;
        let percent = (started * 100 / all.max(1)).min(99);
        match *lock(&self.current) {
            Some((revision, rule)) => {
                format!("{percent}%, {connections} connections · {revision} {rule}")
            }
            None => "connecting".to_owned(),
        }
    }

    /// Waits until the trace and the copied stderr are written.
    ///
    /// # Errors
    /// When the trace could not be written.
    pub(super) async fn finish(&self) -> Result<(), CommandError> {
        let relays = std::mem::take(&mut self.opened().relays);
        for mut relay in relays {
            relay.finish().await;
        }
        match &self.trace {
            None => Ok(()),
            Some((path, writer)) => {
                let written = writer.flush().await;
                written.map_err(|error| traffic_observer::trace_error(path, &error))
            }
        }
    }

    fn opened(&self) -> MutexGuard<'_, Opened> {
        lock(&self.opened)
    }
}

impl CheckTarget for WatchedTarget {
    fn open(&self) -> OpenFuture<'_> {
        Box::pin(async {
            let mut opened = self.target.open().await?;
            let mut all = self.opened();
            all.connections += 1;
            if let Some(stderr) = &opened.stderr {
                if let Some((to, raw)) = &self.relay_to {
                    all.relays.push(StderrRelay::start(stderr, to, *raw));
                }
                all.stderr = Some(stderr.clone());
            }
            drop(all);
            if let Some((_, writer)) = &self.trace {
                opened.link = Box::new(BackpressureLink {
                    link: opened.link,
                    frames: FrameQueue::default(),
                    trace: Some(writer.clone()),
                    closing: false,
                });
            }
            Ok(opened)
        })
    }

    fn starts_processes(&self) -> bool {
        self.target.starts_processes()
    }

    fn http(&self) -> Option<&HttpTarget> {
        self.target.http()
    }
}

impl CheckObserver for WatchedTarget {
    fn recorded(&self, item: &TranscriptItem<'_>) {
        if let Some((_, writer)) = &self.trace {
            let line = match item {
                TranscriptItem::Entry(entry) => trace::frame_line(entry),
                TranscriptItem::Exchange(exchange) => trace::exchange_line(exchange),
                TranscriptItem::Violation(violation) => trace::violation_line(violation),
            };
            writer.queue(line.as_bytes());
        }
    }

    fn probe_started(&self, revision: Revision, rules: &[Rule]) {
        self.started_probes.fetch_add(1, Ordering::Relaxed);
        *lock(&self.current) = rules.first().map(|rule| (revision, *rule));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
