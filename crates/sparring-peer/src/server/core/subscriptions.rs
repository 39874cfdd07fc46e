//! The changes that a client subscribes to: by `subscriptions/listen` since
//! 2026-07-28 (basic/patterns/subscriptions), by a set of resources before.

use serde_json::json;
use sparring_wire::types::LogLevel;
use sparring_wire::{ErrorObject, Frame, Id, Json, RawJson};

use super::{Core, CurrentLists};
use crate::client::SubscriptionFilter;
use crate::link::Outgoing;

const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";

impl<A> Core<A> {
    /// Opens a subscription: acknowledges it at once, and answers it when it
    /// ends.
    pub(super) fn open_subscription(
        &mut self,
        id: &Id,
        params: Option<Json<'_>>,
    ) -> Result<(), ErrorObject> {
        let wanted =
            params.and_then(|params| params.get("notifications")).filter(|found| found.is_object());
        let Some(wanted) = wanted else {
            return Err(ErrorObject::invalid_params("notifications: expected an object"));
        };
        let granted = SubscriptionFilter::parse(wanted).limited_to(&self.profile.capabilities);
        let params = RawJson::from(json!({"notifications": granted.to_value()}));
        self.notify_subscription(id, "notifications/subscriptions/acknowledged", &params);
        if let Some(request) = self.in_flight.get_mut(id) {
            self.uris_changed |= !granted.uris.is_empty();
            request.subscription = Some(granted);
            self.wants_changes = true;
        }
        Ok(())
    }

    /// Notifies the client of a change, once for each matching subscription.
    /// Since 2026-07-28 only changes that a filter can name are sent.
    ///
    /// With `lists`, the change is that these are now the current lists: a client
    /// with a handshake is notified only if it has read another one.
    pub fn broadcast(&mut self, notification: &Frame, lists: Option<&CurrentLists>) {
        let (method, params) = (notification.method().unwrap_or_default(), notification.params());
        if let Some(session) = self.session.as_mut().filter(|session| session.ready) {
            let uri = params.and_then(|params| params.get("uri")).and_then(Json::as_str);
            let wanted = match method {
                "notifications/resources/updated" => {
                    uri.is_some_and(|uri| session.subscribed.contains(&*uri))
                }
                "notifications/message" => {
                    let level = params.and_then(|params| params.get("level"));
                    let level = level.and_then(Json::as_str);
                    let level = level.and_then(|name| LogLevel::from_name(&name));
                    level
                        .is_some_and(|level| session.log_level.is_none_or(|lowest| level >= lowest))
                }
                _ => lists.is_none_or(|lists| session.seen_lists.take_changed(lists)),
            };
            if wanted {
                self.actions.push_back(notification.clone().into());
            }
        }
        if lists.is_some_and(|lists| !lists.to_subscriptions) {
            return;
        }
        let fits = |filter: &SubscriptionFilter| filter.matches(method, params);
        let subscriptions: Vec<Id> = self
            .in_flight
            .iter()
            .filter(|(_, request)| request.subscription.as_ref().is_some_and(fits))
            .map(|(id, _)| id.clone())
            .collect();
        let params = params.map_or_else(RawJson::empty_object, RawJson::from);
        for id in subscriptions {
            self.notify_subscription(&id, method, &params);
        }
    }

    /// Ends all subscriptions normally, as before a shutdown, with the result
    /// that the page on subscriptions requires. The page on cancellation requires
    /// `notifications/cancelled` as well. It is left out, because after the
    /// result it would name a request that no longer exists.
    pub fn end_subscriptions(&mut self) {
        let open = self.in_flight.iter().filter(|(_, request)| request.subscription.is_some());
        let open: Vec<(Id, u64)> = open.map(|(id, request)| (id.clone(), request.key)).collect();
        for (id, key) in open {
            let result =
                RawJson::empty_object().with_member("_meta", subscription_meta(&id).view());
            self.finish(&id, key, Ok(result.into()));
        }
    }

    /// Sends a notification with the id of its subscription.
    fn notify_subscription(&mut self, id: &Id, method: &str, params: &RawJson) {
        let params = params.with_member("_meta", subscription_meta(id).view());
        let frame = Frame::notification(method, Some(&params));
        self.actions.push_back(Outgoing::send_on(self.stream_for(id), frame));
    }
}

fn subscription_meta(id: &Id) -> RawJson {
    RawJson::empty_object().with_member(SUBSCRIPTION_ID, RawJson::from(id).view())
}
