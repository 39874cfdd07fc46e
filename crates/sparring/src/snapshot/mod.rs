//! A snapshot of the messages between client and server, and its checks.
//! [`Snapshot`](crate::Snapshot) and [`Step`](crate::Step) are at the crate root.

mod cancellation;
mod message;
pub(crate) mod order;
mod tasks;
pub(crate) mod traffic;

pub use message::Message;
