//! Since 2026-07-28 a server says only what a client listens for, so where a
//! test expects notifications, the client listens for all that are declared.

use sparring_peer::Client;
use sparring_peer::client::{Error, Filter, Subscription};
use sparring_wire::Revision;

use crate::model::{Collection, Suite};

/// Listens, where that is needed.
///
/// # Errors
/// When the server does not let us.
pub(super) async fn listen(
    client: &Client,
    suite: &Suite,
    server: usize,
) -> Result<Option<Subscription>, Error> {
    let expected = suite.steps_on(server).any(|step| step.expect.counts(Collection::Notifications));
    let capabilities = client.capabilities();
    let filter = Filter {
        tools_list_changed: capabilities.has("tools.listChanged"),
        prompts_list_changed: capabilities.has("prompts.listChanged"),
        resources_list_changed: capabilities.has("resources.listChanged"),
        uris: Vec::new(),
    };
    let modern = client.revision().is_some_and(Revision::is_modern);
    if !expected || !modern || filter == Filter::default() {
        return Ok(None);
    }
    client.listen(filter).await.map(Some)
}
