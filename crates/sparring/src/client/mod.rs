//! The client of a test: it wraps the underlying client, and adds the caller's line
//! and the recorded traffic to every failure. [`Client`](crate::Client) itself is at
//! the crate root.

pub(crate) mod builder;
mod call;
pub(crate) mod connection;
mod requests;
mod subscription;
mod wait;
mod when;

pub use call::{Call, PendingRequest};
pub use sparring_peer::client::{
    Error, Inbox, ListKind, Progress, ServerRequest, Session, SubscriptionFilter,
    accept_with_defaults,
};
pub use subscription::Subscription;
pub use wait::MessageWait;
pub use when::When;
