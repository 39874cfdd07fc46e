//! The token issuer, for clients, browsers and servers.

mod clients;
mod hostile;
mod login;
mod on_mock;
mod own_client;
mod test_client;
mod token_faults;
