//! Many servers in one place: which there are, who is connected, what may be
//! called.
//!
//! [`config`] says what is configured, [`manager`] has the connections,
//! [`names`] says what tools of many servers are called, [`artifacts`] keeps what
//! they gave, [`session`] what somebody goes on with later. Nothing here prints or
//! reads the environment; nothing here knows of suites.

pub mod artifacts;
pub mod config;
pub mod manager;
pub mod names;
pub mod session;
