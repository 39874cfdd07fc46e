//! Questions to the client.

use sparring_peer::client::Question as Asked;
use sparring_script::Tree;

/// Questions that are asked at once, under their names.
pub(crate) type Round = Vec<(String, Question)>;

/// One question.
#[derive(Debug)]
pub(crate) struct Question {
    pub(crate) what: Asked,
    pub(crate) params: Tree,
}
