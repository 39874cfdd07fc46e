//! The issuer of tokens, as clients, browsers and servers meet it.

mod beside;
mod clients;
mod hostile;
mod login;
mod ours;
mod visitor;
mod wrong;
