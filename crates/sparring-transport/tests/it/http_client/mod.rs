//! Our HTTP client against scripted servers, including misbehaving ones.

mod faults;
mod http_sse;
mod passive_rules;
mod proxies_and_sockets;
mod queue;
mod scripted_server;
mod secrets;
mod sessions;
mod streams;
mod tls;
