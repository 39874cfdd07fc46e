//! Our client over HTTP on sites that do what a script says, misbehaving
//! included.

mod faults;
mod old;
mod queue;
mod secrets;
mod sessions;
mod site;
mod streams;
mod tls;
mod ways;
