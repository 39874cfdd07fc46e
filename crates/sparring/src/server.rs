//! Servers of one's own: handlers, and what they are given and give back.

pub use sparring_peer::server::{
    Alone, Answer, Context, Counts, Failure, Handler, InputRequired, Listed, NoLink, Page, Reply,
    Running, Server, Session, WeakServer,
};
