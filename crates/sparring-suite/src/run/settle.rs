//! Waits for what is expected to come, and for quiet where nothing may.

use std::time::Duration;

use sparring_script::Scope;
use tokio::time::{Instant, sleep};

use crate::judge;
use crate::model::{Collection, Expect, Facet};
use crate::run::Heard;

/// How long something that is expected may take to come.
pub(super) const PATIENCE: Duration = Duration::from_secs(2);

/// How long nothing may come for it to be quiet.
const QUIET: Duration = Duration::from_millis(100);

/// How often it is looked.
const OFTEN: Duration = Duration::from_millis(5);

/// Looks again and again, by `listen`, until what is expected to come has come
/// and, where something must not come, until it is quiet.
pub(super) async fn settle(
    expect: &Expect,
    patience: Duration,
    scope: &dyn Scope,
    heard: &mut Heard,
    mut listen: impl FnMut(&mut Heard),
) {
    let facets: Vec<&Facet> = expect.0.iter().map(|(_, facet)| facet).filter(comes).collect();
    if facets.is_empty() {
        return;
    }
    let end = Instant::now() + patience;
    while Instant::now() < end && !facets.iter().all(|facet| judge::has_come(facet, heard, scope)) {
        sleep(OFTEN).await;
        listen(heard);
    }
    let watched = facets.iter().any(|facet| judge::may_not_come(facet, scope));
    let (mut size, mut since) = (extent(heard), Instant::now());
    while watched && since.elapsed() < QUIET && Instant::now() < end + QUIET {
        sleep(OFTEN).await;
        listen(heard);
        if extent(heard) != size {
            (size, since) = (extent(heard), Instant::now());
        }
    }
}

/// Whether it is about something that may come after the answer.
fn comes(facet: &&Facet) -> bool {
    match facet {
        Facet::Items(collection, _) => *collection != Collection::List,
        Facet::Stderr(_) | Facet::Status(_) | Facet::Headers(_) | Facet::Journal { .. } => true,
        Facet::Value(..)
        | Facet::Exit(_)
        | Facet::Stdout(_)
        | Facet::Files(_)
        | Facet::Within(_)
        | Facet::Snapshot(_) => false,
    }
}

/// How much has come.
fn extent(heard: &Heard) -> [usize; 5] {
    let came = heard.journals.values().map(Vec::len).sum();
    let (sent, asked) = (heard.frames.len(), heard.requests.len());
    [sent, asked, heard.violations.len(), heard.stderr.len(), came]
}
