//! Many servers in one place: which there are, who is connected, what may be
//! called.
//!
//! [`config`] says what is configured, [`manager`] has the connections,
//! [`names`] says what tools of many servers are called, [`registry`] finds and
//! calls them, [`permissions`] decides whether it may, [`llm`] tells a model of
//! them, [`agent`] lets one use them, and [`gateway`] makes one server of all.
//! [`artifacts`] keeps what tools gave, [`session`] what somebody goes on
//! with later; [`files`] tells when a file has changed. Nothing here prints or
//! reads the environment; nothing here knows of suites.

pub mod agent;
pub mod artifacts;
pub mod config;
mod events;
pub mod files;
pub mod gateway;
pub mod llm;
pub mod manager;
pub mod names;
pub mod permissions;
pub mod registry;
pub mod session;
mod text;
