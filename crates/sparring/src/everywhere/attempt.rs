//! The test in one combination: a server of its own, a client of its own, and
//! both ended before the next.

use std::panic::Location;

use super::outcome::{Outcome, caught};
use super::{Combination, Everywhere};
use crate::Client;

impl Everywhere {
    pub(super) async fn attempt<B, T>(
        &self,
        of: Combination,
        body: &B,
        at: &'static Location<'static>,
    ) -> Result<(), String>
    where
        B: AsyncFn(Client) -> T,
        T: Outcome,
    {
        let opened = self.open(of.transport).await?;
        let builder = self.client.clone().revision(of.revision);
        let client = builder.on(opened, at).await.map_err(|error| error.to_string())?;
        let outcome = caught(body(client.clone())).await;
        client.close().await;
        outcome
    }
}
