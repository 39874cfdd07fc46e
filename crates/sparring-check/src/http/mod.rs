//! Single HTTP requests to the server, beside the connections of a client.

mod exchange;
mod requests;
mod server;

pub(crate) use self::exchange::{Body, Exchange};
pub(crate) use self::requests::{
    RequestExt, Session, modern, modern_body, post, request, with_metadata,
};
pub(crate) use self::server::{HttpServer, OpenStream, streamable};
