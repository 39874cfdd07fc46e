//! What a client wants to be told: standing requests since 2026-07-28
//! (basic/patterns/subscriptions), before that a set of resources.

use serde_json::json;
use sparring_wire::types::LogLevel;
use sparring_wire::{ErrorObject, Frame, Id, Json, RawJson};

use super::Core;
use crate::client::Filter;
use crate::link::Outgoing;

const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

impl<A> Core<A> {
    /// Opens a subscription: acknowledged at once, answered when it ends.
    pub(super) fn listen(&mut self, id: &Id, params: Option<Json<'_>>) -> Result<(), ErrorObject> {
        let wanted =
            params.and_then(|params| params.get("notifications")).filter(|found| found.is_object());
        let Some(wanted) = wanted else {
            return Err(ErrorObject::invalid_params("notifications: expected an object"));
        };
        let granted = Filter::read(wanted).granted_by(&self.profile.capabilities);
        let params = RawJson::from(json!({"notifications": granted.to_value()}));
        self.tell(id, "notifications/subscriptions/acknowledged", &params);
        if let Some(job) = self.in_flight.get_mut(id) {
            self.other_uris |= !granted.uris.is_empty();
            job.listening = Some(granted);
            self.heeds_changes = true;
        }
        Ok(())
    }

    /// Tells the client of a change, as often and as far as it wants to know.
    /// Since 2026-07-28 only changes that a filter can name are told.
    pub fn broadcast(&mut self, method: &str, params: Option<&RawJson>) {
        if let Some(session) = self.session.as_ref().filter(|session| session.ready) {
            let uri = params.and_then(|params| params.view().get("uri")).and_then(Json::as_str);
            let wanted = match method {
                "notifications/resources/updated" => {
                    uri.is_some_and(|uri| session.subscribed.contains(&*uri))
                }
                "notifications/message" => {
                    let level = params.and_then(|params| params.view().get("level"));
                    let level = level.and_then(Json::as_str);
                    let level = level.and_then(|name| LogLevel::from_name(&name));
                    level.is_some_and(|level| session.log_level.is_none_or(|least| level >= least))
                }
                _ => true,
            };
            if wanted {
                self.actions.push_back(Frame::notification(method, params).into());
            }
        }
        let fits = |filter: &Filter| filter.fits(method, params.map(RawJson::view));
        let listeners: Vec<Id> = self
            .in_flight
            .iter()
            .filter(|(_, job)| job.listening.as_ref().is_some_and(fits))
            .map(|(id, _)| id.clone())
            .collect();
        let params = params.cloned().unwrap_or_else(RawJson::empty_object);
        for id in listeners {
            self.tell(&id, method, &params);
        }
    }

    /// Ends all subscriptions in good order, as before a shutdown: by the result
    /// that the page on subscriptions asks for. The page on cancellation wants
    /// `notifications/cancelled` as well; after the result it would name a
    /// request that is no more, so it is left out.
    pub fn end_subscriptions(&mut self) {
        let standing = self.in_flight.iter().filter(|(_, job)| job.listening.is_some());
        let standing: Vec<(Id, u64)> = standing.map(|(id, job)| (id.clone(), job.key)).collect();
        for (id, key) in standing {
            let result = RawJson::empty_object().with_member("_meta", tag(&id).view());
            self.finish(&id, key, Ok(result.into()));
        }
    }

    /// A notification on one subscription, tagged with it.
    fn tell(&mut self, id: &Id, method: &str, params: &RawJson) {
        let params = params.with_member("_meta", tag(id).view());
        let frame = Frame::notification(method, Some(&params));
        self.actions.push_back(Outgoing::on(self.stream_of(id), frame));
    }
}

fn tag(id: &Id) -> RawJson {
    RawJson::empty_object().with_member(SUBSCRIPTION, RawJson::from(id).view())
}
