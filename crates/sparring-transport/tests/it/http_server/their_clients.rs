//! Clients of others on our server over HTTP.
