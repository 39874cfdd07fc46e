//! What the client of a test stands on, without checks and without the line that
//! asked: where a failure shall not end a test, but be looked at.

pub use sparring_peer::client::{InFlight, LogMessage, RequestBuilder, Subscription};
pub use sparring_peer::{Client, ClientBuilder, Response};
