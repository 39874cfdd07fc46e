//! What happens besides an answer: before it, and after it.

use sparring_peer::server::Failure;
use sparring_wire::RawJson;

use super::Mock;
use super::facts::Facts;
use super::perform::render;
use crate::model::{Kind, Reply, Step};
use crate::stage::Happening;

/// The changes that clients subscribe to; since 2026-07-28 they come with no
/// request.
const CHANGES: [&str; 4] = [
    "notifications/tools/list_changed",
    "notifications/resources/list_changed",
    "notifications/prompts/list_changed",
    "notifications/resources/updated",
];

impl Mock {
    /// Does what happens before an answer.
    pub(super) async fn during(&self, steps: &[Step], facts: &Facts<'_>) -> Result<(), Failure> {
        for step in steps {
            match step {
                Step::Delay(time) => tokio::time::sleep(*time).await,
                step => self.step(step, facts)?,
            }
        }
        Ok(())
    }

    fn step(&self, step: &Step, facts: &Facts<'_>) -> Result<(), Failure> {
        match step {
            Step::Progress { progress, total, message } => {
                let message = message.as_ref().map(|it| render(it, facts)).transpose()?;
                let message = message.as_ref().and_then(|message| message.as_str());
                facts.cx.progress(*progress, *total, message);
            }
            Step::Log { level, logger, data } => {
                facts.cx.log_as(logger.as_deref(), *level, &render(data, facts)?);
            }
            Step::BreakOff => facts.cx.break_off(),
            Step::Notify { method, .. } if !CHANGES.contains(&&**method) => {
                if let Happening::Notify(method, params) = self.happening(step, facts)? {
                    facts.cx.notify(&method, params);
                }
            }
            step => self.happen(&self.happening(step, facts)?),
        }
        Ok(())
    }

    /// Lets happen, in a while, what comes after the answer.
    pub(super) fn after(&self, reply: &Reply, facts: &Facts<'_>) -> Result<(), Failure> {
        if reply.after.is_empty() {
            return Ok(());
        }
        let all = reply.after.iter().map(|step| self.happening(step, facts));
        let all = all.collect::<Result<Vec<_>, _>>()?;
        // Where nothing runs that could do it, there is nobody to tell either.
        let _ = self.later.send(all);
        Ok(())
    }

    fn happening(&self, step: &Step, facts: &Facts<'_>) -> Result<Happening, Failure> {
        Ok(match step {
            Step::Notify { method, params } => {
                let params = params.as_ref().map(|it| render(it, facts)).transpose()?;
                Happening::Notify(method.clone(), params.map(RawJson::from))
            }
            Step::List { kind, id, shown } => Happening::List(*kind, id.clone(), *shown),
            Step::Delay(time) => Happening::Wait(*time),
            // The grammar has no others outside of a request.
            _ => Happening::Wait(std::time::Duration::ZERO),
        })
    }

    /// Lets something happen now, whatever request there is.
    pub(crate) fn happen(&self, happening: &Happening) {
        match happening {
            Happening::Notify(method, params) => self.tell(method, params.clone()),
            Happening::List(kind, id, shown) => self.set_shown(*kind, id, *shown),
            Happening::Wait(_) => {}
        }
    }
}

impl Step {
    /// What happens by itself has no request whose values could fill it.
    pub(crate) fn by_itself(&self) -> Option<Happening> {
        match self {
            Step::Notify { method, params } => {
                let params = params.as_ref().and_then(|params| params.plain());
                Some(Happening::Notify(method.clone(), params.map(RawJson::from)))
            }
            Step::List { kind, id, shown } => {
                let kind: Kind = *kind;
                Some(Happening::List(kind, id.clone(), *shown))
            }
            _ => None,
        }
    }
}
