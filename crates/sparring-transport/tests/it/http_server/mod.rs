//! The server's half of HTTP, over real sockets: by hand-written requests, and
//! by clients of others.

mod auth;
mod bodies;
mod connections;
mod crowd;
mod fixture;
mod http_sse;
mod modern;
mod our_client;
mod rebinding;
mod recording;
mod requests;
mod resumption;
mod sessions;
mod shutdown;
mod statuses;
mod their_clients;
