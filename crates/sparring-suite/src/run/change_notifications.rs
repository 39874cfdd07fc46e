//! Subscribes to change notifications. Since 2026-07-28 a server sends only the
//! notifications that a client listens for.

use sparring_peer::Client;
use sparring_peer::client::{Error, Subscription, SubscriptionFilter};
use sparring_wire::Revision;

use crate::model::{Collection, Suite};

/// Subscribes to every change notification that the server declares, if a test expects
/// notifications and the revision needs a subscription.
///
/// # Errors
/// When the server refuses the subscription.
pub(super) async fn subscribe(
    client: &Client,
    suite: &Suite,
    server: usize,
) -> Result<Option<Subscription>, Error> {
    let expected =
        suite.steps_on(server).any(|step| step.expect.checks_items(Collection::Notifications));
    let capabilities = client.capabilities();
    let filter = SubscriptionFilter {
        tools_list_changed: capabilities.has("tools.listChanged"),
        prompts_list_changed: capabilities.has("prompts.listChanged"),
        resources_list_changed: capabilities.has("resources.listChanged"),
        uris: Vec::new(),
    };
    let modern = client.revision().is_some_and(Revision::is_modern);
    if !expected || !modern || filter == SubscriptionFilter::default() {
        return Ok(None);
    }
    client.listen(filter).await.map(Some)
}
