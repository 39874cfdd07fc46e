//! The HTTP server over real sockets: with raw requests, and with clients of other projects.

mod auth;
mod bodies;
mod connections;
mod fixture;
mod http_sse;
mod many_clients;
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
