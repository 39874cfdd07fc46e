//! Runs the steps before an answer, and schedules those after it.

use sparring_peer::server::HandlerError;
use sparring_wire::RawJson;

use super::MockHandler;
use super::answer::render;
use super::template_scope::RequestScope;
use crate::model::{Reply, Step};
use crate::scheduler::Action;

/// Notifications that clients subscribe to; since 2026-07-28 they do not belong to a request.
const SUBSCRIBED_NOTIFICATIONS: [&str; 4] = [
    "notifications/tools/list_changed",
    "notifications/resources/list_changed",
    "notifications/prompts/list_changed",
    "notifications/resources/updated",
];

impl MockHandler {
    /// Runs the steps before an answer.
    pub(super) async fn run_steps(
        &self,
        steps: &[Step],
        scope: &RequestScope<'_>,
    ) -> Result<(), HandlerError> {
        for step in steps {
            match step {
                Step::Delay(time) => tokio::time::sleep(*time).await,
                step => self.run_step(step, scope)?,
            }
        }
        Ok(())
    }

    fn run_step(&self, step: &Step, scope: &RequestScope<'_>) -> Result<(), HandlerError> {
        match step {
            Step::Progress { progress, total, message } => {
                let message = message.as_ref().map(|it| render(it, scope)).transpose()?;
                let message = message.as_ref().and_then(|message| message.as_str());
                scope.cx.progress(*progress, *total, message);
            }
            Step::Log { level, logger, data } => {
                scope.cx.log_as(logger.as_deref(), *level, &render(data, scope)?);
            }
            Step::BreakOff => scope.cx.close_stream(),
            Step::Notify { method, .. } if !SUBSCRIBED_NOTIFICATIONS.contains(&&**method) => {
                if let Action::Notify(method, params) = self.to_action(step, scope)? {
                    scope.cx.notify(&method, params);
                }
            }
            step => self.run_action(&self.to_action(step, scope)?),
        }
        Ok(())
    }

    /// Schedules the steps after an answer.
    pub(super) fn schedule_steps(
        &self,
        reply: &Reply,
        scope: &RequestScope<'_>,
    ) -> Result<(), HandlerError> {
        if reply.after.is_empty() {
            return Ok(());
        }
        let actions = reply.after.iter().map(|step| self.to_action(step, scope));
        let actions = actions.collect::<Result<Vec<_>, _>>()?;
        // Without a scheduler, there are no clients to notify.
        let _ = self.scheduled.send(actions);
        Ok(())
    }

    fn to_action(&self, step: &Step, scope: &RequestScope<'_>) -> Result<Action, HandlerError> {
        Ok(match step {
            Step::Notify { method, params } => {
                let params = params.as_ref().map(|it| render(it, scope)).transpose()?;
                Action::Notify(method.clone(), params.map(RawJson::from))
            }
            Step::SetVisible { kind, id, visible } => {
                Action::SetVisible(*kind, id.clone(), *visible)
            }
            Step::Delay(time) => Action::Wait(*time),
            // The grammar allows no others after an answer.
            _ => Action::Wait(std::time::Duration::ZERO),
        })
    }

    /// Runs an action now.
    pub(crate) fn run_action(&self, action: &Action) {
        match action {
            Action::Notify(method, params) => self.notify(method, params.clone()),
            Action::SetVisible(kind, id, visible) => self.set_visible(*kind, id, *visible),
            Action::Wait(_) => {}
        }
    }
}

impl Step {
    /// Converts a step of a timer, which has no request to render templates from.
    pub(crate) fn to_timer_action(&self) -> Option<Action> {
        match self {
            Step::Notify { method, params } => {
                let params = params.as_ref().and_then(|params| params.as_literal());
                Some(Action::Notify(method.clone(), params.map(RawJson::from)))
            }
            Step::SetVisible { kind, id, visible } => {
                Some(Action::SetVisible(*kind, id.clone(), *visible))
            }
            _ => None,
        }
    }
}
