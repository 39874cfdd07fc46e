//! An answer in a test: the peer's, which can be checked.

use std::ops::Deref;

use crate::scene::Scene;

/// An answer as it came, with checks that show the scene when they fail.
#[derive(Debug, Clone)]
pub struct Response {
    peer: sparring_peer::Response,
    scene: Scene,
}

impl Response {
    pub(crate) fn new(peer: sparring_peer::Response, scene: Scene) -> Self {
        Response { peer, scene }
    }

    /// Checks that there is a result, and that the tool did not say it failed.
    ///
    /// # Panics
    /// When there is an error instead; the message shows it, and the scene.
    #[track_caller]
    pub fn assert_success(&self) -> &Self {
        if !self.success() {
            self.scene.fail(format_args!(
                "{} did not succeed: {}",
                self.method(),
                self.raw().text()
            ));
        }
        self
    }
}

impl Deref for Response {
    type Target = sparring_peer::Response;

    fn deref(&self) -> &sparring_peer::Response {
        &self.peer
    }
}
