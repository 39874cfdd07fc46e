//! Many servers in one place: which there are, who is connected, what may be
//! called.
//!
//! [`config`] says what is configured, [`names`] what its servers and tools are
//! called. Nothing here prints or reads the environment; nothing here knows of
//! suites.

pub mod config;
pub mod names;
