//! A session that the server has ended is opened anew, if somebody asks for it.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use super::{Client, ClientBuilder, Error};
use crate::link::{Cause, Link, Recorder};

/// What another session with the same server is made of.
pub(super) struct Makings {
    pub(super) builder: ClientBuilder,
    pub(super) recorder: Recorder,
    /// One that is never used itself.
    pub(super) link: Mutex<Option<Box<dyn Link>>>,
}

impl Client {
    /// Opens a new session with the same server after it has ended this one
    /// ([`Cause::SessionLost`]), as a client that was built like this one. It
    /// records into the same transcript, where it is judged apart. This one
    /// stays closed.
    ///
    /// Nothing else does so: what the server knew of the old session is gone,
    /// and only the caller knows what was lost with it.
    ///
    /// # Errors
    /// When the session was not lost, or the server cannot be talked to; the
    /// error says why.
    pub async fn reopen(&self) -> Result<Client, Error> {
        let not = |reason: String| Err(Error::NotReopened { reason });
        match self.handle.shared.closed.get() {
            Some(Cause::SessionLost(_)) => {}
            Some(other) => return not(format!("the server has not ended it: {other}")),
            None => return not("it is still open".to_owned()),
        }
        let makings = &self.handle.shared.makings;
        let link = || makings.link.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(link) = link().as_ref().and_then(|link| link.again()) else {
            return not("its link leads there only once".to_owned());
        };
        let builder = makings.builder.clone();
        let client = builder.start_recorded(link, makings.recorder.another());
        client.ready().await?;
        Ok(Client { timeout: self.timeout, ..client })
    }
}

impl fmt::Debug for Makings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Makings").finish_non_exhaustive()
    }
}
