//! Single HTTP requests to the server, beside the connections of a client.

mod exchange;
mod expectation;
mod requests;
mod server;

pub(crate) use self::exchange::{Body, Exchange, is_unrelated_status};
pub(crate) use self::expectation::{
    Refusal, is_same_outcome, report_same, require_refusal, require_same,
};
pub(crate) use self::requests::{
    RequestExt, Session, initialize, initialized, modern, modern_body, post, request, with_metadata,
};
pub(crate) use self::server::{HttpServer, OpenStream, streamable};
