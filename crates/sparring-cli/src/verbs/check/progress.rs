//! The progress line of a check, on the last line of a terminal.

use std::future::Future;
use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval};

use super::watched_target::WatchedTarget;
use crate::output::Printer;

/// The line is shown after this time, and updated in this interval.
const SHOW_AFTER: Duration = Duration::from_millis(500);
const INTERVAL: Duration = Duration::from_millis(100);

/// Shows the progress until the work is done.
pub(super) async fn show<T>(
    work: impl Future<Output = T>,
    target: &WatchedTarget,
    printer: &Printer,
) -> T {
    let ticks = async {
        tokio::time::sleep(SHOW_AFTER).await;
        let mut ticks = interval(INTERVAL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            printer.show_status(&target.progress());
        }
    };
    let done = tokio::select! {
        biased;
        done = work => done,
        never = ticks => never,
    };
    printer.erase_status();
    done
}
